// SPDX-License-Identifier: MIT
#ifndef CGX_SIMPLIFICATION_H
#define CGX_SIMPLIFICATION_H
#include "llvm/IR/PassManager.h"

namespace cgx {
// A collective's, which runs between two regions.
bool isStep(const llvm::Function &F);
// Keeps entries, and steps, out of the compiler's own simplification until they are compiled.
void holdBackEntries(llvm::Module &M);
// Brings an entry that was held back into the form that the passes expect.
// Debugged: it keeps its variables where debuggers find them.
void simplifyEntry(llvm::Function &F, llvm::FunctionAnalysisManager &FAM, bool Debugged);
// As much for a step that was held back: what is left of it where it is inlined is simplified there.
void simplifyStep(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
// What follows on the compiled entry.
void simplifyCompiled(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
} // namespace cgx
#endif
