// SPDX-License-Identifier: MIT
#ifndef CGX_DESCRIPTOR_H
#define CGX_DESCRIPTOR_H
#include "llvm/IR/Module.h"

namespace cgx {
// The row of entry F gets its frame size, or, refused, no function. The table it stands in.
llvm::GlobalVariable *patchEntry(llvm::Module &M, llvm::Function &F, uint64_t FrameBytes, bool Refused);
// Text for the descriptor that this table of entries belongs to.
void setRemark(llvm::Module &M, llvm::GlobalVariable *Entries, llvm::StringRef Text);
} // namespace cgx
#endif
