// SPDX-License-Identifier: MIT
// What differs between the releases of LLVM that the plug-in builds with: 18 to 20.
#ifndef CGX_COMPAT_H
#define CGX_COMPAT_H
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Instruction.h"

namespace cgx {
inline void dropDebugRecords(llvm::Instruction &I) {
#if LLVM_VERSION_MAJOR >= 19
  I.dropDbgRecords();
#else
  (void)I; // still instructions of their own
#endif
}
} // namespace cgx
#endif
