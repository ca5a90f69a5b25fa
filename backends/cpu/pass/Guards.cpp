// SPDX-License-Identifier: MIT
#include "Guards.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"
using namespace llvm;
using namespace llvm::PatternMatch;

namespace cgx {

bool Guard::oneLane() const {
  return any_of(Conditions, [](const RangeCondition &C) {
    return !C.Mask && C.Predicate == CmpInst::ICMP_EQ && (C.Index == Mark::X || C.Index == Mark::Rank);
  });
}
uint32_t Guard::step() const {
  for (const RangeCondition &C : Conditions)
    if (C.Mask)
      return C.Mask + 1;
  return 1;
}
static bool bounds(const RangeCondition &C, bool Above) {
  if (C.Index != Mark::X && C.Index != Mark::Rank)
    return true; // makes the range empty
  return C.Predicate == CmpInst::ICMP_EQ ||
         (Above ? C.Predicate == CmpInst::ICMP_SLT || C.Predicate == CmpInst::ICMP_SLE
                : C.Predicate == CmpInst::ICMP_SGT || C.Predicate == CmpInst::ICMP_SGE);
}
bool Guard::toEnd() const {
  return none_of(Conditions, [](const RangeCondition &C) { return bounds(C, true); });
}
bool Guard::fromBegin() const {
  return none_of(Conditions, [](const RangeCondition &C) {
    return (C.Index == Mark::X || C.Index == Mark::Rank) && bounds(C, false);
  });
}

// V as a thread's index plus uniform values, none of which wraps.
static bool asIndex(const Kernel &K, Value *V, RangeCondition &C) {
  Value *A, *B;
  if (isThreadIndex(V)) {
    C.Index = markOf(V);
    return true;
  }
  if (match(V, m_SExt(m_Value(A))) || match(V, m_NNegZExt(m_Value(A))) ||
      (match(V, m_ZExt(m_Value(A))) && isThreadIndex(A)))
    return asIndex(K, A, C);
  const bool Sum = match(V, m_NSWAdd(m_Value(A), m_Value(B))) ||
                   (match(V, m_Or(m_Value(A), m_Value(B))) && cast<PossiblyDisjointInst>(V)->isDisjoint());
  if (!Sum)
    return false;
  if (!K.Divergent.contains(A))
    std::swap(A, B);
  if (K.Divergent.contains(B))
    return false;
  C.Offsets.push_back(B);
  return asIndex(K, A, C);
}

static bool asCondition(const Kernel &K, Value *V, bool Holds, RangeCondition &C) {
  auto *Compare = dyn_cast<ICmpInst>(V);
  if (!Compare || !Compare->getOperand(0)->getType()->isIntegerTy())
    return false;
  C.Predicate = Holds ? Compare->getPredicate() : Compare->getInversePredicate();
  Value *Index = Compare->getOperand(0);
  C.Bound = Compare->getOperand(1);
  if (!K.Divergent.contains(Index)) {
    std::swap(Index, C.Bound);
    C.Predicate = CmpInst::getSwappedPredicate(C.Predicate);
  }
  C.Offsets.clear();
  const APInt *Low;
  Value *Masked;
  if (C.Predicate == CmpInst::ICMP_EQ && match(Index, m_And(m_Value(Masked), m_APInt(Low))) && Low->isMask() &&
      Low->getActiveBits() < 10 && !K.Divergent.contains(C.Bound)) {
    if (auto *Cast = dyn_cast<CastInst>(Masked))
      Masked = Cast->getOperand(0);
    C.Index = markOf(Masked);
    C.Mask = Low->getZExtValue();
    C.ZeroExtended = false;
    return C.Index == Mark::X || C.Index == Mark::Rank;
  }
  C.ZeroExtended = CmpInst::isUnsigned(C.Predicate);
  if (K.Divergent.contains(C.Bound) || !asIndex(K, Index, C) || C.Predicate == CmpInst::ICMP_NE)
    return false;
  if (C.ZeroExtended) { // an index is not negative, a sum can be
    if (!C.Offsets.empty())
      return false;
    C.Predicate = ICmpInst::getSignedPredicate(C.Predicate);
  }
  return true;
}

static bool asConditions(const Kernel &K, Value *V, bool Holds, Guard &G) {
  Value *A, *B;
  if (match(V, m_Not(m_Value(A))))
    return asConditions(K, A, !Holds, G);
  if (Holds ? match(V, m_LogicalAnd(m_Value(A), m_Value(B))) : match(V, m_LogicalOr(m_Value(A), m_Value(B))))
    return asConditions(K, A, Holds, G) && asConditions(K, B, Holds, G);
  RangeCondition C;
  if (!asCondition(K, V, Holds, C) || (C.Mask && G.step() > 1))
    return false;
  G.Conditions.push_back(C);
  return true;
}

bool findGuard(const Kernel &K, BasicBlock *B, Guard &G) {
  auto *Branch = dyn_cast<BranchInst>(B->getTerminator());
  if (!Branch || !Branch->isConditional() || !K.Divergent.contains(Branch->getCondition()) ||
      Branch->getSuccessor(0) == Branch->getSuccessor(1))
    return false;
  G.Branch = Branch;
  for (unsigned Way : {0u, 1u}) {
    G.Conditions.clear();
    G.Inside = Way;
    if (asConditions(K, Branch->getCondition(), Way == 0, G))
      return true;
  }
  return false;
}

// ---- bounds in front of a region ----

namespace {
class Bounds {
  const Kernel &K;
  const Region &R;

