// SPDX-License-Identifier: MIT
// Of `s[t * 3 & 255]` over lanes t the loop vectoriser of LLVM 14 to 19 loads whole runs of 3 x 8 elements and picks
// every third. That the index wraps inside of such a run is to be excluded by a check at run time, which is missing
// where the index begins at a constant: lanes 86 and 87 read behind the array. Loops of plain C fare no better (o[i] =
// s[i * 3 & 255] at -O2), so all functions are looked at, the fibers' entries too. LLVM 22 is right. Such an index is
// hidden here, and lanes read one by one or gather.
#include "Strides.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
using namespace llvm;

namespace cgx {

namespace {
// Whether the value goes up by a constant other than a power of two in fewer bits than it is used in. Steps that are
// powers of two wrap where a run ends; 32 bits and more do not wrap in a block, and elsewhere are checked.
bool mayWrapInside(ScalarEvolution &SE, Value *V, const Loop *L) {
  if (!SE.isSCEVable(V->getType()))
    return false;
  return SCEVExprContains(SE.getSCEV(V), [&](const SCEV *S) {
    if (!isa<SCEVZeroExtendExpr>(S) && !isa<SCEVSignExtendExpr>(S))
      return false;
    return SCEVExprContains(cast<SCEVCastExpr>(S)->getOperand(), [&](const SCEV *Inner) {
      const auto *Steps = dyn_cast<SCEVAddRecExpr>(Inner);
      if (!Steps || Steps->getLoop() != L || !Steps->getType()->isIntegerTy() ||
          Steps->getType()->getIntegerBitWidth() >= 32)
        return false;
      const auto *By = dyn_cast<SCEVConstant>(Steps->getStepRecurrence(SE));
      return !By || !By->getAPInt().abs().isPowerOf2();
    });
  });
}
} // namespace

PreservedAnalyses HideWrappingStrides::run(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  SmallVector<Use *, 8> Indices;
  for (Instruction &I : instructions(F))
    if (auto *G = dyn_cast<GetElementPtrInst>(&I))
      if (const Loop *L = LI.getLoopFor(G->getParent()))
        for (Use &Index : G->indices())
          if (!isa<Constant>(Index) && mayWrapInside(SE, Index, L))
            Indices.push_back(&Index);
  for (Use *Index : Indices) {
    IRBuilder<> IR(cast<Instruction>(Index->getUser()));
    Index->set(IR.CreateFreeze(*Index));
  }
  return Indices.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace cgx
