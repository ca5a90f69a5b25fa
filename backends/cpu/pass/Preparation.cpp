// SPDX-License-Identifier: MIT
// Before the transformation: an entry is inlined and simplified until every mark stands alone, what does not change
// during a block is computed in the entry block, and whatever the engine cannot do is found.
#include "Debugging.h"
#include "Marks.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"
using namespace llvm;

namespace cgx {

static std::string atLine(const Instruction &I, const Value *Line = nullptr) {
  if (const auto *C = dyn_cast_or_null<ConstantInt>(Line))
    return " (line " + std::to_string(C->getZExtValue()) + ")";
  if (const DebugLoc &L = I.getDebugLoc())
    return " (line " + std::to_string(L.getLine()) + ")";
  return "";
}

static std::string textOf(const Value *V) {
  StringRef Text;
  return getConstantStringInfo(V, Text) ? Text.str() : "something that compiled entries cannot do";
}

// Functions of libcgx that end at once and park nobody.
static bool neverParks(StringRef Name) {
  static const char *const Names[] = {"cgx__cpu_misuse_of", "cgx__cpu_nanoseconds", "cgx__cpu_token_pending",
                                      "cgx__cpu_arrive_on"};
  return is_contained(Names, Name) || Name.starts_with("cgx__cpu_lane_");
}

static std::string whatItDoes(StringRef Name) {
  static const std::pair<const char *, const char *> Known[] = {
      {"cgx__cpu_coalesce", "coalesced_threads"},
      {"cgx__cpu_map_shared", "reads a neighbour's shared memory"},
      {"cgx__cpu_wide", "a collective of a cluster or of the grid"},
  };
  for (const auto &K : Known)
    if (Name == K.first)
      return K.second;
  return "calls " + Name.str();
}

static bool isThreadType(const Type *T) {
  const auto *S = dyn_cast<StructType>(T);
  return S && S->hasName() && S->getName().starts_with("struct.cgx_cpu_thread");
}

// What a function that the compiler did not inline could do with the thread: wait. Nothing else knows the thread.
static void checkEscape(Kernel &K, Value *Thread) {
  SmallVector<Value *, 8> Work{Thread};
  SmallPtrSet<Value *, 8> Seen;
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    if (!Seen.insert(V).second)
      continue;
    for (User *U : make_early_inc_range(V->users())) {
      if (auto *S = dyn_cast<StoreInst>(U)) {
        if (S->getValueOperand() == V && isHome(S->getPointerOperand()))
          S->eraseFromParent(); // of a variable that no debugger needs to show
        else if (S->getValueOperand() == V)
          K.refuse("the thread's address is stored" + atLine(*S));
      } else if (auto *C = dyn_cast<CallBase>(U)) {
        if (C->isLifetimeStartOrEnd() || isa<MemIntrinsic>(C))
          continue;
        const Function *Callee = C->getCalledFunction();
        if (Callee && neverParks(Callee->getName()))
          continue;
        if (Callee && Callee->getName().starts_with("cgx__"))
          K.refuse(whatItDoes(Callee->getName()) + atLine(*C));
        else
          K.refuse((Callee ? "hands its thread to " + Callee->getName().str() + ", which is not inlined"
                           : std::string("hands its thread to a function through a pointer")) +
                   atLine(*C));
      } else if (!isa<LoadInst>(U)) {
        Work.push_back(U);
      }
    }
  }
}

enum { MaxFrameAlign = 4096 }; // what a frame may grow by for a variable

static void checkInstructions(Kernel &K) {
  for (Instruction &I : instructions(K.F)) {
    if (isMark(&I, Mark::Refuse)) {
      auto *C = cast<CallInst>(&I);
      K.refuse(textOf(C->getArgOperand(0)) + atLine(I, C->getArgOperand(1)));
    } else if (auto *A = dyn_cast<AllocaInst>(&I)) {
      if (!A->isStaticAlloca())
        K.refuse("an array of variable length" + atLine(I));
      else if (A->getAlign() > MaxFrameAlign)
        K.refuse("a variable aligned to more than " + std::to_string(MaxFrameAlign) + " bytes" + atLine(I));
    } else if (isa<InvokeInst>(I) || isa<CallBrInst>(I) || isa<IndirectBrInst>(I) || isa<ResumeInst>(I)) {
      K.refuse("exceptions or computed jumps" + atLine(I));
    } else if (auto *C = dyn_cast<CallInst>(&I)) {
      const Function *Callee = C->getCalledFunction();
      if (Callee && Callee->getName().starts_with("cgx__cpu_") && !neverParks(Callee->getName()))
        K.refuse(whatItDoes(Callee->getName()) + atLine(I));
      if (C->hasFnAttr(Attribute::ReturnsTwice))
        K.refuse("a function that returns twice" + atLine(I));
    }
    if (I.getType()->isTokenTy())
      K.refuse("a value that cannot be kept" + atLine(I));
  }
  // Last, for what it finds has often a plainer reason.
  for (Instruction &I : instructions(K.F))
    if (auto *A = dyn_cast<AllocaInst>(&I); A && isThreadType(A->getAllocatedType()))
      checkEscape(K, A);
}

static bool inEntry(const Kernel &K, const Value *V) {
  const auto *I = dyn_cast<Instruction>(V);
  return !I || (I->getParent() == K.Entry && !isa<AllocaInst>(I));
}

