// SPDX-License-Identifier: MIT
// Loads in strides whose index wraps: what LLVM before 22 makes of them is wrong.
#ifndef CGX_PASS_STRIDES_H
#define CGX_PASS_STRIDES_H
#include "llvm/IR/PassManager.h"

namespace cgx {
// Right before the loop vectoriser.
struct HideWrappingStrides : llvm::PassInfoMixin<HideWrappingStrides> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
};
} // namespace cgx
#endif