  // Whether lanes come from From to To inside the region, on ways around Through.
  bool reaches(ArrayRef<BasicBlock *> From, BasicBlock *To, BasicBlock *Through) const {
    SmallVector<BasicBlock *, 8> Work(From);
    SmallPtrSet<BasicBlock *, 16> Seen;
    while (!Work.empty()) {
      BasicBlock *B = Work.pop_back_val();
      if (B == Through || !R.Inside.contains(B) || !Seen.insert(B).second)
        continue;
      if (B == To)
        return true;
      Work.append(succ_begin(B), succ_end(B));
    }
    return false;
  }
  // The slot's value where L reads it: Stored, or, null, what it was before the region. False if that is not known.
  bool slotAt(LoadInst *L, Value *&Stored) const {
    auto *Slot = cast<AllocaInst>(L->getPointerOperand());
    StoreInst *Only = nullptr;
    for (User *U : Slot->users())
      if (auto *S = dyn_cast<StoreInst>(U); S && R.Inside.contains(S->getParent())) {
        if (Only)
          return false;
        Only = S;
      }
    Stored = nullptr;
    if (!Only)
      return true;
    BasicBlock *Stores = Only->getParent(), *Reads = L->getParent();
    const bool Same = Stores == Reads, First = Same && Only->comesBefore(L);
    SmallVector<BasicBlock *, 4> Behind(successors(Stores));
    if (!First && !reaches(Behind, Reads, nullptr))
      return true; // the store comes later
    if (!First && (Same || reaches({R.Start}, Reads, Stores)))
      return false;
    Stored = Only->getValueOperand();
    return true;
  }
  static Value *onlyIncoming(const Region &R, PHINode *P) {
    Value *V = nullptr;
    for (unsigned I = 0; I < P->getNumIncomingValues(); I++)
      if (R.Inside.contains(P->getIncomingBlock(I))) {
        if (V && V != P->getIncomingValue(I))
          return nullptr;
        V = P->getIncomingValue(I);
      }
    return V;
  }

public:
  Bounds(const Kernel &K, const Region &R) : K(K), R(R) {}
  // V in front of the region; with IR it is emitted there.
  Value *before(Value *V, IRBuilder<> *IR, int &Budget) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || I->getParent() == K.Entry)
      return V;
    if (--Budget < 0 || K.Divergent.contains(I))
      return nullptr;
    if (!R.Inside.contains(I->getParent()))
      return nullptr;
    if (auto *P = dyn_cast<PHINode>(I)) {
      Value *From = onlyIncoming(R, P);
      return From ? before(From, IR, Budget) : nullptr;
    }
    if (auto *L = dyn_cast<LoadInst>(I)) {
      Value *Stored = nullptr;
      if (!is_contained(K.UniformSlots, L->getPointerOperand()) || !slotAt(L, Stored))
        return nullptr;
      if (Stored)
        return before(Stored, IR, Budget);
      return IR ? IR->CreateLoad(L->getType(), L->getPointerOperand()) : V;
    }
    if ((!isa<BinaryOperator>(I) && !isa<CastInst>(I) && !isa<SelectInst>(I) && !isa<CmpInst>(I)) ||
        !isSafeToSpeculativelyExecute(I))
      return nullptr;
    SmallVector<Value *, 3> Operands;
    for (Value *O : I->operands()) {
      Operands.push_back(before(O, IR, Budget));
      if (!Operands.back())
        return nullptr;
    }
    if (!IR)
      return V;
    Instruction *C = I->clone();
    for (unsigned O = 0; O < Operands.size(); O++)
      C->setOperand(O, Operands[O]);
    return IR->Insert(C);
  }
};
} // namespace

