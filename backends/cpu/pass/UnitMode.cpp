// SPDX-License-Identifier: MIT
// The mode for kernels whose threads part ways before marks, but never those of one unit, 32 lanes whose ranks are
// aligned: a state for each unit. A unit goes through regions as the kernel's own blocks follow each other, each a loop
// over its lanes or straight code, until it waits; libcgx (backends/cpu/lanes.c) says which unit goes on, or which step
// of a group is to be run. What is the same in a unit is a variable of the entry while the unit runs, and in the frame
// while it waits.
#include "Lanes.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
using namespace llvm;

namespace cgx {

namespace {
class UnitsEmitter {
  Kernel &K;
  FrameLayout Frame;
  LLVMContext &C;
  Type *const I32;
  AllocaInst *Unit, *Ready, *Group; // which unit runs, and which are to
  Value *Units, *State, *Sizes;
  // In the frame, for each unit: what uniform slots that are alive at a wait held when it came there.
  Value *Saved;
  uint64_t SavedBytes = 0;
  SmallVector<uint64_t, 8> SavedAt;
  SmallVector<SmallVector<unsigned, 8>, 8> Live; // slots, of each boundary
  BasicBlock *Dispatch, *Ended;
  SwitchInst *Next, *Step;
  SmallVector<BasicBlock *, 8> Heads; // of the code of region I: 0, or behind boundary I - 1
  bool ByRows = false;
  bool Wide = false; // there are collectives of more than one unit

  // Uniform slots that are read behind the begin of a block before they are written.
  SmallVector<unsigned, 8> liveAt(BasicBlock *Begin) const {
    SmallVector<unsigned, 8> Slots;
    for (unsigned I = 0; I < K.UniformSlots.size(); I++) {
      SmallVector<BasicBlock *, 16> Work{Begin};
      SmallPtrSet<BasicBlock *, 16> Seen;
      bool Read = false;
      while (!Work.empty() && !Read) {
        BasicBlock *B = Work.pop_back_val();
        if (!Seen.insert(B).second)
          continue;
        bool Written = false;
        for (Instruction &Inst : *B) {
          if (auto *L = dyn_cast<LoadInst>(&Inst); L && L->getPointerOperand() == K.UniformSlots[I])
            Read = true;
          if (auto *S = dyn_cast<StoreInst>(&Inst); S && S->getPointerOperand() == K.UniformSlots[I])
            Written = true;
          if (Read || Written)
            break;
        }
        if (!Written)
          Work.append(succ_begin(B), succ_end(B));
      }
      if (Read)
        Slots.push_back(I);
    }
    return Slots;
  }
  static bool hasStep(const Boundary &B) {
    return B.Step && !isa<ConstantPointerNull>(B.Step->getArgOperand(StepFunction));
  }
  static bool isOfOneUnit(const Boundary &B) {
    auto *Kind = dyn_cast<ConstantInt>(B.Step->getArgOperand(StepKind));
    const uint64_t Size = constantSize(B.Step);
    return Kind && Kind->getZExtValue() == WaitTile && Size && Size <= UnitLanes;
  }
  // A sync or a collective of lanes of one unit, which come to it together, is no wait. But what a collective of others
  // left for all of them lies where the first of them leaves its next results.
  bool waits(const Boundary &B) const { return B.Step && !(isOfOneUnit(B) && (!Wide || !hasStep(B))); }
  // Room for what lives on while a unit waits.
  void makeRoom() {
    SavedAt.assign(K.UniformSlots.size(), 0);
    SmallPtrSet<AllocaInst *, 8> Kept;
    for (const Boundary &B : K.Boundaries) {
      Live.push_back(waits(B) ? liveAt(B.Block) : SmallVector<unsigned, 8>());
      for (unsigned I : Live.back()) {
        AllocaInst *A = K.UniformSlots[I];
        if (!Kept.insert(A).second)
          continue;
        SavedAt[I] = alignTo(SavedBytes, A->getAlign());
        SavedBytes = SavedAt[I] + K.layout().getTypeAllocSize(A->getAllocatedType());
      }
    }
    uint64_t Bytes = K.layout().getTypeAllocSize(I32);
    Units = Frame.addUnitArray(K, Bytes, "units");
    Saved = Frame.addUnitArray(K, SavedBytes, "saved");
  }
  Value *unitIndex(IRBuilder<> &IR) { return IR.CreateZExt(IR.CreateLoad(I32, Unit), IR.getInt64Ty()); }
  void move(IRBuilder<> &IR, ArrayRef<unsigned> Slots, bool Save) {
    Value *Mine = IR.CreateInBoundsGEP(ArrayType::get(IR.getInt8Ty(), SavedBytes), Saved, unitIndex(IR));
    for (unsigned I : Slots) {
      AllocaInst *A = K.UniformSlots[I];
      Type *T = A->getAllocatedType();
      Value *Kept = IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), Mine, SavedAt[I]);
      const Align At = std::min(K.layout().getABITypeAlign(T), Align(64)); // as the frame's arrays
      IR.CreateAlignedStore(IR.CreateAlignedLoad(T, Save ? A : Kept, At), Save ? Kept : A, At);
    }
  }
  Value *firstLane(IRBuilder<> &IR) {
    return IR.CreateMul(IR.CreateLoad(I32, Unit), IR.getInt32(UnitLanes), "first", true, true);
  }
  Value *laneCount(IRBuilder<> &IR, Value *First) {
    return IR.CreateBinaryIntrinsic(Intrinsic::umin, IR.getInt32(UnitLanes), IR.CreateSub(K.Threads, First), nullptr,
                                    "count");
  }
  void setState(IRBuilder<> &IR, Value *To) { IR.CreateStore(To, IR.CreateInBoundsGEP(I32, Units, unitIndex(IR))); }

