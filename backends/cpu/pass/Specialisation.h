// SPDX-License-Identifier: MIT
#ifndef CGX_SPECIALISATION_H
#define CGX_SPECIALISATION_H
#include "Marks.h"

namespace cgx {
// Makes copies of the compiled entry for block sizes that are common, which the entry goes on to where the block has
// one of them. The copies.
llvm::SmallVector<llvm::Function *, 4> specialise(Kernel &K);
} // namespace cgx
#endif