enum { BoundAtMost = 24 }; // instructions

static bool known(const Kernel &K, const Region &R, const Guard &G) {
  const Bounds At(K, R);
  int Budget = BoundAtMost;
  return all_of(G.Conditions, [&](const RangeCondition &C) {
    return At.before(C.Bound, nullptr, Budget) &&
           all_of(C.Offsets, [&](Value *V) { return At.before(V, nullptr, Budget) != nullptr; });
  });
}

// Something in the block cannot be done by lanes that would not have come to it.
static bool needsBranch(const BasicBlock *B) {
  return any_of(*B, [](const Instruction &I) {
    return !I.isTerminator() && !isa<PHINode>(I) && markOf(&I) == Mark::None && !isSafeToSpeculativelyExecute(&I);
  });
}

// Blocks that lanes can come to which go Ways.
static SmallVector<BasicBlock *, 8> blocksOn(const Region &R, ArrayRef<Way> Ways) {
  SmallPtrSet<BasicBlock *, 8> Seen;
  SmallVector<BasicBlock *, 8> Work{R.Start}, On;
  while (!Work.empty()) {
    BasicBlock *B = Work.pop_back_val();
    if (!R.Inside.contains(B) || !Seen.insert(B).second)
      continue;
    On.push_back(B);
    const Way *Known = find_if(Ways, [&](const Way &W) { return W.G.Branch->getParent() == B; });
    if (Known != Ways.end())
      Work.push_back(Known->G.Branch->getSuccessor(Known->Successor));
    else
      Work.append(succ_begin(B), succ_end(B));
  }
  return On;
}

bool idles(const Region &R, ArrayRef<Way> Ways) {
  return R.Exits.size() + R.Returns == 1 && none_of(blocksOn(R, Ways), [](const BasicBlock *B) {
           return any_of(*B, [](const Instruction &I) { return I.mayHaveSideEffects(); });
         });
}

bool chooseGuard(const Kernel &K, const Region &R, ArrayRef<Way> Ways, Guard &G) {
  for (BasicBlock *B : blocksOn(R, Ways)) {
    if (any_of(Ways, [&](const Way &W) { return W.G.Branch->getParent() == B; }) || !findGuard(K, B, G) ||
        !known(K, R, G))
      continue;
    if (G.step() > 1 && (!Ways.empty() || !idles(R, Way{G, 1 - G.Inside})))
      continue;
    for (BasicBlock *S : successors(B))
      if (R.Inside.contains(S) && needsBranch(S))
        return true;
    // One side is nothing at all.
    if (any_of(successors(B), [&](BasicBlock *S) { return !R.Inside.contains(S); }))
      return true;
  }
  return false;
}

namespace {
// What conditions leave of the places from Begin to End - 1.
struct Places {
  IRBuilder<> &IR;
  Value *End, *Low, *High;
  Places(IRBuilder<> &IR, Value *Begin, Value *N)
      : IR(IR), End(IR.CreateZExt(N, IR.getInt64Ty())),
        Low(Begin ? IR.CreateZExt(Begin, IR.getInt64Ty()) : IR.getInt64(0)), High(End) {}
  Value *least(Value *A, Value *B) { return IR.CreateBinaryIntrinsic(Intrinsic::smin, A, B); }
  Value *largest(Value *A, Value *B) { return IR.CreateBinaryIntrinsic(Intrinsic::smax, A, B); }
  void restrict(CmpInst::Predicate P, Value *B) {
    Value *Behind = IR.CreateAdd(B, IR.getInt64(1));
    switch (P) {
    case CmpInst::ICMP_SLT:
      High = least(High, B);
      break;
    case CmpInst::ICMP_SLE:
      High = least(High, Behind);
      break;
    case CmpInst::ICMP_SGT:
      Low = largest(Low, Behind);
      break;
    case CmpInst::ICMP_SGE:
      Low = largest(Low, B);
      break;
    default:
      Low = largest(Low, B);
      High = least(High, Behind);
      break;
    }
  }
  std::pair<Value *, Value *> range() {
    Low = least(Low, End);
    High = largest(least(High, End), Low); // a row that is not meant has made it what Low was
    return {IR.CreateTrunc(Low, IR.getInt32Ty()), IR.CreateTrunc(High, IR.getInt32Ty())};
  }
};
} // namespace

