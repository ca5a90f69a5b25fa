// SPDX-License-Identifier: MIT
#include "Lanes.h"
#include "Debugging.h"
#include "llvm/IR/CFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
using namespace llvm;

namespace cgx {

// The frame has room for a multiple of so many threads: every array in it begins at a multiple of as many bytes.
enum { LaneGroup = 64 };

FrameLayout::FrameLayout(Kernel &K) : Debugged(K.Debugged) {
  IRBuilder<> IR(K.Entry->getTerminator());
  Type *I64 = IR.getInt64Ty();
  Lanes = IR.CreateAnd(IR.CreateAdd(IR.CreateZExt(K.Threads, I64), IR.getInt64(LaneGroup - 1)),
                       IR.getInt64(~uint64_t(LaneGroup - 1)), "lanes");
  Align Most(LaneGroup);
  for (auto *List : {&K.ThreadSlots, &K.PrivateArrays})
    for (AllocaInst *A : *List)
      if (!A->use_empty())
        Most = std::max(Most, A->getAlign());
  if (Most > LaneGroup) { // libcgx gives no more
    K.Frame = IR.CreateInBoundsGEP(
        IR.getInt8Ty(), K.Frame,
        IR.CreateAnd(IR.CreateNeg(IR.CreatePtrToInt(K.Frame, I64)), IR.getInt64(Most.value() - 1)));
    K.FrameBytes = Most.value() / LaneGroup;
  }
  for (auto *List : {&K.ThreadSlots, &K.PrivateArrays})
    for (AllocaInst *A : *List) {
      if (A->use_empty())
        continue;
      const uint64_t Size = alignTo(K.layout().getTypeAllocSize(A->getAllocatedType()), A->getAlign());
      if (A->getAlign() > LaneGroup)
        K.FrameBytes = alignTo(K.FrameBytes, A->getAlign().value() / LaneGroup);
      Value *Offset = IR.CreateMul(Lanes, IR.getInt64(K.FrameBytes), "", true, true);
      Base[A] = IR.CreateInBoundsGEP(IR.getInt8Ty(), K.Frame, Offset, A->getName() + ".lanes");
      K.FrameBytes += Size;
    }
}

Value *FrameLayout::addArray(Kernel &K, Type *Element, const Twine &Name) {
  IRBuilder<> IR(K.Entry->getTerminator());
  Value *Offset = IR.CreateMul(Lanes, IR.getInt64(K.FrameBytes), "", true, true);
  K.FrameBytes += K.layout().getTypeAllocSize(Element);
  return IR.CreateInBoundsGEP(IR.getInt8Ty(), K.Frame, Offset, Name);
}

Value *FrameLayout::addUnitArray(Kernel &K, uint64_t &Bytes, const Twine &Name) {
  static_assert(LaneGroup % UnitLanes == 0, "the frame has room for whole units");
  IRBuilder<> IR(K.Entry->getTerminator());
  Value *Offset = IR.CreateMul(Lanes, IR.getInt64(K.FrameBytes), "", true, true);
  Bytes = alignTo(Bytes, uint64_t(LaneGroup));
  K.FrameBytes += Bytes / UnitLanes;
  return IR.CreateInBoundsGEP(IR.getInt8Ty(), K.Frame, Offset, Name);
}

// There are at least LaneGroup elements in an array.
Value *FrameLayout::addShared(Kernel &K, uint64_t Bytes, const Twine &Name) {
  Type *Part = ArrayType::get(Type::getInt8Ty(K.F.getContext()), divideCeil(Bytes, LaneGroup));
  return addArray(K, Part, Name);
}

void FrameLayout::mapLane(IRBuilder<> &IR, Value *Lane, ValueToValueMapTy &Map, bool Declare) {
  for (const auto &P : Base) {
    AllocaInst *A = P.first;
    const DataLayout &DL = A->getModule()->getDataLayout();
    const uint64_t Size = alignTo(DL.getTypeAllocSize(A->getAllocatedType()), A->getAlign());
    if (Size == DL.getTypeAllocSize(A->getAllocatedType()))
      Map[A] = IR.CreateInBoundsGEP(A->getAllocatedType(), P.second, Lane);
    else
      Map[A] = IR.CreateInBoundsGEP(IR.getInt8Ty(), P.second, IR.CreateMul(Lane, IR.getInt64(Size), "", true, true));
    if (Declare)
      declareAt(A, Map[A], IR, Debugged ? &Pointers : nullptr);
  }
}

Region regionFrom(const Kernel &K, BasicBlock *Start) {
  Region R;
  R.Start = Start;
  SmallVector<BasicBlock *, 16> Work{Start};
  while (!Work.empty()) {
    BasicBlock *B = Work.pop_back_val();
    auto At = K.BoundaryOf.find(B);
    if (At != K.BoundaryOf.end()) {
      if (!is_contained(R.Exits, At->second))
        R.Exits.push_back(At->second);
      continue;
    }
    if (!R.Inside.insert(B).second)
      continue;
    R.Blocks.push_back(B);
    R.Returns |= isa<ReturnInst>(B->getTerminator());
    Work.append(succ_begin(B), succ_end(B));
  }
  return R;
}

bool isScalar(const Kernel &K, const Region &R) {
  for (BasicBlock *B : R.Blocks)
    for (Instruction &I : *B) {
      if (auto *S = dyn_cast<StoreInst>(&I); S && is_contained(K.UniformSlots, S->getPointerOperand()))
        continue;
      if (K.Divergent.contains(&I) || I.mayHaveSideEffects())
        return false;
      if (any_of(I.operands(), [&](const Use &O) { return K.Divergent.contains(O.get()); }))
        return false;
    }
  return true;
}

// Unrolled in whole a loop over the lanes would not be vectorised; after that it may be, if it is short. Accesses: what
// does not depend on each other in it; null: it is no loop over lanes.
static void keepLoop(Instruction *Back, MDNode *Accesses, unsigned Interleave = 0, unsigned Unroll = 0) {
  LLVMContext &C = Back->getContext();
  auto Attribute = [&](const char *Name) { return MDNode::get(C, {MDString::get(C, Name)}); };
  auto Number = [&](unsigned N) { return ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(C), N)); };
  SmallVector<Metadata *, 4> Parts{nullptr};
  Parts.push_back(Unroll ? MDNode::get(C, {MDString::get(C, "llvm.loop.unroll.count"), Number(Unroll)})
                         : Attribute("llvm.loop.unroll.disable"));
  if (Accesses) {
    Parts.push_back(MDNode::get(C, {MDString::get(C, "llvm.loop.parallel_accesses"), Accesses}));
    if (Interleave)
      Parts.push_back(MDNode::get(C, {MDString::get(C, "llvm.loop.interleave.count"), Number(Interleave)}));
    Parts.push_back(MDNode::get(C, {MDString::get(C, "llvm.loop.vectorize.followup_vectorized"),
                                    MDNode::get(C, {MDString::get(C, "llvm.loop.isvectorized"), Number(1)}),
                                    Attribute("llvm.loop.unroll.runtime.disable")}));
  }
  MDNode *Id = MDNode::getDistinct(C, Parts);
  Id->replaceOperandWith(0, Id);
  Back->setMetadata(LLVMContext::MD_loop, Id);
}

