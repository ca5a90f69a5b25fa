// SPDX-License-Identifier: MIT
// Where regions end: at marks, and around branches that all threads take together and that lead to different marks, so
// that such a branch is taken once for the block and not in the loop over its threads. And behind what is the same for
// all threads where a region begins: computed once, it is no value that a loop over the lanes hands on.
#include "Lanes.h"
#include "Marks.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
using namespace llvm;

namespace cgx {

static void addBoundary(Kernel &K, BasicBlock *Block, BasicBlock *After, CallInst *Step) {
  K.BoundaryOf[Block] = K.Boundaries.size();
  K.Boundaries.push_back({Block, After, Step});
}

void splitAtMarks(Kernel &K) {
  SmallVector<CallInst *, 8> Steps;
  for (Instruction &I : instructions(K.F))
    if (isMark(&I, Mark::Step))
      Steps.push_back(cast<CallInst>(&I));
  for (CallInst *C : Steps) {
    BasicBlock *Block = C->getParent()->splitBasicBlock(C, "wait");
    BasicBlock *After = Block->splitBasicBlock(C->getNextNode(), "after");
    addBoundary(K, Block, After, C);
  }
}

void splitAtUnitOperations(Kernel &K) {
  SmallVector<CallInst *, 8> Operations;
  for (Instruction &I : instructions(K.F))
    if (isUnitOperation(K, I))
      Operations.push_back(cast<CallInst>(&I));
  for (CallInst *C : Operations) {
    BasicBlock *Front = C->getParent()->splitBasicBlock(C, "front");
    BasicBlock *Block = Front->splitBasicBlock(C, "operation");
    BasicBlock *Behind = Block->splitBasicBlock(C->getNextNode(), "done");
    BasicBlock *After = Behind->splitBasicBlock(Behind->begin(), "after");
    addBoundary(K, Front, Block, nullptr);
    addBoundary(K, Behind, After, nullptr);
  }
}

// The boundaries that threads can come to next from each block; the last bit stands for their end.
static DenseMap<BasicBlock *, BitVector> nextBoundaries(const Kernel &K) {
  const unsigned Bits = K.Boundaries.size() + 1;
  DenseMap<BasicBlock *, BitVector> Next;
  for (BasicBlock &B : K.F)
    Next[&B] = BitVector(Bits);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (BasicBlock &B : K.F) {
      BitVector Now = Next[&B];
      auto At = K.BoundaryOf.find(&B);
      if (At != K.BoundaryOf.end())
        Now.set(At->second);
      else if (isa<ReturnInst>(B.getTerminator()))
        Now.set(Bits - 1);
      else
        for (BasicBlock *S : successors(&B))
          Now |= Next[S];
      if (Now != Next[&B]) {
        Next[&B] = Now;
        Changed = true;
      }
    }
  }
  return Next;
}

void splitAtUniformBranches(Kernel &K) {
  auto Next = nextBoundaries(K);
  SmallVector<BasicBlock *, 8> Branches;
  for (BasicBlock &B : K.F) {
    const Instruction *T = B.getTerminator();
    if (&B == K.Entry || T->getNumSuccessors() < 2 || K.DivergentBlocks.contains(&B) ||
        K.Divergent.contains(T->getOperand(0)))
      continue;
    BasicBlock *First = T->getSuccessor(0);
    if (any_of(successors(&B), [&](BasicBlock *S) { return Next[S] != Next[First]; }))
      Branches.push_back(&B);
  }
  for (BasicBlock *B : Branches) {
    BasicBlock *Block = B->splitBasicBlock(B->getTerminator(), "part");
    BasicBlock *After = Block->splitBasicBlock(Block->getTerminator(), "branch");
    addBoundary(K, Block, After, nullptr);
    Instruction *T = After->getTerminator();
    SmallPtrSet<BasicBlock *, 4> Done;
    for (unsigned I = 0; I < T->getNumSuccessors(); I++) {
      BasicBlock *S = T->getSuccessor(I);
      if (!Done.insert(S).second)
        continue;
      BasicBlock *Way = BasicBlock::Create(K.F.getContext(), "way", &K.F, S);
      BasicBlock *Behind = BasicBlock::Create(K.F.getContext(), "behind", &K.F, S);
      BranchInst::Create(Behind, Way);
      BranchInst::Create(S, Behind);
      // A block may be the target of several cases: they become one edge.
      for (PHINode &P : S->phis()) {
        Value *V = P.getIncomingValueForBlock(After);
        while (P.getBasicBlockIndex(After) >= 0)
          P.removeIncomingValue(After, false);
        P.addIncoming(V, Behind);
      }
      for (unsigned J = I; J < T->getNumSuccessors(); J++)
        if (T->getSuccessor(J) == S)
          T->setSuccessor(J, Way);
      Done.insert(Way);
      addBoundary(K, Way, Behind, nullptr);
    }
  }
}

