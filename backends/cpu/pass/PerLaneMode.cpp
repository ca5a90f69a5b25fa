// SPDX-License-Identifier: MIT
// The mode for kernels whose threads part ways before marks: a state for each lane, the region it is ready for or the
// boundary it waits at, and a loop in which libcgx (backends/cpu/lanes.c) says which region runs next, or which step of
// a group that is complete.
#include "Lanes.h"
#include "llvm/IR/CFG.h"
using namespace llvm;

namespace cgx {

static uint64_t number(const Value *V) { return cast<ConstantInt>(V)->getZExtValue(); }

// 0: not a constant.
uint64_t constantSize(const CallInst *M) {
  const auto *Size = dyn_cast<ConstantInt>(M->getArgOperand(StepSize));
  return Size && number(M->getArgOperand(StepKind)) != WaitCoalesced ? Size->getZExtValue() : 0;
}
// Steps are one where they do the same: lanes at different marks may take part in it together.
static bool sameStep(const CallInst *A, const CallInst *B) {
  if (!A)
    return false;
  for (unsigned I : {StepFunction, StepKind, StepOperation, StepType, StepCode, StepBytes, StepApply})
    if (A->getArgOperand(I) != B->getArgOperand(I) || !isa<Constant>(A->getArgOperand(I)))
      return false;
  return true;
}
Constant *boundaryTable(Kernel &K) {
  LLVMContext &C = K.F.getContext();
  Type *I32 = Type::getInt32Ty(C);
  StructType *Row = StructType::get(I32, I32, I32, I32, I32);
  SmallVector<Constant *, 8> Rows;
  for (unsigned I = 0; I < K.Boundaries.size(); I++) {
    const CallInst *M = K.Boundaries[I].Step;
    int Step = -1;
    if (!M) { // nobody waits here
      Rows.push_back(ConstantAggregateZero::get(Row));
      continue;
    }
    if (!isa<ConstantPointerNull>(M->getArgOperand(StepFunction)))
      for (Step = 0; unsigned(Step) < I && !sameStep(K.Boundaries[Step].Step, M);)
        Step++;
    auto Int = [&](int64_t V) { return ConstantInt::getSigned(I32, V); };
    Rows.push_back(ConstantStruct::get(Row, {Int(number(M->getArgOperand(StepKind))), Int(Step),
                                             Int(number(M->getArgOperand(StepOperation))),
                                             Int(number(M->getArgOperand(StepLine))), Int(constantSize(M))}));
  }
  ArrayType *T = ArrayType::get(Row, Rows.size());
  return new GlobalVariable(*K.F.getParent(), T, true, GlobalValue::PrivateLinkage, ConstantArray::get(T, Rows),
                            "cgx.boundaries");
}

namespace {
class LanesEmitter {
  Kernel &K;
  FrameLayout Frame;
  LLVMContext &C;
  Value *State, *Sizes, *Members, *Group;
  BasicBlock *Dispatch, *Done;
  SwitchInst *Next;
  FunctionCallee NextRun;

  // For each run of lanes that are ready: a loop over them, row by row.
  void emitRegion(unsigned Index, const Region &R) {
    const std::string Name = "r" + std::to_string(Index);
    BasicBlock *Runs = BasicBlock::Create(C, Name + ".runs", &K.F), *Run = BasicBlock::Create(C, Name + ".run", &K.F);
    IRBuilder<> IR(Runs);
    PHINode *From = IR.CreatePHI(IR.getInt32Ty(), 2);
    Value *Both = IR.CreateCall(NextRun, {State, From, K.Threads, IR.getInt32(Index | LaneReady)});
    Value *First = IR.CreateTrunc(Both, IR.getInt32Ty()),
          *End = IR.CreateTrunc(IR.CreateLShr(Both, 32), IR.getInt32Ty());
    IR.CreateCondBr(IR.CreateICmpULT(First, K.Threads), Run, Dispatch);
    LaneLoop Loop = createLaneLoopOf(K, Name, First, End);
    BranchInst::Create(Loop.Head, Run);
    IR.SetInsertPoint(Loop.Row);
    // The part of the run that is in this row.
    Value *Low = IR.CreateBinaryIntrinsic(Intrinsic::usub_sat, First, Loop.First);
    Value *High = IR.CreateBinaryIntrinsic(Intrinsic::umin, IR.CreateSub(End, Loop.First), K.NX);
    const LaneRange L = addRange(K, Loop, Low, High, 1, Name);
    closeLaneLoop(Loop);
    From->addIncoming(IR.getInt32(0), Dispatch);
    From->addIncoming(End, Loop.Exit);
    K.LaneLoops++, K.Regions++;
    IR.SetInsertPoint(L.Body);
    ValueToValueMapTy Map;
    Value *Mine = IR.CreateInBoundsGEP(IR.getInt32Ty(), State, L.Lane);
    Frame.mapLane(IR, L.Lane, Map, true);
    SmallVector<BasicBlock *, 8> Copies;
    auto Store = [&](IRBuilder<> &To, Value *V, Value *Array, Type *T) {
      Value *At = T->isIntegerTy(32) && Array == State ? Mine : To.CreateInBoundsGEP(T, Array, L.Lane);
      To.CreateStore(V, At)->setMetadata(LLVMContext::MD_access_group, Loop.Accesses);
    };
    for (unsigned E : R.Exits) {
      BasicBlock *Wait = BasicBlock::Create(C, "waits", &K.F);
      IRBuilder<> To(Wait);
      ValueToValueMapTy Here;
      Frame.mapLane(To, L.Lane, Here);
      if (CallInst *M = cloneBoundary(K.Boundaries[E], To, Here)) {
        if (!constantSize(M))
          Store(To, M->getArgOperand(StepSize), Sizes, To.getInt32Ty());
        if (number(M->getArgOperand(StepKind)) == WaitCoalesced)
          Store(To, M->getArgOperand(StepMembers), Members, To.getInt64Ty());
        Store(To, To.getInt32(E), State, To.getInt32Ty());
        M->eraseFromParent();
      } else {
        Store(To, To.getInt32((E + 1) | LaneReady), State, To.getInt32Ty());
      }
      To.CreateBr(L.Latch);
      Map[K.Boundaries[E].Block] = Wait;
      Copies.push_back(Wait);
    }
    SmallVector<BasicBlock *, 8> Cloned;
    cloneRegion(K, R, Map, ".r" + Twine(Index), Cloned);
    for (BasicBlock *B : Cloned)
      if (isa<ReturnInst>(B->getTerminator())) {
        B->getTerminator()->eraseFromParent();
        IRBuilder<> To(B);
        Store(To, ConstantInt::getSigned(To.getInt32Ty(), LaneEnded), State, To.getInt32Ty());
        To.CreateBr(L.Latch);
      }
    IR.CreateBr(cast<BasicBlock>(Map[R.Start]));
    Copies.append(Cloned.begin(), Cloned.end());
    finishLane(L, Loop.Accesses, Copies);
    BranchInst::Create(Runs, Loop.Exit);
    Next->addCase(IR.getInt32(Index), Runs);
  }

