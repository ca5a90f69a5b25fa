// SPDX-License-Identifier: MIT
// Which values are the same in every thread that computes them, and which blocks are run by all threads or none.
//
// A value is divergent if it comes from the thread's index, from private memory, from memory at a divergent address or
// from an operation with effects; if it is a phi where threads meet that took different ways; or if it leaves a loop
// that they leave in different rounds. What threads read at one address between two barriers is the same for all:
// otherwise another thread's store races with it.
#include "Marks.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
using namespace llvm;

namespace cgx {

namespace {
class Analysis {
  Kernel &K;
  DominatorTree DT;
  LoopInfo LI;
  PostDominatorTree PDT;
  bool Changed = true;

  void mark(const Value *V) {
    if (K.Divergent.insert(V).second)
      Changed = true;
  }

  bool isDivergent(const Instruction &I) const {
    if (isThreadIndex(&I) || isa<AllocaInst>(I))
      return true;
    if (I.getParent() == K.Entry)
      return false; // computed once
    if (isMark(&I, Mark::Packed) || isMark(&I, Mark::Same) || isMark(&I, Mark::Value))
      return false;
    if (const auto *L = dyn_cast<LoadInst>(&I); L && !L->isSimple())
      return true;
    if (isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I))
      return true;
    if (const auto *C = dyn_cast<CallBase>(&I); C && !C->doesNotAccessMemory())
      return true;
    return any_of(I.operands(), [&](const Use &U) { return K.Divergent.contains(U.get()); });
  }

  // Threads part at the end of B: everything up to where they meet again is run by some of them.
  void markBranch(BasicBlock *B) {
    const auto *Node = PDT[B];
    BasicBlock *Join = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
    SmallVector<BasicBlock *, 16> Work(successors(B));
    SmallPtrSet<BasicBlock *, 16> Seen;
    while (!Work.empty()) {
      BasicBlock *X = Work.pop_back_val();
      if (!Seen.insert(X).second)
        continue;
      for (PHINode &P : X->phis())
        if (!P.hasConstantValue())
          mark(&P);
      if (X == Join)
        continue;
      if (K.DivergentBlocks.insert(X).second)
        Changed = true;
      Work.append(succ_begin(X), succ_end(X));
    }
    for (Loop *L = LI.getLoopFor(B); L; L = L->getParentLoop())
      if (!Join || !L->contains(Join))
        for (BasicBlock *X : L->blocks())
          for (Instruction &V : *X)
            for (User *U : V.users())
              if (!L->contains(cast<Instruction>(U)->getParent()))
                mark(&V);
  }

public:
  explicit Analysis(Kernel &K) : K(K), DT(K.F), LI(DT), PDT(K.F) {}
  void run() {
    while (Changed) {
      Changed = false;
      for (Instruction &I : instructions(K.F)) {
        if (!I.isTerminator() && isDivergent(I))
          mark(&I);
        if (I.isTerminator() && I.getNumSuccessors() > 1 && K.Divergent.contains(I.getOperand(0)))
          markBranch(I.getParent());
      }
    }
  }
};
} // namespace

void analyseUniformity(Kernel &K) {
  K.Divergent.clear();
  K.DivergentBlocks.clear();
  Analysis(K).run();
}

} // namespace cgx
