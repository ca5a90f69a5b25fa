// SPDX-License-Identifier: MIT
// The mode for kernels whose marks are reached by all threads or none: regions follow each other as the kernel's own
// blocks do, each a loop over the lanes, or straight code where it is the same for all.
#include "Lanes.h"
#include "llvm/IR/CFG.h"
using namespace llvm;

namespace cgx {

namespace {
class UniformEmitter {
  Kernel &K;
  FrameLayout Frame;
  BasicBlock *Done;
  SmallVector<BasicBlock *, 8> Heads; // of the code of region I: 0, or behind boundary I - 1

  // What comes before a region: the step of the boundary it starts at.
  void emitBoundary(const Boundary &B, BasicBlock *Head, BasicBlock *Region) {
    IRBuilder<> IR(Head);
    ValueToValueMapTy Map;
    if (CallInst *M = cloneBoundary(B, IR, Map)) {
      IR.SetInsertPoint(M);
      emitStep(IR, M, true, IR.getInt32(0), K.Threads);
      M->eraseFromParent();
      IR.SetInsertPoint(Head);
    }
    IR.CreateBr(Region);
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

  // Uniform slots inside the loop: every lane starts with what they held before it, and what the last one leaves
  // counts.
  void emitLanes(unsigned Index, const Region &R, BasicBlock *Head) {
    LLVMContext &C = K.F.getContext();
    LaneLoop L = createLaneLoop(K, "r" + Twine(Index));
    K.LaneLoops++;
    IRBuilder<> IR(Head);
    SmallVector<std::pair<AllocaInst *, AllocaInst *>, 8> Local;
    SmallVector<Value *, 8> Before;
    ValueToValueMapTy Map;
    auto NewLocal = [&](Type *T) {
      IRBuilder<> Top(K.Entry, K.Entry->begin());
      return Top.CreateAlloca(T);
    };
    for (AllocaInst *A : K.UniformSlots) {
      if (none_of(A->users(), [&](User *U) { return R.Inside.contains(cast<Instruction>(U)->getParent()); }))
        continue;
      Local.push_back({A, NewLocal(A->getAllocatedType())});
      Before.push_back(IR.CreateLoad(A->getAllocatedType(), A));
    }
    const bool OneExit = R.Exits.size() + R.Returns <= 1;
    AllocaInst *ExitSlot = OneExit ? nullptr : NewLocal(IR.getInt32Ty());
    IR.CreateBr(L.Head);

    IR.SetInsertPoint(L.Body);
    Frame.mapLane(IR, L.Lane, Map);
    for (unsigned I = 0; I < Local.size(); I++) {
      IR.CreateStore(Before[I], Local[I].second);
      Map[Local[I].first] = Local[I].second;
    }
    auto Leave = [&](int Exit) {
      BasicBlock *B = BasicBlock::Create(C, "leave", &K.F);
      IRBuilder<> To(B);
      if (ExitSlot)
        To.CreateStore(To.getInt32(Exit), ExitSlot);
      To.CreateBr(L.Latch);
      return B;
    };
    for (unsigned E : R.Exits)
      Map[K.Boundaries[E].Block] = Leave(E);
    SmallVector<BasicBlock *, 8> Copies;
    cloneRegion(K, R, Map, ".r" + Twine(Index), Copies);
    BasicBlock *Returned = R.Returns ? Leave(-1) : nullptr;
    for (BasicBlock *B : Copies)
      if (isa<ReturnInst>(B->getTerminator())) {
        B->getTerminator()->eraseFromParent();
        BranchInst::Create(Returned, B);
      }
    IR.CreateBr(cast<BasicBlock>(Map[R.Start]));
    finishLane(L, Copies);

    IR.SetInsertPoint(L.Latch, L.Latch->begin());
    SmallVector<Value *, 8> After;
    for (auto &P : Local)
      After.push_back(IR.CreateLoad(P.first->getAllocatedType(), P.second));
    Value *Exit = ExitSlot ? IR.CreateLoad(IR.getInt32Ty(), ExitSlot) : nullptr;
    IR.SetInsertPoint(L.Exit);
    for (unsigned I = 0; I < Local.size(); I++)
      IR.CreateStore(After[I], Local[I].first);
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
    SmallVector<BasicBlock *, 16> Originals;
    for (BasicBlock &B : K.F)
      if (&B != K.Entry)
        Originals.push_back(&B);
    Done = BasicBlock::Create(C, "done", &K.F);
    ReturnInst::Create(C, ConstantInt::getSigned(Type::getInt32Ty(C), -1), Done);
    for (unsigned I = 0; I <= K.Boundaries.size(); I++)
      Heads.push_back(BasicBlock::Create(C, "region." + Twine(I), &K.F));
    for (unsigned I = 0; I <= K.Boundaries.size(); I++) {
      Region R = regionFrom(K, I ? K.Boundaries[I - 1].After : K.Start);
      BasicBlock *Head = Heads[I];
      if (I) {
        Head = BasicBlock::Create(C, "enter." + Twine(I), &K.F);
        emitBoundary(K.Boundaries[I - 1], Heads[I], Head);
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
      ReturnInst::Create(C, ConstantInt::getSigned(Type::getInt32Ty(C), -2), Decline);
      IR.CreateCondBr(K.Declines, Decline, Heads[0]);
    } else {
      IR.CreateBr(Heads[0]);
    }
    removeOriginals(K, Originals);
  }
};
} // namespace

void emitUniform(Kernel &K) { UniformEmitter(K).run(); }

} // namespace cgx
