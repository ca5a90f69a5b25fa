// SPDX-License-Identifier: MIT
#ifndef CGX_INLINING_H
#define CGX_INLINING_H
#include "llvm/IR/Module.h"

namespace cgx {
void forceInlining(llvm::Module &M);
}
#endif
