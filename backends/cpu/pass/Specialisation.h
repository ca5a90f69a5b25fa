// SPDX-License-Identifier: MIT
#ifndef CGX_SPECIALISATION_H
#define CGX_SPECIALISATION_H
#include "Marks.h"

namespace cgx {
// Makes copies of the compiled entry for block sizes that are common, which the entry goes on to where the block has
// one of them. The copies.
llvm::SmallVector<llvm::Function *, 4> specialise(Kernel &K);
// What threads give to collectives and get from them stays on the stack of an entry, and in registers once its loops
// are unrolled, where it is known how few threads there are and the library does not look. Bytes: of the
// largest value.
void keepExchangeLocal(llvm::Function &F, unsigned Threads, uint64_t Bytes);
} // namespace cgx
#endif
