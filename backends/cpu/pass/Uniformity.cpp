// SPDX-License-Identifier: MIT
// Which values are the same in every thread that computes them, and which blocks are run by all threads or none.
//
// A value is divergent if it comes from the thread's index, from private memory, from memory at a divergent address or
// from an operation with effects; if it is a phi where threads meet that took different ways; or if it leaves a loop
// that they leave in different rounds. What threads read at one address between two barriers is the same for all:
// otherwise another thread's store races with it.
//
// With units the question is the same for the lanes of one unit, and so are the answers, but that a place in the block
// without its lowest bits is the same for them.
#include "Marks.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
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

  static bool isMultiple(const Value *V, unsigned Plus = 0) {
    auto *C = dyn_cast<ConstantInt>(V);
    return C && ((C->getValue() + Plus).countr_zero() >= Log2_32(UnitLanes));
  }
  // Whether V / UnitLanes, rounded down, is the same in a unit.
  bool isCoarse(const Value *V) const {
    if (!K.Divergent.contains(V) || isMark(V, Mark::Rank))
      return true;
    if (isMark(V, Mark::X))
      return isMultiple(K.NX);
    const auto *I = dyn_cast<Instruction>(V);
    if (!I || I->getType()->getScalarSizeInBits() <= Log2_32(UnitLanes) || I->getType()->isVectorTy())
      return false;
    switch (I->getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
      return I->getOperand(0)->getType()->getScalarSizeInBits() > Log2_32(UnitLanes) && isCoarse(I->getOperand(0));
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
      return isCoarse(I->getOperand(0)) && isCoarse(I->getOperand(1));
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::URem:
      return isMultiple(I->getOperand(1)) && isCoarse(I->getOperand(0));
    default:
      return false;
    }
  }
  // Whether I follows from what is coarse in its operands, so that it is the same in a unit.
  bool isOfUnit(const Instruction &I) const {
    if (!K.Units || I.getType()->isVectorTy() || (!isa<BinaryOperator>(I) && !isa<ICmpInst>(I)))
      return false;
    const Value *Right = I.getOperand(1);
    const auto *C = dyn_cast<ConstantInt>(Right);
    if (!C || !isCoarse(I.getOperand(0)))
      return false;
    switch (I.getOpcode()) {
    case Instruction::LShr:
    case Instruction::AShr:
      return C->getValue().uge(Log2_32(UnitLanes));
    case Instruction::And:
      return isMultiple(Right);
    case Instruction::UDiv:
      return isMultiple(Right) && !C->isZero();
    case Instruction::ICmp:
      switch (cast<ICmpInst>(I).getPredicate()) {
      case CmpInst::ICMP_ULT:
      case CmpInst::ICMP_UGE:
      case CmpInst::ICMP_SLT:
      case CmpInst::ICMP_SGE:
        return isMultiple(Right);
      case CmpInst::ICMP_UGT:
      case CmpInst::ICMP_ULE:
      case CmpInst::ICMP_SGT:
      case CmpInst::ICMP_SLE:
        return isMultiple(Right, 1);
      default:
        return false;
      }
    default:
      return false;
    }
  }

  bool isDivergent(const Instruction &I) const {
    if (isThreadIndex(&I) || isa<AllocaInst>(I))
      return true;
    if (I.getParent() == K.Entry)
      return false; // computed once
    if (isMark(&I, Mark::Packed) || isMark(&I, Mark::Same) || isMark(&I, Mark::Value))
      return false;
    if (isMark(&I, Mark::Look))
      return !K.Units || !isUnitOperation(K, I);
    if (isMark(&I, Mark::Unit) || isOfUnit(I))
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

// The same value at the first lane of the unit.
class UnitValues {
  Kernel &K;
  FunctionCallee Unit;

  Value *atFirst(Value *V, Instruction *At) {
    if (!K.Divergent.contains(V))
      return V;
    IRBuilder<> IR(At);
    if (isMark(V, Mark::Rank))
      return IR.CreateCall(Unit);
    if (isMark(V, Mark::X))
      return IR.CreateURem(IR.CreateCall(Unit), K.NX);
    Instruction *C = cast<Instruction>(V)->clone();
    C->dropPoisonGeneratingFlags();
    for (Use &O : C->operands())
      O.set(atFirst(O.get(), At));
    C->insertInto(At->getParent(), At->getIterator());
    return C;
  }

public:
  explicit UnitValues(Kernel &K) : K(K) {
    LLVMContext &C = K.F.getContext();
    Unit = K.F.getParent()->getOrInsertFunction("cgx__mark_unit", Type::getInt32Ty(C));
    auto *F = cast<Function>(Unit.getCallee());
    F->setDoesNotAccessMemory();
    F->setDoesNotThrow();
    F->setWillReturn();
  }
  void run() {
    SmallVector<Instruction *, 16> Work;
    for (Instruction &I : instructions(K.F))
      if (I.getParent() != K.Entry && (isa<BinaryOperator>(I) || isa<ICmpInst>(I)) && !K.Divergent.contains(&I) &&
          K.Divergent.contains(I.getOperand(0)))
        Work.push_back(&I);
    for (Instruction *I : Work) {
      I->setOperand(0, atFirst(I->getOperand(0), I));
      I->dropPoisonGeneratingFlags(); // which spoke of the lane's
    }
  }
};
} // namespace

bool isUnitOperation(const Kernel &K, const Instruction &I) {
  const auto *C = dyn_cast<CallInst>(&I);
  if (!C || !K.Units || K.DivergentBlocks.contains(C->getParent()))
    return false;
  const bool Look = isMark(C, Mark::Look);
  if (!Look && (!isMark(C, Mark::Arrive) || !C->use_empty()))
    return false;
  for (unsigned A = 0; A < C->arg_size(); A++)
    if (A != (Look ? unsigned(LookRank) : unsigned(ArriveRank)) && K.Divergent.contains(C->getArgOperand(A)))
      return false;
  return true;
}

void rewriteForUnits(Kernel &K) { UnitValues(K).run(); }

void analyseUniformity(Kernel &K) {
  K.Divergent.clear();
  K.DivergentBlocks.clear();
  Analysis(K).run();
}

} // namespace cgx
