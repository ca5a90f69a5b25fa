// SPDX-License-Identifier: MIT
// The mode for kernels whose marks are reached by all threads or none: regions follow each other as the kernel's own
// blocks do, each a loop over the lanes, or straight code where it is the same for all.
#include "Guards.h"
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

  // The region for the lanes of one range, which go WAY at the guard.
  void emitRange(const LaneBody &Body, LaneLoop &L, Value *From, Value *To, uint32_t Step, const Guard *G, unsigned Way,
                 const Twine &Name) {
    const Region &R = Body.R;
    const LaneRange Range = addRange(K, L, From, To, Step, Name);
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
    cloneRegion(K, R, Map, Name, Copies);
    BasicBlock *Returned = R.Returns ? Leave(-1) : nullptr;
    for (BasicBlock *B : Copies)
      if (isa<ReturnInst>(B->getTerminator())) {
        B->getTerminator()->eraseFromParent();
        BranchInst::Create(Returned, B);
      }
    IR.CreateBr(cast<BasicBlock>(Map[R.Start]));
    if (G) {
      auto *Branch = cast<BranchInst>(cast<BasicBlock>(Map[G->Branch->getParent()])->getTerminator());
      Branch->getSuccessor(1 - Way)->removePredecessor(Branch->getParent(), true);
      BranchInst::Create(Branch->getSuccessor(Way), Branch->getParent());
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
    const bool Guarded = chooseGuard(K, R, G), Idle = Guarded && idlesOutside(R, G);
    LaneLoop L = createLaneLoop(K, "r" + Twine(Index), Idle ? emitRows(K, R, G, IR) : LaneRows());
    IR.CreateBr(L.Head);
    const std::string Name = ".r" + std::to_string(Index);
    if (Guarded) {
      IR.SetInsertPoint(L.Row);
      auto [Low, High] = cgx::emitRange(K, R, G, L, Idle, IR);
      if (!Idle && !G.fromBegin())
        emitRange(Body, L, nullptr, Low, 1, &G, 1 - G.Inside, Name + ".below");
      emitRange(Body, L, Low, High, G.oneLane() ? 0 : G.step(), &G, G.Inside, Name + ".inside");
      if (!Idle && !G.toEnd())
        emitRange(Body, L, High, nullptr, 1, &G, 1 - G.Inside, Name + ".above");
    } else {
      emitRange(Body, L, nullptr, nullptr, 1, nullptr, 0, Name);
    }
    closeLaneLoop(L);

    IR.SetInsertPoint(L.Exit);
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
