// SPDX-License-Identifier: MIT
// What a debugger is told of a kernel's variables in its compiled entry.
#ifndef CGX_DEBUGGING_H
#define CGX_DEBUGGING_H
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace cgx {

// At -O0, of an entry whose variables have become values: gives each of the user's variables a home in memory, which
// holds whatever value the variable has at a line. Homes are private arrays of a thread like any other.
void giveHomes(llvm::Function &F);
bool isHome(const llvm::Value *At);
// Variables that live in memory: what their declarations say is kept at their storage, which every region addresses
// anew.
void keepDeclarations(llvm::Function &F);
// Storage is At for the code behind IR's place. Pointers, if given: At is kept on the entry's stack, where a debugger
// finds it at every line.
using StoragePointers = llvm::DenseMap<llvm::AllocaInst *, llvm::AllocaInst *>;
void declareAt(llvm::AllocaInst *Storage, llvm::Value *At, llvm::IRBuilder<> &IR, StoragePointers *Pointers);
// Records of a copied instruction.
void remapDebugRecords(llvm::Instruction &I, llvm::ValueToValueMapTy &Map);
// Again is V, read back from its slot: variables that were V are Again.
void sayAgain(llvm::Value *V, llvm::Instruction *Again);

} // namespace cgx
#endif