// Rows of one plane after another, y inside z: with a single plane, known or found when it is compiled, a row's place
// is what the loop counts.
static void countRows(Kernel &K, LaneLoop &L, const Twine &Name, const LaneRows &Rows) {
  LLVMContext &C = K.F.getContext();
  BasicBlock *Plane = BasicBlock::Create(C, Name + ".plane", &K.F, L.Row),
             *PlaneEnd = BasicBlock::Create(C, Name + ".planeend", &K.F, L.Exit);
  IRBuilder<> IR(L.Head);
  Value *Zero = IR.getInt32(0), *One = IR.getInt32(1);
  Value *Begin = Rows.Begin ? Rows.Begin : Zero, *End = Rows.End ? Rows.End : K.NY;
  IR.CreateBr(Plane);

  IR.SetInsertPoint(Plane);
  PHINode *Z = IR.CreatePHI(IR.getInt32Ty(), 2, "z");
  if (Rows.Begin) // may be none
    IR.CreateCondBr(IR.CreateICmpULT(Begin, End), L.Row, PlaneEnd);
  else
    IR.CreateBr(L.Row);

  IR.SetInsertPoint(L.Row);
  PHINode *Y = IR.CreatePHI(IR.getInt32Ty(), 2, "y");
  L.First = IR.CreateMul(IR.CreateAdd(IR.CreateMul(Z, K.NY, "", true, true), Y, "", true, true), K.NX, "", true, true);
  L.Y = Y, L.Z = Z;

  IR.SetInsertPoint(L.RowEnd);
  Value *NextY = IR.CreateAdd(Y, IR.getInt32(Rows.Step), "", true, true);
  keepLoop(IR.CreateCondBr(IR.CreateICmpULT(NextY, End), L.Row, PlaneEnd), nullptr);

  IR.SetInsertPoint(PlaneEnd);
  Value *NextZ = IR.CreateAdd(Z, One, "", true, true);
  keepLoop(IR.CreateCondBr(IR.CreateICmpULT(NextZ, K.NZ), Plane, L.Exit), nullptr);

  Z->addIncoming(Zero, L.Head), Z->addIncoming(NextZ, PlaneEnd);
  Y->addIncoming(Begin, Plane), Y->addIncoming(NextY, L.RowEnd);
}

