// SPDX-License-Identifier: MIT
// Values that live across boundaries. What is cheap to compute again from the thread's index is; the rest goes through
// slots: one for the block where the value is uniform, else one for each thread, in the frame.
#include "Debugging.h"
#include "Marks.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
using namespace llvm;

namespace cgx {

static bool isLeaf(const Kernel &K, const Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  return !I || isa<AllocaInst>(I) || isThreadIndex(I) || !K.Divergent.contains(I);
}

static bool fitsBudget(const Kernel &K, const Value *V, int &Budget) {
  if (isLeaf(K, V))
    return true;
  auto *I = cast<Instruction>(V);
  if (--Budget < 0 || (!isa<BinaryOperator>(I) && !isa<CastInst>(I) && !isa<GetElementPtrInst>(I) && !isa<CmpInst>(I) &&
                       !isa<SelectInst>(I)))
    return false;
  return all_of(I->operands(), [&](const Use &O) { return fitsBudget(K, O.get(), Budget); });
}

bool canRematerialise(const Kernel &K, const Value *V) {
  int Budget = 10; // instructions
  return fitsBudget(K, V, Budget);
}

namespace {
class Spiller {
  Kernel &K;
  DenseMap<Instruction *, Instruction *> PlaceOf; // whose slot a value has, if not its own
  DenseMap<Instruction *, AllocaInst *> Slots;

  // Is V alive at some boundary?
  bool crosses(Instruction *V) const {
    SmallPtrSet<BasicBlock *, 16> Seen;
    SmallVector<BasicBlock *, 16> LiveOut;
    bool Yes = false;
    auto LiveIn = [&](BasicBlock *B) {
      Yes |= K.BoundaryOf.count(B) != 0;
      LiveOut.append(pred_begin(B), pred_end(B));
    };
    for (Use &U : V->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (auto *P = dyn_cast<PHINode>(I))
        LiveOut.push_back(P->getIncomingBlock(U));
      else if (I->getParent() != V->getParent())
        LiveIn(I->getParent());
    }
    while (!LiveOut.empty() && !Yes) {
      BasicBlock *B = LiveOut.pop_back_val();
      if (B != V->getParent() && Seen.insert(B).second)
        LiveIn(B);
    }
    return Yes;
  }

  static Instruction *placeOf(Use &U) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *P = dyn_cast<PHINode>(I))
      return P->getIncomingBlock(U)->getTerminator();
    return I;
  }

