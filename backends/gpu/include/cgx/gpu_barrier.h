/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/barrier.h>. */
#ifndef CGX_GPU_BARRIER_H
#define CGX_GPU_BARRIER_H
#include <cgx/barrier.h>

extern "C++" {

/* A wait takes a token or a parity: two overloads, as the hardware has two instructions. */
CGX__INLINE cgx_mbarrier_token cgx__token_parity(cgx_block, const cgx_mbarrier *, cgx_mbarrier_token token, int)
{
    return token;
}

/* ---- declared here, defined by the CUDA and HIP backends ---- */

CGX__DECLARED void cgx__mbarrier_init(cgx_block self, cgx_mbarrier *b, uint32_t count, int line);
CGX__DECLARED void cgx__mbarrier_inval(cgx_block self, cgx_mbarrier *b, int line);
/* N arrivals, DROP fewer from the next phase on, BYTES of copies more announced. */
CGX__DECLARED cgx_mbarrier_token cgx__mbarrier_arrive(cgx_block self, cgx_mbarrier *b, uint32_t n, int drop,
                                                      uint32_t bytes, int line);
CGX__DECLARED bool cgx__mbarrier_test_token(cgx_block self, const cgx_mbarrier *b, cgx_mbarrier_token token, int line);
CGX__DECLARED bool cgx__mbarrier_test(cgx_block self, const cgx_mbarrier *b, int odd, int line);
CGX__DECLARED bool cgx__mbarrier_try(cgx_block self, const cgx_mbarrier *b, cgx_mbarrier_token token, uint32_t max_ns,
                                     int line);
CGX__DECLARED bool cgx__mbarrier_try(cgx_block self, const cgx_mbarrier *b, int odd, uint32_t max_ns, int line);
CGX__DECLARED void cgx__mbarrier_wait(cgx_block self, const cgx_mbarrier *b, cgx_mbarrier_token token, int line);
CGX__DECLARED void cgx__mbarrier_wait(cgx_block self, const cgx_mbarrier *b, int odd, int line);
CGX__DECLARED uint32_t cgx__token_pending(cgx_mbarrier_token token);

} /* extern "C++" */
#endif