// The rows that have lanes First to End - 1 in them.
static void countRowsOf(Kernel &K, LaneLoop &L, Value *FirstLane, Value *EndLane) {
  IRBuilder<> IR(L.Head);
  Value *Zero = IR.getInt32(0), *One = IR.getInt32(1);
  Value *Count = IR.CreateAdd(IR.CreateUDiv(IR.CreateSub(EndLane, One), K.NX), One);
  Value *Row0 = IR.CreateUDiv(FirstLane, K.NX);
  Value *Y0 = IR.CreateURem(Row0, K.NY), *Z0 = IR.CreateUDiv(Row0, K.NY);
  IR.CreateBr(L.Row);

  IR.SetInsertPoint(L.Row);
  PHINode *R = IR.CreatePHI(IR.getInt32Ty(), 2, "row"), *Y = IR.CreatePHI(IR.getInt32Ty(), 2, "y"),
          *Z = IR.CreatePHI(IR.getInt32Ty(), 2, "z");
  L.First = IR.CreateMul(R, K.NX, "", true, true);
  L.Y = Y, L.Z = Z;

  IR.SetInsertPoint(L.RowEnd);
  Value *NextRow = IR.CreateAdd(R, One, "", true, true), *NextY = IR.CreateAdd(Y, One, "", true, true);
  Value *Plane = IR.CreateICmpEQ(NextY, K.NY);
  Value *NewY = IR.CreateSelect(Plane, Zero, NextY), *NewZ = IR.CreateAdd(Z, IR.CreateZExt(Plane, IR.getInt32Ty()));
  keepLoop(IR.CreateCondBr(IR.CreateICmpULT(NextRow, Count), L.Row, L.Exit), nullptr);

  R->addIncoming(Row0, L.Head), R->addIncoming(NextRow, L.RowEnd);
  Y->addIncoming(Y0, L.Head), Y->addIncoming(NewY, L.RowEnd);
  Z->addIncoming(Z0, L.Head), Z->addIncoming(NewZ, L.RowEnd);
}