  // The step of a group, with the operands of its first lane.
  void emitGroupStep(unsigned Index) {
    const Boundary &B = K.Boundaries[Index];
    if (!B.Step || isa<ConstantPointerNull>(B.Step->getArgOperand(StepFunction)))
      return;
    BasicBlock *Head = BasicBlock::Create(C, "step." + Twine(Index), &K.F);
    IRBuilder<> IR(Head);
    Value *First = IR.CreateLoad(IR.getInt32Ty(), Group);
    Value *Count = IR.CreateLoad(IR.getInt32Ty(), IR.CreateConstInBoundsGEP1_64(IR.getInt32Ty(), Group, 1));
    LaneRange L{};
    L.Rank = First;
    L.X = IR.CreateURem(First, K.NX);
    Value *Row = IR.CreateUDiv(First, K.NX);
    L.Y = IR.CreateURem(Row, K.NY), L.Z = IR.CreateUDiv(Row, K.NY);
    ValueToValueMapTy Map;
    Frame.mapLane(IR, IR.CreateZExt(First, IR.getInt64Ty()), Map);
    CallInst *M = cloneBoundary(B, IR, Map);
    emitStep(IR, M, false, First, Count);
    IR.CreateBr(Dispatch);
    M->eraseFromParent();
    finishLane(L, MDNode::getDistinct(C, {}), {Head});
    Next->addCase(IR.getInt32(K.Boundaries.size() + 1 + Index), Head);
  }

public:
  explicit LanesEmitter(Kernel &K) : K(K), Frame(K), C(K.F.getContext()) {}
  void run() {
    SmallVector<BasicBlock *, 16> Originals;
    for (BasicBlock &B : K.F)
      if (&B != K.Entry)
        Originals.push_back(&B);
    Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C), *Void = Type::getVoidTy(C),
         *Ptr = PointerType::getUnqual(C);
    State = Frame.addArray(K, I32, "state");
    Sizes = Frame.addArray(K, I32, "sizes");
    Members = Frame.addArray(K, I64, "members");
    Dispatch = BasicBlock::Create(C, "dispatch", &K.F);
    Done = BasicBlock::Create(C, "done", &K.F);
    ReturnInst::Create(C, ConstantInt::getSigned(I32, -1), Done);

    IRBuilder<> Top(K.Entry, K.Entry->begin());
    Group = Top.CreateAlloca(ArrayType::get(I32, 4), nullptr, "group");
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
    IR.CreateCall(M->getOrInsertFunction("cgx__cpu_lanes_start", Void, Ptr, Ptr), {K.Block, State});
    for (unsigned I = 0; I < 4; I++)
      IR.CreateStore(ConstantInt::getSigned(I32, -1), IR.CreateConstInBoundsGEP1_64(I32, Group, I));
    IR.CreateBr(Dispatch);

    NextRun = M->getOrInsertFunction("cgx__cpu_lanes_run", I64, Ptr, I32, I32, I32);
    IR.SetInsertPoint(Dispatch);
    FunctionCallee Ask = M->getOrInsertFunction("cgx__cpu_lanes_next", I32, Ptr, Ptr, Ptr, Ptr, Ptr, I32, Ptr);
    Value *What =
        IR.CreateCall(Ask, {K.Block, State, Sizes, Members, boundaryTable(K), IR.getInt32(K.Boundaries.size()), Group});
    Next = IR.CreateSwitch(What, Done);
    for (unsigned I = 0; I <= K.Boundaries.size(); I++)
      emitRegion(I, regionFrom(K, I ? K.Boundaries[I - 1].After : K.Start));
    for (unsigned I = 0; I < K.Boundaries.size(); I++)
      emitGroupStep(I);
    removeOriginals(K, Originals);
  }
};
} // namespace

void emitPerLane(Kernel &K) { LanesEmitter(K).run(); }

} // namespace cgx
