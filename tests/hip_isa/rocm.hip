// SPDX-License-Identifier: MIT
// What ROCm's cooperative groups make of the primitives that they have, for isa.sh --table. Names as in primitives.c.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

KERNEL nothing(int *o, int v) { o[cg::this_thread_block().thread_rank()] = v; }
KERNEL block_sync(int *o, int v)
{
    cg::thread_block b = cg::this_thread_block();
    __shared__ int s[1024];
    s[b.thread_rank()] = v;
    b.sync();
    o[b.thread_rank()] = s[v];
}
KERNEL tile_sync(int *o, int v)
{
    cg::thread_block b = cg::this_thread_block();
    __shared__ int s[1024];
    s[b.thread_rank()] = v;
    cg::tiled_partition<16>(b).sync();
    o[b.thread_rank()] = s[v];
}
KERNEL grid_sync(int *o, int v)
{
    cg::grid_group g = cg::this_grid();
    o[g.thread_rank()] = v;
    g.sync();
    o[g.thread_rank()] += o[v];
}
KERNEL shuffle(int *o, int v)
{
    cg::thread_block b = cg::this_thread_block();
    o[b.thread_rank()] = cg::tiled_partition<16>(b).shfl(o[b.thread_rank()], v);
}
KERNEL shuffle_xor(int *o, int)
{
    cg::thread_block b = cg::this_thread_block();
    o[b.thread_rank()] = cg::tiled_partition<16>(b).shfl_xor(o[b.thread_rank()], 1);
}
KERNEL coalesced_rank(int *o, int v)
{
    int r = cg::this_thread_block().thread_rank();
    if (r > v)
        o[r] = cg::coalesced_threads().thread_rank();
}
KERNEL coalesced_shuffle(int *o, int v)
{
    int r = cg::this_thread_block().thread_rank();
    if (r > v)
        o[r] = cg::coalesced_threads().shfl(o[r], v);
}
