// SPDX-License-Identifier: MIT
#ifndef CGX_SIMPLIFICATION_H
#define CGX_SIMPLIFICATION_H
#include "llvm/IR/PassManager.h"

namespace cgx {
// Keeps entries out of the compiler's own simplification until they are compiled.
void holdBackEntries(llvm::Module &M);
// Brings an entry that was held back into the form that the passes expect.
// Debugged: it keeps its variables where debuggers find them.
void simplifyEntry(llvm::Function &F, llvm::FunctionAnalysisManager &FAM, bool Debugged);
// A step of a collective where nothing else optimises it.
void simplifyStep(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
// What follows on the compiled entry.
void simplifyCompiled(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
} // namespace cgx
#endif