  // The step of the groups among COUNT lanes from FIRST on, with the operands of the first.
  void emitStepOf(BasicBlock *Head, IRBuilder<> &IR, const Boundary &B, Value *First, Value *Count) {
    LaneRange L{};
    L.Rank = First;
    L.X = IR.CreateURem(First, K.NX);
    Value *Row = IR.CreateUDiv(First, K.NX);
    L.Y = IR.CreateURem(Row, K.NY), L.Z = IR.CreateUDiv(Row, K.NY);
    L.Unit = firstLane(IR);
    ValueToValueMapTy Map;
    Frame.mapLane(IR, IR.CreateZExt(First, IR.getInt64Ty()), Map);
    CallInst *M = cloneBoundary(B, IR, Map);
    emitStep(IR, M, false, First, Count);
    M->eraseFromParent();
    finishLane(L, nullptr, {Head});
  }

  // What comes before a region; behind a wait two parts of it, of which libcgx decides when the second is run.
  BasicBlock *emitBoundary(unsigned Index) {
    const Boundary &B = K.Boundaries[Index];
    BasicBlock *Head = Heads[Index + 1];
    IRBuilder<> IR(Head);
    ValueToValueMapTy Map;
    if (!B.Step) {
      cloneBoundary(B, IR, Map);
      return Head;
    }
    if (!waits(B)) {
      Value *First = firstLane(IR);
      if (hasStep(B))
        emitStepOf(Head, IR, B, First, laneCount(IR, First));
      return Head;
    }
    move(IR, Live[Index], true);
    setState(IR, IR.getInt32(Index));
    IR.CreateBr(Dispatch);
    BasicBlock *Enter = BasicBlock::Create(C, "enter." + Twine(Index + 1), &K.F);
    IR.SetInsertPoint(Enter);
    move(IR, Live[Index], false);
    Next->addCase(IR.getInt32(Index + 1), Enter);
    return Enter;
  }
  BasicBlock *headOf(unsigned Exit) { return Heads[Exit + 1]; }