// What the index is compared with, all but the index on the other side.
static Value *boundOf(const Bounds &At, const RangeCondition &C, IRBuilder<> &IR) {
  Type *I64 = IR.getInt64Ty();
  int Budget = BoundAtMost;
  Value *B = At.before(C.Bound, &IR, Budget);
  B = C.ZeroExtended ? IR.CreateZExt(B, I64) : IR.CreateSExt(B, I64);
  for (Value *V : C.Offsets)
    B = IR.CreateSub(B, IR.CreateSExt(At.before(V, &IR, Budget), I64));
  return B;
}

LaneRows emitRows(const Kernel &K, const Region &R, const Guard &G, IRBuilder<> &IR) {
  if (none_of(G.Conditions, [](const RangeCondition &C) { return C.Index == Mark::Y; }))
    return {};
  const Bounds At(K, R);
  Places Rows(IR, nullptr, K.NY);
  for (const RangeCondition &C : G.Conditions)
    if (C.Index == Mark::Y)
      Rows.restrict(C.Predicate, boundOf(At, C, IR));
  const auto [Begin, End] = Rows.range();
  return {Begin, End};
}

std::pair<Value *, Value *> emitRange(const Kernel &K, const Region &R, const Guard &G, const LaneLoop &L, Value *From,
                                      Value *To, bool OfRows, IRBuilder<> &IR) {
  const Bounds At(K, R);
  Type *I64 = IR.getInt64Ty();
  Places Lanes(IR, From, To ? To : K.NX);
  bool Any = false;
  for (const RangeCondition &C : G.Conditions) {
    if (C.Mask || (C.Index == Mark::Y && OfRows))
      continue;
    Any = true;
    Value *B = boundOf(At, C, IR);
    if (C.Index == Mark::Y || C.Index == Mark::Z) {
      Value *Place = IR.CreateZExt(C.Index == Mark::Y ? L.Y : L.Z, I64);
      Lanes.High = IR.CreateSelect(IR.CreateICmp(C.Predicate, Place, B), Lanes.High, Lanes.Low);
      continue;
    }
    if (C.Index == Mark::Rank)
      B = IR.CreateSub(B, IR.CreateZExt(L.First, I64));
    Lanes.restrict(C.Predicate, B);
  }
  for (const RangeCondition &C : G.Conditions)
    if (C.Mask) { // the first lane from Low on; none, if Bound is larger than the mask
      Any = true;
      int Budget = BoundAtMost;
      Value *Bound = IR.CreateZExtOrTrunc(At.before(C.Bound, &IR, Budget), I64), *From = Lanes.Low;
      if (C.Index == Mark::Rank)
        From = IR.CreateAdd(From, IR.CreateZExt(L.First, I64));
      Value *First = IR.CreateAdd(Lanes.Low, IR.CreateAnd(IR.CreateSub(Bound, From), IR.getInt64(C.Mask)));
      Lanes.Low = IR.CreateSelect(IR.CreateICmpULE(Bound, IR.getInt64(C.Mask)), First, Lanes.End);
    }
  if (!Any)
    return {From, To};
  return Lanes.range();
}

// ---- regions around a branch ----

namespace {
class GuardSplitter {
  Kernel &K;

