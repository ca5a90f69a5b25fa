/* SPDX-License-Identifier: MIT */
#ifndef CGX_HEAP_H
#define CGX_HEAP_H
#include <stddef.h>
#include "../backend.h"

/* Aligned to 16 bytes; NULL beyond the limit, in which each allocation counts 16 bytes more than it has. */
CGX__HIDDEN_API void *cgx__heap_take(size_t bytes);
/* Whether it was memory of the heap. */
CGX__HIDDEN_API int cgx__heap_give_back(void *memory);
CGX__HIDDEN_API void cgx__heap_set_limit(size_t bytes);
CGX__HIDDEN_API size_t cgx__heap_limit(void);
#endif
