// SPDX-License-Identifier: MIT
#ifndef CGX_SHARED_ARRAYS_H
#define CGX_SHARED_ARRAYS_H
#include "Marks.h"

namespace cgx {
// The kernel's own shared arrays lie on the stack of an entry, and in registers once its loops are unrolled, where it
// is known that there are few threads, nobody else is told their addresses and they are small: no block knows
// another's, nor what an earlier one left there.
void keepSharedLocal(llvm::Function &F, unsigned Threads);
// All blocks of a worker have a shared array in one place, which stays in the cache, if nobody else is told its address
// and threads write it anew, each its own element, behind every barrier of the grid. Before values that live across
// boundaries are known.
void shareBetweenBlocks(Kernel &K);
} // namespace cgx
#endif