  static CallInst *operationOf(const Kernel &K, const Region &R) {
    for (Instruction &I : *R.Start)
      if (isUnitOperation(K, I))
        return cast<CallInst>(&I);
    return nullptr;
  }
  void emitScalar(unsigned Index, const Region &R, BasicBlock *Head) {
    IRBuilder<> IR(Head);
    LaneRange L{};
    L.Rank = L.Unit = firstLane(IR);
    ValueToValueMapTy Map;
    for (unsigned E : R.Exits)
      Map[K.Boundaries[E].Block] = headOf(E);
    SmallVector<BasicBlock *, 8> Copies;
    cloneRegion(K, R, Map, ".s" + Twine(Index), Copies);
    if (CallInst *M = operationOf(K, R))
      lowerOperation(cast<CallInst>(Map[M]), L.Rank, laneCount(IR, L.Rank));
    for (BasicBlock *B : Copies)
      if (isa<ReturnInst>(B->getTerminator())) {
        B->getTerminator()->eraseFromParent();
        BranchInst::Create(Ended, B);
      }
    IR.CreateBr(cast<BasicBlock>(Map[R.Start]));
    finishLane(L, nullptr, Copies);
  }

  // Uniform slots that the region writes, inside the loop: every lane starts with what they held before it, and what
  // the last one leaves counts.
  struct LaneBody {
    const Region &R;
    SmallVector<std::pair<AllocaInst *, AllocaInst *>, 8> Local;
    SmallVector<Value *, 8> Before;
    AllocaInst *Exit; // which boundary the lanes came to; null: there is but one
  };
  AllocaInst *newLocal(Type *T) {
    IRBuilder<> Top(K.Entry, K.Entry->begin());
    return Top.CreateAlloca(T);
  }
  // A place that goes up by one from lane to lane and wraps at the unit's size: `(lane + w) % 32`. The loop over the
  // lanes is cut where it does, and each part reads a run. Without any: Place is null.
  struct Wrap {
    BinaryOperator *Place = nullptr;
    Value *Base = nullptr, *Cut = nullptr; // the first lane's place, and the lane whose place is 0
  };
  static bool keepsLowBits(const Value *V) {
    auto *C = dyn_cast<ConstantInt>(V);
    return C && C->getValue().countr_one() >= Log2_32(UnitLanes);
  }
  // What is the same in the unit, in front of the region; null: not there.
  Value *uniformInFront(const Region &R, Value *V, IRBuilder<> &IR, Value *First, int Depth = 0) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || (I->getParent() == K.Entry && !isa<AllocaInst>(I)))
      return V;
    if (isMark(I, Mark::Unit))
      return First;
    if (auto *L = dyn_cast<LoadInst>(I)) {
      Value *Slot = L->getPointerOperand();
      if (!is_contained(K.UniformSlots, Slot) || any_of(Slot->users(), [&](User *U) {
            return isa<StoreInst>(U) && R.Inside.contains(cast<Instruction>(U)->getParent());
          }))
        return nullptr;
      return IR.CreateLoad(L->getType(), Slot);
    }
    enum { Deepest = 6 };
    if (Depth > Deepest || (!isa<CastInst>(I) && !isa<BinaryOperator>(I)) || !isSafeToSpeculativelyExecute(I))
      return nullptr;
    SmallVector<Value *, 2> Operands;
    for (Value *O : I->operands()) {
      Operands.push_back(K.Divergent.contains(O) ? nullptr : uniformInFront(R, O, IR, First, Depth + 1));
      if (!Operands.back())
        return nullptr;
    }
    Instruction *C = I->clone();
    C->dropPoisonGeneratingFlags();
    for (unsigned O = 0; O < Operands.size(); O++)
      C->setOperand(O, Operands[O]);
    return IR.Insert(C);
  }
  // Of what goes up by one from lane to lane, modulo the unit's size, the first lane's, modulo the same; null: V does
  // not.
  Value *baseOf(const Region &R, Value *V, IRBuilder<> &IR, Value *First) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !I->getType()->isIntegerTy() || I->getType()->getIntegerBitWidth() <= Log2_32(UnitLanes))
      return nullptr;
    if (isMark(I, Mark::Rank))
      return ConstantInt::get(I->getType(), 0);
    switch (I->getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc: {
      Value *Of = baseOf(R, I->getOperand(0), IR, First);
      return Of ? IR.CreateZExtOrTrunc(Of, I->getType()) : nullptr;
    }
    case Instruction::And:
      return keepsLowBits(I->getOperand(1)) ? baseOf(R, I->getOperand(0), IR, First) : nullptr;
    case Instruction::Add:
    case Instruction::Sub:
      for (unsigned Lane = 0; Lane < (I->getOpcode() == Instruction::Add ? 2 : 1); Lane++) {
        if (K.Divergent.contains(I->getOperand(1 - Lane)))
          continue;
        Value *Of = baseOf(R, I->getOperand(Lane), IR, First);
        Value *With = Of ? uniformInFront(R, I->getOperand(1 - Lane), IR, First) : nullptr;
        return With ? IR.CreateBinOp(cast<BinaryOperator>(I)->getOpcode(), Of, With) : nullptr;
      }
      return nullptr;
    default:
      return nullptr;
    }
  }
  // Whether memory is read or written at a place that ends with V.
  static bool isPlace(const Value *V) {
    return any_of(V->users(), [](const User *U) {
      if (auto *G = dyn_cast<GetElementPtrInst>(U))
        return any_of(G->users(), [](const User *At) { return isa<LoadInst>(At) || isa<StoreInst>(At); });
      return (isa<ZExtInst>(U) || isa<SExtInst>(U)) && isPlace(U);
    });
  }
  Wrap wrapOf(const Region &R, IRBuilder<> &IR, Value *First) const {
    if (!K.Jams || ByRows || R.Blocks.size() != 1)
      return {};
    for (Instruction &I : *R.Start) {
      if (I.getOpcode() != Instruction::And || !isPlace(&I))
        continue;
      auto *Mask = dyn_cast<ConstantInt>(I.getOperand(1));
      if (!Mask || Mask->getValue() != UnitLanes - 1)
        continue;
      Value *Base = baseOf(R, I.getOperand(0), IR, First);
      if (!Base || isa<Constant>(Base))
        continue;
      Base = IR.CreateZExtOrTrunc(IR.CreateAnd(Base, UnitLanes - 1), I32);
      return {cast<BinaryOperator>(&I), Base, IR.CreateSub(IR.getInt32(UnitLanes), Base, "cut", true, true)};
    }
    return {};
  }

  // Lanes FROM to TO - 1; Wraps: those behind the wrap.
  void emitRange(const LaneBody &Body, LaneLoop &L, Value *From, Value *To, const std::string &Name, Value *First,
                 const Wrap &W, bool Wraps) {
    const Region &R = Body.R;
    LaneRange Range = addRange(K, L, From, To, 1, Name);
    Range.Unit = First;
    ValueToValueMapTy Map;
    IRBuilder<> IR(Range.Body);
    Frame.mapLane(IR, Range.Lane, Map, true);
    for (unsigned I = 0; I < Body.Local.size(); I++) {
      IR.CreateStore(Body.Before[I], Body.Local[I].second);
      Map[Body.Local[I].first] = Body.Local[I].second;
    }
    Value *Place = nullptr;
    if (W.Place)
      Place = IR.CreateZExtOrTrunc(Wraps ? IR.CreateSub(Range.X, W.Cut, "", true, true)
                                         : IR.CreateAdd(Range.X, W.Base, "", true, true),
                                   W.Place->getType());
    auto Leave = [&](int Exit) {
      BasicBlock *B = BasicBlock::Create(C, "leave", &K.F);
      IRBuilder<> To(B);
      if (Body.Exit)
        To.CreateStore(To.getInt32(Exit), Body.Exit);
      To.CreateBr(Range.Latch);
      return B;
    };
    for (unsigned E : R.Exits)
      Map[K.Boundaries[E].Block] = Leave(E);
    SmallVector<BasicBlock *, 8> Copies;
    cloneRegion(K, R, Map, "." + Name, Copies);
    BasicBlock *Returned = R.Returns ? Leave(-1) : nullptr;
    for (BasicBlock *B : Copies)
      if (isa<ReturnInst>(B->getTerminator())) {
        B->getTerminator()->eraseFromParent();
        BranchInst::Create(Returned, B);
      }
    IR.CreateBr(cast<BasicBlock>(Map[R.Start]));
    if (Place)
      cast<Instruction>(Map[W.Place])->replaceAllUsesWith(Place);
    finishLane(Range, L.Accesses, Copies);
  }
  // The loop over COUNT lanes; where it begins and where it ends.
  LaneLoop emitLoop(const LaneBody &Body, const std::string &Name, Value *First, Value *Count, const Wrap &W) {
    enum { Unrolled = 8 }; // rounds of a loop whose lanes read here and there and make no vectors
    LaneLoop L = createUnitLoop(K, Name, First, Count, ByRows);
    if (W.Place) {
      L.Interleave = 1; // the parts are short
      IRBuilder<> IR(L.Row);
      Value *Cut = isa<ConstantInt>(Count) ? W.Cut : IR.CreateBinaryIntrinsic(Intrinsic::umin, W.Cut, Count);
      emitRange(Body, L, nullptr, Cut, Name, First, W, false);
      emitRange(Body, L, Cut, Count, Name + "w", First, W, true);
    } else if (ByRows) { // the part of the unit that is in this row
      IRBuilder<> IR(L.Row);
      Value *From = IR.CreateBinaryIntrinsic(Intrinsic::usub_sat, First, L.First);
      Value *To = IR.CreateBinaryIntrinsic(Intrinsic::umin, IR.CreateSub(IR.CreateAdd(First, Count), L.First), K.NX);
      emitRange(Body, L, From, To, Name, First, W, false);
    } else {
      L.Unroll = K.Jams && isa<ConstantInt>(Count) ? Unrolled : 0;
      emitRange(Body, L, nullptr, Count, Name, First, W, false);
    }
    closeLaneLoop(L);
    return L;
  }
  void emitLanes(unsigned Index, const Region &R, BasicBlock *Head) {
    K.LaneLoops++;
    LaneBody Body{R, {}, {}, nullptr};
    IRBuilder<> IR(Head);
    Value *First = firstLane(IR), *Count = laneCount(IR, First);
    for (AllocaInst *A : K.UniformSlots) {
      if (none_of(A->users(),
                  [&](User *U) { return isa<StoreInst>(U) && R.Inside.contains(cast<Instruction>(U)->getParent()); }))
        continue;
      Body.Local.push_back({A, newLocal(A->getAllocatedType())});
      Body.Before.push_back(IR.CreateLoad(A->getAllocatedType(), A));
    }
    const bool OneExit = R.Exits.size() + R.Returns <= 1;
    Body.Exit = OneExit ? nullptr : newLocal(I32);
    const Wrap W = wrapOf(R, IR, First);
    const std::string Name = "r" + std::to_string(Index);
    BasicBlock *Behind = BasicBlock::Create(C, Name + ".all", &K.F);
    // A whole unit, whose size is a number, and what the block's last may be.
    enum { SmallAtMost = 200 }; // instructions
    size_t Size = 0;
    for (BasicBlock *B : R.Blocks)
      Size += B->size();
    auto Add = [&](BasicBlock *From, const std::string &Name, Value *Of) {
      LaneLoop L = emitLoop(Body, Name, First, Of, W);
      BranchInst::Create(L.Head, From);
      BranchInst::Create(Behind, L.Exit);
    };
    auto *Declared = dyn_cast<ConstantInt>(K.Threads);
    if (Declared && Declared->getZExtValue() % UnitLanes == 0) {
      Add(Head, Name, IR.getInt32(UnitLanes));
    } else if (K.Jams && Size <= SmallAtMost) {
      BasicBlock *Whole = BasicBlock::Create(C, Name + ".whole", &K.F),
                 *Part = BasicBlock::Create(C, Name + ".part", &K.F);
      IR.CreateCondBr(IR.CreateICmpEQ(Count, IR.getInt32(UnitLanes)), Whole, Part);
      Add(Whole, Name, IR.getInt32(UnitLanes));
      Add(Part, Name + "p", Count);
    } else {
      Add(Head, Name, Count);
    }
    IR.SetInsertPoint(Behind);
    Value *Exit = Body.Exit ? IR.CreateLoad(I32, Body.Exit) : nullptr;
    for (auto &P : Body.Local)
      IR.CreateStore(IR.CreateLoad(P.first->getAllocatedType(), P.second), P.first);
    if (R.Exits.empty() && !R.Returns) {
      IR.CreateUnreachable(); // never left
    } else if (OneExit) {
      IR.CreateBr(R.Returns ? Ended : headOf(R.Exits[0]));
    } else {
      SwitchInst *S = IR.CreateSwitch(Exit, R.Returns ? Ended : headOf(R.Exits[0]));
      for (unsigned E : R.Exits)
        S->addCase(IR.getInt32(E), headOf(E));
    }
  }

  // The step of a group that libcgx names.
  void emitGroupStep(unsigned Index) {
    const Boundary &B = K.Boundaries[Index];
    if (!hasStep(B) || !waits(B))
      return;
    BasicBlock *Head = BasicBlock::Create(C, "step." + Twine(Index), &K.F);
    IRBuilder<> IR(Head);
    Value *First = IR.CreateLoad(I32, Group);
    Value *Count = IR.CreateLoad(I32, IR.CreateConstInBoundsGEP1_64(I32, Group, 1));
    IR.CreateStore(IR.CreateUDiv(First, IR.getInt32(UnitLanes)), Unit);
    move(IR, Live[Index], false);
    emitStepOf(Head, IR, B, First, Count);
    IR.CreateBr(Dispatch);
    Step->addCase(IR.getInt32(K.Boundaries.size() + 1 + Index), Head);
  }

