// SPDX-License-Identifier: MIT
// The mode for kernels whose marks are reached by all threads or none: regions follow each other as the kernel's own
// blocks do, each a loop over the lanes, or straight code where it is the same for all.
#include "Guards.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/MDBuilder.h"
using namespace llvm;

namespace cgx {

namespace {
class UniformEmitter {
  Kernel &K;
  FrameLayout Frame;
  BasicBlock *Done;
  SmallVector<BasicBlock *, 8> Heads; // of the code of region I: 0, or behind boundary I - 1
  Value *Kept = nullptr;              // memory for uniform slots while the block waits for the grid
  SmallVector<std::pair<unsigned, BasicBlock *>, 4> Resumed; // regions that may be gone on with, and where that begins

  // What comes before a region: the step of the boundary it starts at.
  void emitBoundary(unsigned Index, const Boundary &B, BasicBlock *Head, BasicBlock *Region) {
    IRBuilder<> IR(Head);
    ValueToValueMapTy Map;
    if (CallInst *M = cloneBoundary(B, IR, Map)) {
      if (K.Resumes && kindOf(M) == WaitGrid) {
        emitWait(Index, M, Region);
        return;
      }
      IR.SetInsertPoint(M);
      emitStep(IR, M, true, IR.getInt32(0), K.Threads);
      M->eraseFromParent();
      IR.SetInsertPoint(Head);
    }
    IR.CreateBr(Region);
  }