void splitAtJoins(Kernel &K) {
  for (BasicBlock *Join = K.Start; Join;) {
    Join = nullptr;
    DenseMap<BasicBlock *, unsigned> Regions; // how many a block is in
    for (unsigned I = 0; I <= K.Boundaries.size(); I++)
      for (BasicBlock *B : regionFrom(K, I ? K.Boundaries[I - 1].After : K.Start).Blocks)
        Regions[B]++;
    for (BasicBlock &B : K.F) {
      const BasicBlock *Next = B.getSingleSuccessor();
      if (Regions.lookup(&B) > 1 && (K.PerLane || !K.DivergentBlocks.contains(&B)) &&
          !(Next && K.BoundaryOf.count(Next)) &&
          any_of(predecessors(&B), [&](BasicBlock *P) { return Regions.lookup(P) < Regions.lookup(&B); }))
        Join = &B;
    }
    if (Join) {
      BasicBlock *Block = Join->splitBasicBlock(Join->getFirstNonPHIIt(), "join");
      addBoundary(K, Block, Block->splitBasicBlock(Block->begin(), "joined"), nullptr);
    }
  }
}

// Computes the same for all threads and could be done by none.
static bool isCommon(const Kernel &K, const Instruction &I) {
  return !K.Divergent.contains(&I) && !I.isTerminator() && !isa<PHINode>(I) && markOf(&I) == Mark::None &&
         !I.mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(&I) &&
         none_of(I.operands(), [&](const Use &O) { return K.Divergent.contains(O.get()); });
}

// The place behind what is common at the begin of B, after as much of it as possible has been moved there; null:
// nothing is.
static Instruction *endOfCommon(const Kernel &K, BasicBlock *B) {
  Instruction *End = nullptr;
  SmallPtrSet<Instruction *, 16> Behind;
  bool Any = any_of(B->phis(), [&](PHINode &P) { return !K.Divergent.contains(&P); });
  if (any_of(B->phis(), [&](PHINode &P) { return K.Divergent.contains(&P); }))
    return nullptr;
  for (Instruction &I : make_early_inc_range(make_range(B->getFirstNonPHIIt(), B->end()))) {
    const bool Common = isCommon(K, I) && none_of(I.operands(), [&](const Use &O) {
                          auto *Of = dyn_cast<Instruction>(O.get());
                          return Of && Behind.contains(Of);
                        });
    if (!Common) {
      End = End ? End : &I;
      Behind.insert(&I);
      continue;
    }
    Any = true;
    if (End)
      I.moveBefore(*End->getParent(), End->getIterator());
  }
  return Any ? End : nullptr;
}

void splitAtCommon(Kernel &K) {
  SmallVector<BasicBlock *, 16> Starts;
  for (const Boundary &B : K.Boundaries)
    Starts.push_back(B.After);
  SmallPtrSet<BasicBlock *, 16> Seen;
  for (BasicBlock *B : Starts) {
    // Blocks that hold nothing lead to the one where a loop begins.
    while (B->size() == 1 && B->getSingleSuccessor() && !K.BoundaryOf.count(B->getSingleSuccessor()))
      if (!Seen.insert(B).second)
        break;
      else
        B = B->getSingleSuccessor();
    if (K.DivergentBlocks.contains(B) || K.BoundaryOf.count(B) || B == K.Entry || !Seen.insert(B).second)
      continue;
    Instruction *End = endOfCommon(K, B);
    if (!End || isa<ReturnInst>(End) || (End->isTerminator() && !K.Divergent.contains(End->getOperand(0))))
      continue;
    BasicBlock *Block = B->splitBasicBlock(End, "common");
    BasicBlock *After = Block->splitBasicBlock(Block->getFirstNonPHIIt(), "rest");
    addBoundary(K, Block, After, nullptr);
  }
}

} // namespace cgx
