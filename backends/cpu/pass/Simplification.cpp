// SPDX-License-Identifier: MIT
// What an entry goes through before it is compiled. The compiler's own simplification comes too early for it: it makes
// one switch of a thread's questions whether it is at a border, threads jumps through barriers and merges stores of
// different branches. What is left then are no ranges of lanes any more, and no loops that vectorise.
#include "Simplification.h"
#include "Debugging.h"
#include "Inlining.h"
#include "Marks.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
using namespace llvm;

namespace cgx {

bool isStep(const Function &F) { return F.getName().contains("cgx__step_") && !F.isDeclaration(); }

void holdBackEntries(Module &M) {
  for (Function &F : M)
    if (isEntry(F) || (isStep(F) && F.hasLocalLinkage())) {
      inlineHelpers(F);
      F.removeFnAttr(Attribute::AlwaysInline);
      F.addFnAttr(Attribute::NoInline);
      F.addFnAttr(Attribute::OptimizeNone);
    }
}

// The inliner has passed an entry by.
static void inlineCalls(Function &F) {
  enum { AtMost = 300 }; // instructions of a callee
  for (int Round = 0; Round < 4; Round++) {
    SmallVector<CallInst *, 16> Calls;
    for (Instruction &I : instructions(F))
      if (auto *C = dyn_cast<CallInst>(&I)) {
        Function *Callee = C->getCalledFunction();
        if (Callee && Callee != &F && !Callee->isDeclaration() && !Callee->hasFnAttribute(Attribute::NoInline) &&
            !C->isNoInline() && !Callee->isInterposable() && !isEntry(*Callee) &&
            Callee->getInstructionCount() <= AtMost && isInlineViable(*Callee).isSuccess() &&
            AttributeFuncs::areInlineCompatible(F, *Callee))
          Calls.push_back(C);
      }
    for (CallInst *C : Calls) {
      InlineFunctionInfo Info;
      InlineFunction(*C, Info);
    }
    if (Calls.empty())
      break;
  }
}

// Branches stay as they were written.
static SimplifyCFGPass simplifyCFG() { return SimplifyCFGPass(SimplifyCFGOptions().setSimplifyCondBranch(false)); }

// Exact: every line's code stays where it is.
static FunctionPassManager scalars(bool Exact = false) {
  FunctionPassManager P;
  P.addPass(SROAPass(SROAOptions::ModifyCFG));
  P.addPass(EarlyCSEPass(true));
  P.addPass(SCCPPass());
  if (Exact)
    P.addPass(InstSimplifyPass());
  else
    P.addPass(InstCombinePass());
  P.addPass(simplifyCFG());
  return P;
}

// Sanitizers ask whether addresses are aligned; those of the thread are, and where the question stays so does the
// thread, in memory.
static void dropAlignmentChecks(Function &F) {
  for (Instruction &I : instructions(F))
    if (I.getOpcode() == Instruction::And && isa<ConstantInt>(I.getOperand(1)) && isa<PtrToIntInst>(I.getOperand(0)) &&
        computeKnownBits(&I, F.getParent()->getDataLayout()).isZero())
      I.replaceAllUsesWith(Constant::getNullValue(I.getType()));
}

// Instructions of the loop when it and those in it have been unrolled in whole; no more than Limit are told apart.
static uint64_t unrolledSize(const Loop &L, ScalarEvolution &SE, uint64_t Limit) {
  uint64_t Size = 0;
  for (const BasicBlock *B : L.blocks())
    if (none_of(L.getSubLoops(), [&](const Loop *In) { return In->contains(B); }))
      Size += B->size();
  for (const Loop *In : L.getSubLoops())
    Size += std::min(unrolledSize(*In, SE, Limit), Limit);
  const unsigned Rounds = SE.getSmallConstantTripCount(&L);
  return Rounds ? std::min(Size * Rounds, Limit) : Limit;
}

// A loop of a thread in the loop over the lanes keeps that from being vectorised. Short ones are unrolled in whole
// where no thread waits in them.
static void unrollShortLoops(Function &F, FunctionAnalysisManager &FAM) {
  enum { AtMost = 5000 }; // instructions
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  LLVMContext &C = F.getContext();
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    if (unrolledSize(*L, SE, AtMost) >= AtMost || any_of(L->blocks(), [](BasicBlock *B) {
          return any_of(*B, [](Instruction &I) { return markOf(&I) == Mark::Step; });
        }))
      continue;
    MDNode *Id = MDNode::getDistinct(C, {nullptr, MDNode::get(C, {MDString::get(C, "llvm.loop.unroll.full")})});
    Id->replaceOperandWith(0, Id);
    L->setLoopID(Id);
  }
}