static LaneLoop newLaneLoop(Kernel &K, const Twine &Name) {
  LLVMContext &C = K.F.getContext();
  auto Make = [&](const char *Part) { return BasicBlock::Create(C, Name + "." + Part, &K.F); };
  LaneLoop L;
  L.Head = Make("rows"), L.Row = Make("row"), L.RowEnd = Make("rowend"), L.Exit = Make("end");
  L.Accesses = MDNode::getDistinct(C, {});
  L.Tail = L.Row;
  return L;
}

LaneLoop createLaneLoop(Kernel &K, const Twine &Name, const LaneRows &Rows) {
  LaneLoop L = newLaneLoop(K, Name);
  countRows(K, L, Name, Rows);
  return L;
}

LaneLoop createLaneLoopOf(Kernel &K, const Twine &Name, Value *First, Value *End) {
  LaneLoop L = newLaneLoop(K, Name);
  countRowsOf(K, L, First, End);
  return L;
}

LaneLoop createUnitLoop(Kernel &K, const Twine &Name, Value *First, Value *Count, bool ByRows) {
  LaneLoop L = newLaneLoop(K, Name);
  if (ByRows) {
    IRBuilder<> IR(L.Head);
    countRowsOf(K, L, First, IR.CreateAdd(First, Count));
    return L;
  }
  BranchInst::Create(L.Row, L.Head);
  BranchInst::Create(L.Exit, L.RowEnd);
  L.First = First;
  L.Y = L.Z = ConstantInt::get(First->getType(), 0);
  return L;
}

LaneRange addRange(Kernel &K, LaneLoop &L, Value *From, Value *To, uint32_t Step, const Twine &Name) {
  LLVMContext &C = K.F.getContext();
  BasicBlock *Lanes = BasicBlock::Create(C, Name + ".lanes", &K.F), *Next = BasicBlock::Create(C, Name + ".next", &K.F),
             *Behind = BasicBlock::Create(C, Name + ".behind", &K.F);
  LaneRange G;
  G.Body = Lanes, G.Latch = Next, G.Y = L.Y, G.Z = L.Z;
  IRBuilder<> IR(L.Tail);
  if (From || To) // may be empty
    IR.CreateCondBr(IR.CreateICmpULT(From ? From : IR.getInt32(0), To ? To : K.NX), Lanes, Behind);
  else
    IR.CreateBr(Lanes);

  IR.SetInsertPoint(Lanes);
  PHINode *X = IR.CreatePHI(IR.getInt32Ty(), 2, "x");
  X->addIncoming(From ? From : IR.getInt32(0), L.Tail);
  G.X = X;
  G.Rank = IR.CreateAdd(L.First, X, "rank", true, true);
  G.Lane = IR.CreateZExt(G.Rank, IR.getInt64Ty(), "lane");

  IR.SetInsertPoint(Next);
  if (!Step) {
    IR.CreateBr(Behind);
  } else {
    Value *NextX = IR.CreateAdd(X, IR.getInt32(Step), "", true, true);
    Instruction *Back = IR.CreateCondBr(IR.CreateICmpULT(NextX, To ? To : K.NX), Lanes, Behind);
    keepLoop(Back, L.Accesses, L.Interleave, L.Unroll);
    X->addIncoming(NextX, Next);
  }
  L.Tail = Behind;
  return G;
}

void closeLaneLoop(LaneLoop &L) { BranchInst::Create(L.RowEnd, L.Tail); }

