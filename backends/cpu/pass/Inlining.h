// SPDX-License-Identifier: MIT
#ifndef CGX_INLINING_H
#define CGX_INLINING_H
#include "llvm/IR/Module.h"

namespace cgx {
// Functions in which a mark stands, and their callers, are to be inlined.
void forceInlining(llvm::Module &M);
// Inlines what is to be inlined into an entry that is about to be held back. The compiler does so later, and has more
// to look at until then if that is done for all functions.
void inlineHelpers(llvm::Function &Entry);
} // namespace cgx
#endif