  // Would a value have to be kept for each thread, if regions ended at B's end and at Join?
  bool keepsValues(const Region &R, const SmallPtrSetImpl<BasicBlock *> &Then, BasicBlock *Join) const {
    auto PartOf = [&](BasicBlock *X) { return Then.contains(X) ? 1 : isAfter(R, Join, X) ? 2 : 0; };
    for (BasicBlock *X : R.Blocks)
      for (Instruction &I : *X) {
        if (!K.Divergent.contains(&I) || I.getType()->isVoidTy() || canRematerialise(K, &I))
          continue;
        for (User *U : I.users()) {
          BasicBlock *At = cast<Instruction>(U)->getParent();
          if (R.Inside.contains(At) && PartOf(At) != PartOf(X))
            return true;
        }
      }
    return false;
  }
  static bool isAfter(const Region &R, BasicBlock *Join, BasicBlock *To) {
    SmallVector<BasicBlock *, 8> Work{Join};
    SmallPtrSet<BasicBlock *, 16> Seen;
    while (!Work.empty()) {
      BasicBlock *B = Work.pop_back_val();
      if (!R.Inside.contains(B) || !Seen.insert(B).second)
        continue;
      if (B == To)
        return true;
      Work.append(succ_begin(B), succ_end(B));
    }
    return false;
  }
  void addBoundary(BasicBlock *Block, BasicBlock *After) {
    K.BoundaryOf[Block] = K.Boundaries.size();
    K.Boundaries.push_back({Block, After, nullptr});
  }
  // True: something was split, and what is known of the function's shape is out of date.
  bool splitOne(SmallPtrSetImpl<BasicBlock *> &Seen) {
    PostDominatorTree PDT(K.F);
    DominatorTree DT(K.F);
    LoopInfo LI(DT);
    SmallVector<BasicBlock *, 16> Starts{K.Start};
    for (const Boundary &B : K.Boundaries)
      Starts.push_back(B.After);
    for (BasicBlock *Start : Starts) {
      const Region R = regionFrom(K, Start);
      for (BasicBlock *B : R.Blocks) {
        Guard G;
        if (K.DivergentBlocks.contains(B) || Seen.contains(B) || !findGuard(K, B, G))
          continue;
        const auto *Node = PDT[B];
        BasicBlock *Join = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
        BasicBlock *Then = G.Branch->getSuccessor(G.Inside);
        if (!Join || (!R.Inside.contains(Join) && !K.BoundaryOf.count(Join)) || K.DivergentBlocks.contains(Join) ||
            Join == Then || G.Branch->getSuccessor(1 - G.Inside) != Join || !Join->phis().empty())
          continue;
        if (Loop *L = LI.getLoopFor(B))
          if (none_of(K.Boundaries, [&](const Boundary &X) { return L->contains(X.Block); }))
            continue;
        SmallPtrSet<BasicBlock *, 8> Inside;
        SmallVector<BasicBlock *, 8> Work{Then};
        bool Closed = true;
        while (!Work.empty()) {
          BasicBlock *X = Work.pop_back_val();
          if (X == Join || !Inside.insert(X).second)
            continue;
          Closed &= R.Inside.contains(X);
          Work.append(succ_begin(X), succ_end(X));
        }
        if (!Closed || none_of(Inside, [](BasicBlock *X) { return needsBranch(X); }))
          continue;
        bool Before = false, Behind = false;
        for (BasicBlock *X : R.Blocks)
          if (!Inside.contains(X) && needsBranch(X))
            (isAfter(R, Join, X) ? Behind : Before) = true;
        if ((!Before && !Behind) || keepsValues(R, Inside, Join))
          continue;
        if (Before) {
          BasicBlock *Block = B->splitBasicBlock(B->getTerminator(), "guard");
          BasicBlock *After = Block->splitBasicBlock(Block->getTerminator(), "guarded");
          addBoundary(Block, After);
          Seen.insert(After);
        } else {
          Seen.insert(B);
        }
        if (Behind) {
          BasicBlock *After = Join->splitBasicBlock(Join->begin(), "unguarded");
          addBoundary(Join, After); // Join holds nothing now
        }
        return true;
      }
    }
    return false;
  }

public:
  explicit GuardSplitter(Kernel &K) : K(K) {}
  void run() {
    enum { AtMost = 16 };
    SmallPtrSet<BasicBlock *, 16> Seen;
    for (int I = 0; I < AtMost && splitOne(Seen); I++)
      ;
  }
};
} // namespace

void splitAtGuards(Kernel &K) { GuardSplitter(K).run(); }

} // namespace cgx