  Value *clonedAt(Value *V, Instruction *At) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || isa<AllocaInst>(I) || (isLeaf(K, I) && !isThreadIndex(I)))
      return V;
    Instruction *C = I->clone();
    if (!isThreadIndex(I))
      for (Use &O : C->operands())
        O.set(clonedAt(O.get(), At));
    C->insertInto(At->getParent(), At->getIterator());
    K.Divergent.insert(C);
    return C;
  }
  void rematerialise(Instruction *I) {
    SmallVector<Use *, 8> Uses;
    for (Use &U : I->uses())
      Uses.push_back(&U);
    for (Use *U : Uses) {
      Instruction *At = placeOf(*U);
      if (At->getParent() != I->getParent() || isa<PHINode>(U->getUser()))
        U->set(clonedAt(I, At));
    }
    if (I->use_empty())
      I->eraseFromParent();
  }

  // Bits are kept as bytes: vectors of bits do not lie in memory one by one.
  void spill(Instruction *I) {
    const bool Uniform = !K.PerLane && !K.Divergent.contains(I);
    Type *T = I->getType(), *Kept = T->isIntegerTy(1) ? Type::getInt8Ty(T->getContext()) : T;
    IRBuilder<> IR(K.Entry, K.Entry->begin());
    Instruction *Of = PlaceOf.lookup(I) ? PlaceOf.lookup(I) : I;
    AllocaInst *&Slot = Slots[Of];
    const bool New = !Slot;
    if (New)
      Slot = IR.CreateAlloca(Kept, nullptr, I->getName() + ".slot");
    SmallVector<Use *, 8> Uses;
    for (Use &U : I->uses()) {
      auto *User = cast<Instruction>(U.getUser());
      if (User->getParent() != I->getParent() || isa<PHINode>(User))
        Uses.push_back(&U);
    }
    for (Use *U : Uses) {
      IR.SetInsertPoint(placeOf(*U));
      Instruction *Back = IR.CreateLoad(Kept, Slot);
      auto *Again = T == Kept ? Back : cast<Instruction>(IR.CreateTrunc(Back, T));
      sayAgain(I, Again);
      if (!Uniform) {
        K.Divergent.insert(Back);
        K.Divergent.insert(Again);
      }
      // A block that enters a phi several times enters it with one value.
      if (auto *P = dyn_cast<PHINode>(U->getUser()))
        for (unsigned J = 0; J < P->getNumIncomingValues(); J++)
          if (P->getIncomingBlock(J) == P->getIncomingBlock(*U) && &P->getOperandUse(J) != U &&
              P->getIncomingValue(J) == I)
            P->setIncomingValue(J, Again);
      if (U->get() == I)
        U->set(Again);
    }
    IR.SetInsertPoint(isa<PHINode>(I) ? &*I->getParent()->getFirstInsertionPt() : I->getNextNode());
    Value *V = T == Kept ? I : IR.CreateZExt(I, Kept);
    if (!Uniform)
      K.Divergent.insert(V);
    IR.CreateStore(V, Slot);
    if (New)
      (Uniform ? K.UniformSlots : K.ThreadSlots).push_back(Slot);
    K.SlotOf[I] = Slot;
  }

  // Is P used behind V, before it is what a round of the loop brings?
  bool usedBehind(Instruction *P, Instruction *V) const {
    SmallPtrSet<BasicBlock *, 16> Behind;
    SmallVector<BasicBlock *, 16> Work(successors(V->getParent()));
    while (!Work.empty()) {
      BasicBlock *B = Work.pop_back_val();
      if (B != P->getParent() && Behind.insert(B).second)
        Work.append(succ_begin(B), succ_end(B));
    }
    return any_of(P->uses(), [&](Use &U) {
      const Instruction *At = placeOf(U);
      return Behind.contains(At->getParent()) ||
             (At->getParent() == V->getParent() && (isa<PHINode>(U.getUser()) || V->comesBefore(At)));
    });
  }
  // What a loop brings up to date goes on in the place of what it was. Where P begins such a value cannot be alive,
  // since P dominates it.
  void shareSlots(ArrayRef<Instruction *> Kept) {
    const DominatorTree DT(K.F);
    for (Instruction *I : Kept)
      if (auto *P = dyn_cast<PHINode>(I); P && K.Divergent.contains(P) && !K.Debugged)
        for (Value *V : P->incoming_values())
          if (auto *By = dyn_cast<Instruction>(V); By && By != P && !isa<PHINode>(By) && K.Divergent.contains(By) &&
                                                   is_contained(Kept, By) && !PlaceOf.count(By) &&
                                                   DT.dominates(P, By) && !usedBehind(P, By)) {
            PlaceOf[By] = P;
            break;
          }
  }
  // A merge that a loop goes on with, and what is merged in it, go on in the loop value's place too: no value of them
  // is asked for while another is in it.
  void shareMerges(ArrayRef<Instruction *> Kept) {
    const DominatorTree DT(K.F);
    auto Fits = [&](Instruction *V, PHINode *P, ArrayRef<Instruction *> There) {
      return V != P && K.Divergent.contains(V) && is_contained(Kept, V) && !PlaceOf.count(V) && DT.dominates(P, V) &&
             all_of(There, [&](Instruction *X) { return !usedBehind(X, V) && (X == P || !usedBehind(V, X)); });
    };
    for (Instruction *I : Kept) {
      auto *P = dyn_cast<PHINode>(I);
      if (!P || !K.Divergent.contains(P) || PlaceOf.count(P) ||
          any_of(PlaceOf, [&](const auto &Of) { return Of.second == P; }))
        continue;
      for (Value *V : P->incoming_values()) {
        auto *M = dyn_cast<PHINode>(V);
        if (!M || !Fits(M, P, {P}) || is_contained(successors(M->getParent()), M->getParent()))
          continue;
        SmallVector<Instruction *, 4> There{P, M};
        PlaceOf[M] = P;
        for (Value *In : M->incoming_values())
          if (auto *By = dyn_cast<Instruction>(In); By && !isa<PHINode>(By) && By->hasOneUse() && Fits(By, P, There)) {
            PlaceOf[By] = P;
            There.push_back(By);
          }
        break;
      }
    }
  }

public:
  explicit Spiller(Kernel &K) : K(K) {}
  void run() {
    SmallVector<Instruction *, 16> Work;
    for (Instruction &I : instructions(K.F))
      if (isThreadIndex(&I))
        Work.push_back(&I);
    for (Instruction *I : Work)
      rematerialise(I);
    Work.clear();
    for (Instruction &I : instructions(K.F)) {
      if (I.getParent() != K.Entry && K.Divergent.contains(&I) && !isThreadIndex(&I) && !isa<AllocaInst>(I) &&
          canRematerialise(K, &I) && crosses(&I))
        Work.push_back(&I);
    }
    for (Instruction *I : reverse(Work))
      if (crosses(I)) {
        rematerialise(I);
        K.Rematerialised++;
      }
    Work.clear();
    for (Instruction &I : instructions(K.F))
      if (I.getParent() != K.Entry && !I.getType()->isVoidTy() && crosses(&I))
        Work.push_back(&I);
    shareSlots(Work);
    if (K.Units)
      shareMerges(Work);
    for (Instruction *I : Work)
      spill(I);
  }
};
} // namespace

void spillAcrossBoundaries(Kernel &K) { Spiller(K).run(); }

} // namespace cgx