// Arguments and the launch's shape do not change while a block runs, nor what is computed from them.
static bool isInvariant(const Kernel &K, Instruction &I) {
  if (const auto *L = dyn_cast<LoadInst>(&I)) {
    APInt Offset(64, 0);
    const Value *From = L->getPointerOperand()->stripAndAccumulateConstantOffsets(K.layout(), Offset, true);
    // A shared array's place is volatile for compilers only: it is set before the first launch.
    if (const auto *G = dyn_cast<GlobalVariable>(From))
      return G->getSection() == "cgx_sites";
    return L->isSimple() && isa<Argument>(From);
  }
  if (!isa<BinaryOperator>(I) && !isa<CastInst>(I) && !isa<GetElementPtrInst>(I) && !isa<CmpInst>(I) &&
      !isa<SelectInst>(I))
    return false;
  return isSafeToSpeculativelyExecute(&I);
}

static void hoistInvariants(Kernel &K) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Instruction &I : make_early_inc_range(instructions(K.F))) {
      if (I.getParent() == K.Entry || !isInvariant(K, I))
        continue;
      if (all_of(I.operands(), [&](const Use &U) { return inEntry(K, U.get()); })) {
        I.moveBefore(*K.Entry, K.Entry->getTerminator()->getIterator());
        Changed = true;
      }
    }
  }
}

// Checks of the launch's shape - a tile's size that does not divide the block's - are made once: where one fails the
// entry declines, and fibers find the misuse and report it.
static void collectGuards(Kernel &K) {
  SmallVector<CallInst *, 8> Calls;
  for (Instruction &I : instructions(K.F))
    if (auto *C = dyn_cast<CallInst>(&I))
      if (C->getCalledFunction() && C->getCalledFunction()->getName() == "cgx__cpu_misuse_of")
        Calls.push_back(C);
  for (CallInst *C : Calls) {
    BasicBlock *B = C->getParent();
    SmallVector<BasicBlock *, 4> Before(predecessors(B));
    for (BasicBlock *P : Before) {
      auto *Br = dyn_cast<BranchInst>(P->getTerminator());
      if (!Br || !Br->isConditional() || Br->getSuccessor(0) == Br->getSuccessor(1) || !inEntry(K, Br->getCondition()))
        continue;
      const bool WhenTrue = Br->getSuccessor(0) == B;
      IRBuilder<> IR(K.Entry->getTerminator());
      Value *Bad = WhenTrue ? Br->getCondition() : IR.CreateNot(Br->getCondition());
      K.Declines = K.Declines ? IR.CreateOr(K.Declines, Bad) : Bad;
      BasicBlock *Good = Br->getSuccessor(WhenTrue ? 1 : 0);
      B->removePredecessor(P);
      BranchInst::Create(Good, P);
      Br->eraseFromParent();
    }
  }
  removeUnreachableBlocks(K.F);
}

// Who looks once does not poll.
static void dropPollsOutsideLoops(Kernel &K) {
  DominatorTree DT(K.F);
  LoopInfo LI(DT);
  for (Instruction &I : make_early_inc_range(instructions(K.F)))
    if (isMark(&I, Mark::Step) && !LI.getLoopFor(I.getParent())) {
      auto *Kind = dyn_cast<ConstantInt>(cast<CallInst>(I).getArgOperand(StepKind));
      if (Kind && Kind->getZExtValue() == WaitPoll)
        I.eraseFromParent();
    }
}

bool prepare(Kernel &K) {
  keepDeclarations(K.F);
  dropPollsOutsideLoops(K);
  CallInst *Head = nullptr;
  unsigned Steps = 0;
  for (Instruction &I : make_early_inc_range(instructions(K.F))) {
    if (isMark(&I, Mark::Kernel))
      Head = Head ? nullptr : cast<CallInst>(&I);
    Steps += isMark(&I, Mark::Step);
    K.Planar |= isMark(&I, Mark::Y) || isMark(&I, Mark::Z);
    if (I.isLifetimeStartOrEnd())
      I.eraseFromParent();
  }
  if (!Head || Head->getParent() != &K.F.getEntryBlock()) {
    K.refuse("the entry's head was moved");
    return false;
  }
  checkInstructions(K);
  if (K.refused())
    return false;
  if (!Steps)
    return false;

  K.Entry = &K.F.getEntryBlock();
  for (Instruction &I : make_early_inc_range(*K.Entry))
    if (auto *A = dyn_cast<AllocaInst>(&I)) {
      A->moveBefore(*K.Entry, K.Entry->begin());
      K.PrivateArrays.push_back(A);
    }
  K.NX = Head->getArgOperand(0), K.NY = Head->getArgOperand(1), K.NZ = Head->getArgOperand(2);
  K.Threads = Head->getArgOperand(3), K.Frame = Head->getArgOperand(4);
  K.Block = K.F.getArg(0);
  K.Start = K.Entry->splitBasicBlock(Head->getNextNode(), "start");
  Head->eraseFromParent();
  // What the head keeps on the entry's stack is gone when a thread comes back from a wait.
  for (AllocaInst *A : K.PrivateArrays)
    if (any_of(A->users(), [&](User *U) { return cast<Instruction>(U)->getParent() == K.Entry; }) &&
        any_of(A->users(), [&](User *U) { return cast<Instruction>(U)->getParent() != K.Entry; }))
      K.refuse("the entry's head shares a variable with its threads");
  if (K.refused())
    return false;
  hoistInvariants(K);
  collectGuards(K);
  return true;
}

} // namespace cgx