  // The entry returns, and is called again when all blocks are here: no stack has to be kept for each block.
  Value *keptAt(IRBuilder<> &IR, unsigned Slot) {
    uint64_t At = 0;
    for (unsigned I = 0; I < Slot; I++)
      At += keptBytes(K.UniformSlots[I]);
    return IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), Kept, At);
  }
  uint64_t keptBytes(const AllocaInst *A) const {
    enum { Most = 16 }; // alignment
    return alignTo(K.layout().getTypeAllocSize(A->getAllocatedType()), Most);
  }
  void emitWait(unsigned Index, CallInst *M, BasicBlock *Region) {
    BasicBlock *Head = M->getParent(), *Resume = BasicBlock::Create(K.F.getContext(), "resume." + Twine(Index), &K.F);
    IRBuilder<> IR(M);
    Value *At = IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), K.F.getArg(0), BlockResume);
    IR.CreateStore(IR.getInt32(Index), At);
    IR.CreateStore(M->getArgOperand(StepLine), IR.CreateConstInBoundsGEP1_64(IR.getInt32Ty(), At, 1));
    IR.CreateStore(M->getArgOperand(StepOperation), IR.CreateConstInBoundsGEP1_64(IR.getInt32Ty(), At, 2));
    IRBuilder<> Back(Resume);
    for (unsigned I = 0; I < K.UniformSlots.size(); I++) {
      AllocaInst *A = K.UniformSlots[I];
      IR.CreateAlignedStore(IR.CreateLoad(A->getAllocatedType(), A), keptAt(IR, I), Align(1));
      Back.CreateStore(Back.CreateAlignedLoad(A->getAllocatedType(), keptAt(Back, I), Align(1)), A);
    }
    Back.CreateBr(Region);
    M->eraseFromParent();
    IRBuilder<>(Head).CreateRet(ConstantInt::getSigned(IR.getInt32Ty(), EntryWaits));
    Resumed.push_back({Index, Resume});
  }

  BasicBlock *headOf(unsigned Exit) { return Heads[Exit + 1]; }

  void emitScalar(unsigned Index, const Region &R, BasicBlock *Head) {
    ValueToValueMapTy Map;
    for (unsigned E : R.Exits)
      Map[K.Boundaries[E].Block] = headOf(E);
    SmallVector<BasicBlock *, 8> Copies;
    cloneRegion(K, R, Map, ".s" + Twine(Index), Copies);
    for (BasicBlock *B : Copies)
      if (isa<ReturnInst>(B->getTerminator())) {
        B->getTerminator()->eraseFromParent();
        BranchInst::Create(Done, B);
      }
    BranchInst::Create(cast<BasicBlock>(Map[R.Start]), Head);
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

  // Lanes of a row that go the same ways.
  struct Piece {
    Value *From, *To; // null: the row's begin and its end
    uint32_t Step;    // 0: no more than one lane
    SmallVector<Way, 4> Ways;
    std::string Name;
    ArrayRef<StoreInst *> Only; // of those in the region; empty: all
  };
  // Cuts a piece at the guards that are left, into pieces that follow each other; values are behind IR's place. What
  // lies in a guard's range is cut further; where that is a single lane, what does not.
  void cut(const Region &R, const LaneLoop &L, bool OfRows, const Piece &P, IRBuilder<> &IR,
           SmallVectorImpl<Piece> &Pieces) {
    enum { AtMost = 3 }; // guards
    Guard G;
    if (P.Step != 1 || P.Ways.size() >= AtMost || !chooseGuard(K, R, P.Ways, G)) {
      Pieces.push_back(P);
      return;
    }
    auto [Low, High] = emitRange(K, R, G, L, P.From, P.To, OfRows, IR);
    auto Part = [&](Value *From, Value *To, bool Inside, const char *Name) {
      Piece Part{From, To, Inside ? G.oneLane() ? 0 : G.step() : 1, P.Ways, P.Name + Name, P.Only};
      Part.Ways.push_back({G, Inside ? G.Inside : 1 - G.Inside});
      if (!Inside && idles(R, Part.Ways))
        return;
      if (Inside != G.oneLane())
        cut(R, L, false, Part, IR, Pieces);
      else
        Pieces.push_back(Part);
    };
    if (!G.fromBegin())
      Part(P.From, Low, false, ".below");
    Part(Low, High, true, ".inside");
    if (!G.toEnd())
      Part(High, P.To, false, ".above");
  }

  enum { JammedRows = 4 };
  // Whether I is another value in another row, seen from the region it stands in.
  static bool ofItsRow(const Region &R, const Value *V, SmallDenseMap<const Value *, bool> &Known) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || isMark(I, Mark::X))
      return false;
    if (isThreadIndex(I) || isa<AllocaInst>(I))
      return true;
    if (!R.Inside.contains(I->getParent()))
      return false;
    auto At = Known.find(I);
    if (At != Known.end())
      return At->second;
    const bool Is = any_of(I->operands(), [&](const Use &O) { return ofItsRow(R, O.get(), Known); });
    return Known[I] = Is;
  }
  // Whether rows of threads read much that is the same in each: a column of one matrix times rows of another. Then a
  // few of them go side by side, and read it once.
  bool worthJamming(const Region &R) const {
    enum { LoadsAtLeast = 4 };
    if (!K.Jams || !K.Planar || K.Debugged || R.Blocks.size() != 1)
      return false;
    unsigned Loads = 0, Shared = 0, Stores = 0;
    SmallDenseMap<const Value *, bool> Known;
    for (const Instruction &I : *R.Start) {
      if (auto *L = dyn_cast<LoadInst>(&I)) {
        if (!L->isSimple())
          return false;
        Loads++;
        Shared += K.Divergent.contains(L->getPointerOperand()) && !ofItsRow(R, L->getPointerOperand(), Known);
      } else if (auto *S = dyn_cast<StoreInst>(&I)) {
        if (!S->isSimple())
          return false;
        Stores++;
      } else if (isa<PHINode>(I) || (!isThreadIndex(&I) && (markOf(&I) != Mark::None || I.mayReadOrWriteMemory()))) {
        return false;
      }
    }
    // What is stored is in registers until then, for each row.
    return Shared >= LoadsAtLeast && 4 * Shared >= Loads && Stores == 1;
  }
  // What a thread keeps for later, in parts that take no more registers than there are; each part is a loop over the
  // lanes. Empty: one will do, or parts would repeat too much.
  SmallVector<SmallVector<StoreInst *, 16>, 4> partsOf(const Region &R) const {
    SmallVector<SmallVector<StoreInst *, 16>, 4> Parts;
    const unsigned Registers = K.F.getFnAttribute("target-features").getValueAsString().contains("+avx512f") ? 32 : 16;
    if (!K.Jams || K.Debugged || R.Blocks.size() != 1)
      return Parts;
    SmallVector<StoreInst *, 32> Stores;
    for (Instruction &I : *R.Start)
      if (auto *S = dyn_cast<StoreInst>(&I); S && S->isSimple() && is_contained(K.ThreadSlots, S->getPointerOperand()))
        Stores.push_back(S);
      else if (isa<PHINode>(I) || I.mayHaveSideEffects())
        return Parts;
    if (Stores.size() + 4 <= Registers)
      return Parts;
    size_t Together = 0;
    SmallPtrSet<Value *, 32> Written;
    for (unsigned First = 0; First < Stores.size(); First += Registers / 2) {
      Parts.emplace_back(Stores.begin() + First,
                         Stores.begin() + std::min<size_t>(First + Registers / 2, Stores.size()));
      SmallPtrSet<Instruction *, 32> Needs;
      SmallVector<Instruction *, 64> Work(Parts.back().begin(), Parts.back().end());
      while (!Work.empty()) {
        Instruction *I = Work.pop_back_val();
        if (I->getParent() != R.Start || !Needs.insert(I).second)
          continue;
        if (auto *L = dyn_cast<LoadInst>(I); L && Written.contains(L->getPointerOperand()))
          return {}; // by a part that comes first
        for (Value *O : I->operands())
          if (auto *Of = dyn_cast<Instruction>(O))
            Work.push_back(Of);
      }
      Together += Needs.size();
      for (StoreInst *S : Parts.back())
        Written.insert(S->getPointerOperand());
    }
    if (2 * Together > 3 * R.Start->size())
      Parts.clear();
    return Parts;
  }
  // The same for JammedRows rows, an instruction of all after the other.
  void emitJammed(const Region &R, LaneLoop &L, const Twine &Name) {
    const LaneRange Range = addRange(K, L, nullptr, nullptr, 1, Name);
    IRBuilder<> IR(Range.Body);
    ValueToValueMapTy Maps[JammedRows];
    Value *Ranks[JammedRows], *Ys[JammedRows];
    for (unsigned Row = 0; Row < JammedRows; Row++) {
      Value *Below = IR.CreateMul(K.NX, IR.getInt32(Row), "", true, true);
      Ranks[Row] = Row ? IR.CreateAdd(Range.Rank, Below, "rank", true, true) : Range.Rank;
      Ys[Row] = Row ? IR.CreateAdd(Range.Y, IR.getInt32(Row), "y", true, true) : Range.Y;
      Frame.mapLane(IR, IR.CreateZExt(Ranks[Row], IR.getInt64Ty(), "lane"), Maps[Row]);
    }
    for (Instruction &I : *R.Start)
      for (unsigned Row = 0; Row < JammedRows && !I.isTerminator(); Row++) {
        ValueToValueMapTy &Map = Maps[Row];
        if (isThreadIndex(&I)) {
          const Mark M = markOf(&I);
          Map[&I] = M == Mark::Rank ? Ranks[Row] : M == Mark::X ? Range.X : M == Mark::Y ? Ys[Row] : Range.Z;
          continue;
        }
        Instruction *C = I.clone();
        IR.Insert(C);
        Map[&I] = C;
        RemapInstruction(C, Map, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
        if (C->mayReadOrWriteMemory())
          C->setMetadata(LLVMContext::MD_access_group, L.Accesses);
      }
    IR.CreateBr(Range.Latch);
    closeLaneLoop(L);
  }

  void emitPiece(const LaneBody &Body, LaneLoop &L, const Piece &P) {
    const Region &R = Body.R;
    const LaneRange Range = addRange(K, L, P.From, P.To, P.Step, P.Name);
    ValueToValueMapTy Map;
    IRBuilder<> IR(Range.Body);
    Frame.mapLane(IR, Range.Lane, Map, true);
    for (unsigned I = 0; I < Body.Local.size(); I++) {
      IR.CreateStore(Body.Before[I], Body.Local[I].second);
      Map[Body.Local[I].first] = Body.Local[I].second;
    }
    auto Leave = [&](int Exit) {
      BasicBlock *B = BasicBlock::Create(K.F.getContext(), "leave", &K.F);
      IRBuilder<> To(B);
      if (Body.Exit)
        To.CreateStore(To.getInt32(Exit), Body.Exit);
      To.CreateBr(Range.Latch);
      return B;
    };
    for (unsigned E : R.Exits)
      Map[K.Boundaries[E].Block] = Leave(E);
    SmallVector<BasicBlock *, 8> Copies;
    cloneRegion(K, R, Map, P.Name, Copies);
    BasicBlock *Returned = R.Returns ? Leave(-1) : nullptr;
    for (BasicBlock *B : Copies)
      if (isa<ReturnInst>(B->getTerminator())) {
        B->getTerminator()->eraseFromParent();
        BranchInst::Create(Returned, B);
      }
    IR.CreateBr(cast<BasicBlock>(Map[R.Start]));
    if (!P.Only.empty())
      for (Instruction &I : *R.Start)
        if (auto *S = dyn_cast<StoreInst>(&I); S && !is_contained(P.Only, S))
          cast<StoreInst>(Map[S])->eraseFromParent();
    for (const Way &W : P.Ways) {
      auto *Branch = cast<BranchInst>(cast<BasicBlock>(Map[W.G.Branch->getParent()])->getTerminator());
      Branch->getSuccessor(1 - W.Successor)->removePredecessor(Branch->getParent(), true);
      BranchInst::Create(Branch->getSuccessor(W.Successor), Branch->getParent());
      Branch->eraseFromParent();
    }
    finishLane(Range, L.Accesses, Copies);
  }

  void emitLanes(unsigned Index, const Region &R, BasicBlock *Head) {
    K.LaneLoops++;
    LaneBody Body{R, {}, {}, nullptr};
    IRBuilder<> IR(Head);
    for (AllocaInst *A : K.UniformSlots) {
      if (none_of(A->users(),
                  [&](User *U) { return isa<StoreInst>(U) && R.Inside.contains(cast<Instruction>(U)->getParent()); }))
        continue;
      Body.Local.push_back({A, newLocal(A->getAllocatedType())});
      Body.Before.push_back(IR.CreateLoad(A->getAllocatedType(), A));
    }
    const bool OneExit = R.Exits.size() + R.Returns <= 1;
    Body.Exit = OneExit ? nullptr : newLocal(IR.getInt32Ty());
    for (unsigned I = 0; I < Body.Local.size(); I++) // for the case that no lane has anything to do
      IR.CreateStore(Body.Before[I], Body.Local[I].second);

    Guard G;
    const bool OfRows = chooseGuard(K, R, {}, G) && idles(R, Way{G, 1 - G.Inside});
    LaneRows Rows = OfRows ? emitRows(K, R, G, IR) : LaneRows();
    if (OneExit && Body.Local.empty() && !OfRows && worthJamming(R)) {
      Value *End = IR.CreateAnd(K.NY, IR.getInt32(~(JammedRows - 1u)));
      LaneLoop Jammed = createLaneLoop(K, "j" + Twine(Index), {IR.getInt32(0), End, JammedRows});
      Jammed.Interleave = 2;
      IR.CreateBr(Jammed.Head);
      emitJammed(R, Jammed, ".j" + Twine(Index));
      IR.SetInsertPoint(Jammed.Exit);
      Rows = {End, K.NY};
    }
    SmallVector<SmallVector<StoreInst *, 16>, 4> Parts;
    if (OneExit && Body.Local.empty())
      Parts = partsOf(R);
    if (Parts.empty())
      Parts.emplace_back();
    for (unsigned Part = 0; Part < Parts.size(); Part++) {
      const std::string Name = "r" + std::to_string(Index) + (Part ? "." + std::to_string(Part) : "");
      LaneLoop L = createLaneLoop(K, Name, Rows);
      IR.CreateBr(L.Head);
      IR.SetInsertPoint(L.Row);
      SmallVector<Piece, 8> Pieces;
      cut(R, L, OfRows, {nullptr, nullptr, 1, {}, "." + Name, Parts[Part]}, IR, Pieces);
      for (const Piece &P : Pieces)
        emitPiece(Body, L, P);
      closeLaneLoop(L);
      IR.SetInsertPoint(L.Exit);
    }
    Value *Exit = Body.Exit ? IR.CreateLoad(IR.getInt32Ty(), Body.Exit) : nullptr;
    for (auto &P : Body.Local)
      IR.CreateStore(IR.CreateLoad(P.first->getAllocatedType(), P.second), P.first);
    if (R.Exits.empty() && !R.Returns) {
      IR.CreateUnreachable(); // never left
    } else if (OneExit) {
      IR.CreateBr(R.Returns ? Done : headOf(R.Exits[0]));
    } else {
      SwitchInst *S = IR.CreateSwitch(Exit, R.Returns ? Done : headOf(R.Exits[0]));
      for (unsigned E : R.Exits)
        S->addCase(IR.getInt32(E), headOf(E));
    }
  }

public:
  explicit UniformEmitter(Kernel &K) : K(K), Frame(K) {}
  void run() {
    LLVMContext &C = K.F.getContext();
    // No loop over a row or over rows is without a round.
    for (Value *V : {K.NX, K.NY, K.NZ, K.Threads})
      if (auto *L = dyn_cast<LoadInst>(V))
        L->setMetadata(LLVMContext::MD_range, MDBuilder(C).createRange(APInt(32, 1), APInt(32, MaxThreads + 1)));
    SmallVector<BasicBlock *, 16> Originals;
    for (BasicBlock &B : K.F)
      if (&B != K.Entry)
        Originals.push_back(&B);
    Done = BasicBlock::Create(C, "done", &K.F);
    ReturnInst::Create(C, ConstantInt::getSigned(Type::getInt32Ty(C), EntryEnded), Done);
    if (K.Resumes) {
      uint64_t Bytes = 0;
      for (const AllocaInst *A : K.UniformSlots)
        Bytes += keptBytes(A);
      Kept = Frame.addShared(K, Bytes, "kept");
    }
    for (unsigned I = 0; I <= K.Boundaries.size(); I++)
      Heads.push_back(BasicBlock::Create(C, "region." + Twine(I), &K.F));
    for (unsigned I = 0; I <= K.Boundaries.size(); I++) {
      Region R = regionFrom(K, I ? K.Boundaries[I - 1].After : K.Start);
      BasicBlock *Head = Heads[I];
      if (I) {
        Head = BasicBlock::Create(C, "enter." + Twine(I), &K.F);
        emitBoundary(I, K.Boundaries[I - 1], Heads[I], Head);
      }
      K.Regions++;
      if (isScalar(K, R))
        emitScalar(I, R, Head);
      else
        emitLanes(I, R, Head);
    }
    K.Entry->getTerminator()->eraseFromParent();
    IRBuilder<> IR(K.Entry);
    if (K.Declines) {
      BasicBlock *Decline = BasicBlock::Create(C, "decline", &K.F);
      ReturnInst::Create(C, ConstantInt::getSigned(Type::getInt32Ty(C), EntryDeclines), Decline);
      IR.CreateCondBr(K.Declines, Decline, Heads[0]);
    } else if (!Resumed.empty()) {
      Value *At = IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), K.F.getArg(0), BlockResume);
      SwitchInst *S = IR.CreateSwitch(IR.CreateLoad(IR.getInt32Ty(), At), Heads[0]);
      for (auto [Index, Resume] : Resumed)
        S->addCase(IR.getInt32(Index), Resume);
    } else {
      IR.CreateBr(Heads[0]);
    }
    removeOriginals(K, Originals);
  }
};
} // namespace

void emitUniform(Kernel &K) { UniformEmitter(K).run(); }

} // namespace cgx