public:
  explicit UnitsEmitter(Kernel &K) : K(K), Frame(K), C(K.F.getContext()), I32(Type::getInt32Ty(C)) {}
  void run() {
    SmallVector<BasicBlock *, 16> Originals;
    for (BasicBlock &B : K.F)
      if (&B != K.Entry)
        Originals.push_back(&B);
    for (Instruction &I : instructions(K.F))
      ByRows |= isMark(&I, Mark::X) || isMark(&I, Mark::Y) || isMark(&I, Mark::Z);
    Type *Void = Type::getVoidTy(C), *Ptr = PointerType::getUnqual(C);
    Wide = any_of(K.Boundaries, [](const Boundary &B) { return hasStep(B) && !isOfOneUnit(B); });
    State = Frame.addArray(K, I32, "state");
    Sizes = Frame.addArray(K, I32, "sizes");
    makeRoom();
    Dispatch = BasicBlock::Create(C, "dispatch", &K.F);
    Ended = BasicBlock::Create(C, "ended", &K.F);
    BasicBlock *Done = BasicBlock::Create(C, "done", &K.F);
    ReturnInst::Create(C, ConstantInt::getSigned(I32, -1), Done);

    IRBuilder<> Top(K.Entry, K.Entry->begin());
    Group = Top.CreateAlloca(ArrayType::get(I32, 4), nullptr, "group");
    Unit = Top.CreateAlloca(I32, nullptr, "unit");
    Ready = Top.CreateAlloca(I32, nullptr, "ready");
    K.Entry->getTerminator()->eraseFromParent();
    BasicBlock *Begin = BasicBlock::Create(C, "begin", &K.F);
    IRBuilder<> IR(K.Entry);
    if (K.Declines) {
      BasicBlock *Decline = BasicBlock::Create(C, "decline", &K.F);
      ReturnInst::Create(C, ConstantInt::getSigned(I32, -2), Decline);
      IR.CreateCondBr(K.Declines, Decline, Begin);
    } else {
      IR.CreateBr(Begin);
    }
    Module *M = K.F.getParent();
    IR.SetInsertPoint(Begin);
    IR.CreateCall(M->getOrInsertFunction("cgx__cpu_units_start", Void, Ptr, Ptr), {K.Block, Units});
    for (unsigned I = 0; I < 4; I++)
      IR.CreateStore(ConstantInt::getSigned(I32, -1), IR.CreateConstInBoundsGEP1_64(I32, Group, I));
    IR.CreateStore(IR.getInt32(0), Ready);
    IR.CreateBr(Dispatch);

    IR.SetInsertPoint(Ended);
    setState(IR, ConstantInt::getSigned(I32, LaneEnded));
    IR.CreateBr(Dispatch);

    // The next unit that is ready; where none is, libcgx says which are, or which step comes first.
    BasicBlock *Run = BasicBlock::Create(C, "run", &K.F), *Ask = BasicBlock::Create(C, "ask", &K.F),
               *Go = BasicBlock::Create(C, "go", &K.F), *Never = BasicBlock::Create(C, "never", &K.F);
    new UnreachableInst(C, Never);
    IR.SetInsertPoint(Dispatch);
    IR.CreateCondBr(IR.CreateIsNull(IR.CreateLoad(I32, Ready)), Ask, Run);
    IR.SetInsertPoint(Ask);
    FunctionCallee Asked = M->getOrInsertFunction("cgx__cpu_units_next", I32, Ptr, Ptr, Ptr, Ptr, Ptr, I32, Ptr);
    Value *What =
        IR.CreateCall(Asked, {K.Block, Units, State, Sizes, boundaryTable(K), IR.getInt32(K.Boundaries.size()), Group});
    Step = IR.CreateSwitch(What, Done);
    Step->addCase(IR.getInt32(0), Go);
    IR.SetInsertPoint(Go);
    IR.CreateStore(IR.CreateLoad(I32, IR.CreateConstInBoundsGEP1_64(I32, Group, 3)), Ready);
    IR.CreateBr(Run);
    IR.SetInsertPoint(Run);
    Value *Bits = IR.CreateLoad(I32, Ready);
    IR.CreateStore(IR.CreateBinaryIntrinsic(Intrinsic::cttz, Bits, IR.getTrue()), Unit);
    IR.CreateStore(IR.CreateAnd(Bits, IR.CreateSub(Bits, IR.getInt32(1))), Ready);
    Value *Mine = IR.CreateLoad(I32, IR.CreateInBoundsGEP(I32, Units, unitIndex(IR)));
    Next = IR.CreateSwitch(IR.CreateAnd(Mine, IR.getInt32(LaneReady - 1)), Never);
    for (unsigned I = 0; I <= K.Boundaries.size(); I++)
      Heads.push_back(BasicBlock::Create(C, "region." + Twine(I), &K.F));
    Next->addCase(IR.getInt32(0), Heads[0]);
    for (unsigned I = 0; I <= K.Boundaries.size(); I++) {
      const Region R = regionFrom(K, I ? K.Boundaries[I - 1].After : K.Start);
      BasicBlock *Head = I ? emitBoundary(I - 1) : Heads[0];
      K.Regions++;
      if (isScalar(K, R) || operationOf(K, R))
        emitScalar(I, R, Head);
      else
        emitLanes(I, R, Head);
    }
    for (unsigned I = 0; I < K.Boundaries.size(); I++)
      emitGroupStep(I);
    removeOriginals(K, Originals);
  }
};
} // namespace

void emitUnits(Kernel &K) { UnitsEmitter(K).run(); }

} // namespace cgx