void simplifyEntry(Function &F, FunctionAnalysisManager &FAM, bool Debugged) {
  F.removeFnAttr(Attribute::OptimizeNone);
  inlineCalls(F);
  // A place in a block is small and not negative: t % 32 is t & 31.
  LLVMContext &C = F.getContext();
  for (Instruction &I : instructions(F))
    if (isThreadIndex(&I))
      I.setMetadata(LLVMContext::MD_range, MDBuilder(C).createRange(APInt(32, 0), APInt(32, MaxThreads)));
  FAM.invalidate(F, PreservedAnalyses::none());
  if (Debugged) {
    FunctionPassManager Values, Exactly;
    Values.addPass(SROAPass(SROAOptions::ModifyCFG));
    FAM.invalidate(F, Values.run(F, FAM));
    giveHomes(F);
    dropAlignmentChecks(F);
    enum { Copies = 6 }; // of a group, from helper to helper: each round takes one or two away
    for (int I = 0; I < Copies; I++)
      Exactly.addPass(scalars(true));
    FAM.invalidate(F, Exactly.run(F, FAM));
    return;
  }
  FunctionPassManager First = scalars(), P;
  First.addPass(scalars());
  LoopPassManager Rotation, Loops;
  Rotation.addPass(LoopRotatePass());
  Rotation.addPass(IndVarSimplifyPass());
  First.addPass(createFunctionToLoopPassAdaptor(std::move(Rotation)));
  FAM.invalidate(F, First.run(F, FAM));
  unrollShortLoops(F, FAM);
  Loops.addPass(LoopFullUnrollPass(3));
  P.addPass(createFunctionToLoopPassAdaptor(std::move(Loops)));
  P.addPass(scalars());
  P.addPass(GVNPass(GVNOptions().setPRE(false)));
  P.addPass(InstCombinePass());
  P.addPass(simplifyCFG());
  P.addPass(ADCEPass());
  FAM.invalidate(F, P.run(F, FAM));
}

void simplifyStep(Function &F, FunctionAnalysisManager &FAM) {
  F.removeFnAttr(Attribute::OptimizeNone);
  F.removeFnAttr(Attribute::NoInline);
  FunctionPassManager P = scalars();
  FAM.invalidate(F, P.run(F, FAM));
}

// A thread's loop over every 256th item has few rounds, and its end is guessed wrong once a thread. Four rounds at a
// time halve that; LLVM does so by itself where the step is one, and where it is another finds the number of rounds too
// dear.
static void unrollStridingLoops(Function &F, FunctionAnalysisManager &FAM) {
  enum { Rounds = 4, AtMost = 24 }; // instructions
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    Loop *Lanes = L->getParentLoop();
    if (L->getNumBlocks() != 1 || L->getHeader()->size() > AtMost || hasUnrollTransformation(L) != TM_Unspecified ||
        !Lanes || !Lanes->getLoopID() || !findOptionMDForLoopID(Lanes->getLoopID(), "llvm.loop.parallel_accesses"))
      continue;
    auto strides = [&](PHINode &P) {
      auto *Steps = SE.isSCEVable(P.getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&P)) : nullptr;
      auto *Step = Steps ? dyn_cast<SCEVConstant>(Steps->getStepRecurrence(SE)) : nullptr;
      return Step && P.getType()->isIntegerTy() && Step->getAPInt().abs().ugt(1);
    };
    if (none_of(L->getHeader()->phis(), strides) ||
        any_of(*L->getHeader(), [](Instruction &I) { return isa<CallBase>(I); }))
      continue;
    addStringMetadataToLoop(L, "llvm.loop.unroll.count", Rounds);
  }
}

void simplifyCompiled(Function &F, FunctionAnalysisManager &FAM) {
  FunctionPassManager P;
  P.addPass(SROAPass(SROAOptions::ModifyCFG));
  P.addPass(EarlyCSEPass(true));
  P.addPass(SimplifyCFGPass());
  P.addPass(InstCombinePass());
  P.addPass(SCCPPass());
  P.addPass(SimplifyCFGPass());
  LoopPassManager Early, Late;
  Early.addPass(LoopRotatePass());
  Early.addPass(LICMPass(LICMOptions()));
  Early.addPass(SimpleLoopUnswitchPass(true));
  P.addPass(createFunctionToLoopPassAdaptor(std::move(Early), true));
  P.addPass(SimplifyCFGPass());
  P.addPass(InstCombinePass());
  Late.addPass(IndVarSimplifyPass());
  Late.addPass(LoopDeletionPass());
  Late.addPass(LoopFullUnrollPass(3));
  P.addPass(createFunctionToLoopPassAdaptor(std::move(Late)));
  P.addPass(SROAPass(SROAOptions::ModifyCFG));
  P.addPass(GVNPass());
  P.addPass(SCCPPass());
  P.addPass(InstCombinePass());
  P.addPass(ADCEPass());
  P.addPass(DSEPass());
  LoopPassManager Last;
  Last.addPass(LICMPass(LICMOptions()));
  P.addPass(createFunctionToLoopPassAdaptor(std::move(Last), true));
  P.addPass(SimplifyCFGPass());
  P.addPass(InstCombinePass());
  FAM.invalidate(F, P.run(F, FAM));
  unrollStridingLoops(F, FAM);
  if (F.getSubprogram())
    sayInFrontOfLoops(FAM.getResult<LoopAnalysis>(F));
}

} // namespace cgx