void cloneRegion(Kernel &K, const Region &R, ValueToValueMapTy &Map, const Twine &Suffix,
                 SmallVectorImpl<BasicBlock *> &Copies) {
  for (BasicBlock *B : R.Blocks) {
    BasicBlock *Copy = CloneBasicBlock(B, Map, Suffix, &K.F);
    Map[B] = Copy;
    Copies.push_back(Copy);
  }
  for (BasicBlock *B : Copies)
    for (Instruction &I : *B) {
      if (auto *P = dyn_cast<PHINode>(&I))
        for (int J = P->getNumIncomingValues() - 1; J >= 0; J--)
          if (!R.Inside.contains(P->getIncomingBlock(J)))
            P->removeIncomingValue(J, false);
      remapDebugRecords(I, Map);
      RemapInstruction(&I, Map, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
    }
}

void finishLane(const LaneRange &L, MDNode *Accesses, ArrayRef<BasicBlock *> Copies) {
  for (BasicBlock *B : Copies)
    for (Instruction &I : make_early_inc_range(*B)) {
      Value *Is = nullptr;
      switch (markOf(&I)) {
      case Mark::Rank:
        Is = L.Rank;
        break;
      case Mark::X:
        Is = L.X;
        break;
      case Mark::Y:
        Is = L.Y;
        break;
      case Mark::Z:
        Is = L.Z;
        break;
      case Mark::Unit:
        Is = L.Unit;
        break;
      default:
        break;
      }
      if (Is) {
        I.replaceAllUsesWith(Is);
        I.eraseFromParent();
      } else if (I.mayReadOrWriteMemory()) {
        I.setMetadata(LLVMContext::MD_access_group, Accesses);
      }
    }
}

CallInst *cloneBoundary(const Boundary &B, IRBuilder<> &IR, ValueToValueMapTy &Map) {
  CallInst *Mark = nullptr;
  for (Instruction &I : *B.Block) {
    if (I.isTerminator())
      continue;
    Instruction *C = I.clone();
    IR.Insert(C);
    Map[&I] = C;
    RemapInstruction(C, Map, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
    if (&I == B.Step)
      Mark = cast<CallInst>(C);
  }
  return Mark;
}

// Operands of the mark, as cpu_compiled.h has them: step, block, line, size, kind, operation, type, code, bytes, apply,
// target, scope. Of the step: block, packed, first, count, size, and the same from kind on.
void emitStep(IRBuilder<> &IR, CallInst *M, bool Packed, Value *First, Value *Count) {
  Value *Step = M->getArgOperand(StepFunction);
  if (isa<ConstantPointerNull>(Step))
    return;
  SmallVector<Value *, 16> Arguments{M->getArgOperand(StepBlock), IR.getInt32(Packed), First, Count,
                                     M->getArgOperand(StepSize)};
  for (unsigned I = StepKind; I < M->arg_size(); I++)
    Arguments.push_back(M->getArgOperand(I));
  SmallVector<Type *, 16> Types;
  for (Value *V : Arguments)
    Types.push_back(V->getType());
  CallInst *C = IR.CreateCall(FunctionType::get(IR.getVoidTy(), Types, false), Step, Arguments);
  C->setDebugLoc(M->getDebugLoc());
}

void lowerOperation(CallInst *M, Value *First, Value *Count) {
  IRBuilder<> IR(M);
  const bool Look = isMark(M, Mark::Look);
  SmallVector<Value *, 8> Arguments{M->getArgOperand(Look ? unsigned(LookBlock) : unsigned(ArriveBlock)), First};
  if (!Look)
    Arguments.push_back(Count);
  for (unsigned I = Look ? unsigned(LookBarrier) : unsigned(ArriveBarrier); I < M->arg_size(); I++)
    Arguments.push_back(M->getArgOperand(I));
  SmallVector<Type *, 8> Types;
  for (Value *V : Arguments)
    Types.push_back(V->getType());
  CallInst *C = IR.CreateCall(FunctionType::get(M->getType(), Types, false), M->getArgOperand(LookFunction), Arguments);
  C->setDebugLoc(M->getDebugLoc());
  C->takeName(M);
  M->replaceAllUsesWith(C);
  M->eraseFromParent();
}

void removeOriginals(Kernel &K, ArrayRef<BasicBlock *> Originals) {
  for (BasicBlock *B : Originals)
    B->dropAllReferences();
  for (BasicBlock *B : Originals)
    B->eraseFromParent();
  for (auto *List : {&K.ThreadSlots, &K.PrivateArrays})
    for (AllocaInst *A : *List)
      if (A->use_empty())
        A->eraseFromParent();
}

} // namespace cgx
