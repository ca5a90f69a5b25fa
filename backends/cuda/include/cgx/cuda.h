/* SPDX-License-Identifier: MIT */
/* CUDA pass: the primitives. The only file with threadIdx and inline PTX; what can be written once for both makes of GPU is
 * in backends/gpu. hip.h has the same names. */
#ifndef CGX_CUDA_H
#define CGX_CUDA_H
#include <cgx/kernel.h>

#define CGX__INLINE CGX_UNUSED static __device__ __forceinline__
/* What a kernel that is right never does: elsewhere, so that the code that runs lies together. */
#define CGX__RARE CGX_UNUSED static __device__ __noinline__
/* Of a kernel with these limits. Without any it takes the largest block there is: nvcc may not give it registers for
 * fewer threads. */
#define CGX__BOUNDS(flags, x, y, z) __launch_bounds__((x) * (y) * (z) ? (x) * (y) * (z) : 1024)

/* Threads of a warp, for which the shared layer says wave. */
enum { CGX__WAVE = 32 };
/* The image is one of a file whose kernels may launch. nvcc also reads the text for the host, where some of CUDA's device
 * runtime is not declared. */
#if defined(__CUDACC_RDC__) && defined(__CUDA_ARCH__)
#define CGX__RELOCATABLE 1
#endif
#if defined(__CUDACC_RDC__)
/* The record of launches by kernels, one a device: what launches does not know its own. Set by the host. */
CGX_UNUSED __device__ cgx__launch_record *cgx__image_record;
#endif
/* Barriers of the hardware beside the block's own (PTX ISA 9.7.13.1): numbers from 1 on. */
enum { CGX__NAMED_BARRIERS = CGX__OVERLAYS ? 15 : 0 };
/* Whether launches may have clusters of more than one block. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
enum { CGX__CLUSTERS = 1 };
#else
enum { CGX__CLUSTERS = 0 };
#endif

extern "C++" { /* the header may be included inside extern "C" */

/* ---- where the thread is ---- */

CGX__INLINE cgx_dim3 cgx__gpu_thread(void)
{
    return { (int)threadIdx.x, (int)threadIdx.y, (int)threadIdx.z };
}
CGX__INLINE cgx_dim3 cgx__gpu_block(void)
{
    return { (int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z };
}
CGX__INLINE cgx_dim3 cgx__gpu_threads(void)
{
    return { (int)blockDim.x, (int)blockDim.y, (int)blockDim.z };
}
CGX__INLINE cgx_dim3 cgx__gpu_blocks(void)
{
    return { (int)gridDim.x, (int)gridDim.y, (int)gridDim.z };
}

/* The cluster's shape in blocks, and the block's place in it; one block where there are no clusters. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
CGX__INLINE cgx_dim3 cgx__gpu_cluster_blocks(void)
{
    cgx_dim3 n;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(n.x));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(n.y));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(n.z));
    return n;
}
CGX__INLINE cgx_dim3 cgx__gpu_block_in_cluster(void)
{
    cgx_dim3 at;
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(at.x));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(at.y));
    asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(at.z));
    return at;
}
#else
CGX__INLINE cgx_dim3 cgx__gpu_cluster_blocks(void)
{
    return { 1, 1, 1 };
}
CGX__INLINE cgx_dim3 cgx__gpu_block_in_cluster(void)
{
    return { 0, 0, 0 };
}
#endif

/* ---- the wave: LANES are all those that call, with the same mask ---- */

CGX__INLINE int cgx__wave_lane(void)
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return (int)lane;
}
/* How many of LANES are below the caller's. */
CGX__INLINE int cgx__wave_rank(uint64_t lanes)
{
    return __popc((uint32_t)lanes & ((1u << cgx__wave_lane()) - 1));
}
/* Some lanes that are here together, the caller's among them. */
CGX__INLINE uint64_t cgx__wave_active(void)
{
    unsigned lanes;
    asm volatile("activemask.b32 %0;" : "=r"(lanes));
    return lanes;
}
CGX__INLINE void cgx__wave_sync(uint64_t lanes)
{
    __syncwarp((unsigned)lanes);
}
CGX__INLINE uint64_t cgx__wave_ballot(uint64_t lanes, int predicate)
{
    return __ballot_sync((unsigned)lanes, predicate);
}
CGX__INLINE uint32_t cgx__wave_shuffle(uint64_t lanes, uint32_t v, int lane)
{
    return __shfl_sync((unsigned)lanes, v, lane);
}
/* The lane to shuffle from for RANK modulo SIZE, a power of two, in the caller's tile of that size. The instruction takes lanes
 * modulo the warp. */
CGX__INLINE int cgx__lane_in_tile(int size, int rank)
{
    return size == CGX__WAVE ? rank : (cgx__wave_lane() & -size) | (rank & (size - 1));
}

/* Of the lane whose number differs in these bits. */
CGX__INLINE uint32_t cgx__wave_shuffle_xor(uint64_t lanes, uint32_t v, int bits)
{
    return __shfl_xor_sync((unsigned)lanes, v, bits);
}
/* Of the lane that many below; a lane without one gets anything. */
CGX__INLINE uint32_t cgx__wave_shuffle_up(uint64_t lanes, uint32_t v, int distance)
{
    return __shfl_up_sync((unsigned)lanes, v, (unsigned)distance);
}
/* A constant mask is faster than one that lanes compute: worth a look whether all lanes are here together. */
enum { CGX__FULL_MASK_IS_FASTER = CGX__OVERLAYS };
/* The same mask as one that compilers take for another: what they know of it where no branch is, they forget as soon
 * as it is used behind one. Plus zero, which they cannot know. */
CGX__INLINE uint64_t cgx__other_mask(uint64_t lanes)
{
    uint32_t other;
    asm("or.b32 %0, %1, %2;" : "=r"(other) : "r"((uint32_t)lanes), "r"(blockDim.x >> 16));
    return other;
}

#if CGX__OVERLAYS
#define CGX__HAS_MATCH 1
/* Whether any of LANES says so: in a predicate, where a ballot that is compared would go through a uniform register.
 * PTX ISA 9.7.13.8. */
CGX__INLINE bool cgx__wave_any(uint64_t lanes, int predicate)
{
    return __any_sync((unsigned)lanes, predicate);
}
/* The lanes whose word has one of these bits. PTX ISA 9.7.13.8, vote.sync; sm_70. In assembly, since nvcc shifts the
 * bit to the lowest place before it looks at it. */
CGX__INLINE uint32_t cgx__wave_ballot_bits(uint64_t lanes, uint32_t v, uint32_t bits)
{
    uint32_t yes;
    asm volatile("{\n\t.reg .b32 t;\n\t.reg .pred p;\n\tand.b32 t, %1, %2;\n\tsetp.ne.u32 p, t, 0;\n\t"
                 "vote.sync.ballot.b32 %0, p, %3;\n\t}"
                 : "=r"(yes)
                 : "r"(v), "r"(bits), "r"((uint32_t)lanes));
    return yes;
}
/* If WANTED, which is alike for all: the lanes among LANES, all of which call, whose v is the caller's; else OTHERWISE. The instruction has
 * a register of its own, so that it waits for nothing but the predicate: on an H200 6 ns less for those who want it, 4 for those
 * who do not. PTX ISA 9.7.13.9, match.sync; sm_70. */
#define CGX__MATCH_IF(T, type, constraint)                                                                    \
    CGX__INLINE uint32_t cgx__wave_match_if(bool wanted, uint64_t lanes, T v, uint32_t otherwise)             \
    {                                                                                                         \
        uint32_t part;                                                                                        \
        asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 m;\n\tsetp.ne.u32 p, %2, 0;\n\t@p match.any.sync." type \
                     " m, %1, %3;\n\tselp.b32 %0, m, %4, p;\n\t}"                                             \
                     : "=r"(part)                                                                             \
                     : constraint(v), "r"((uint32_t)wanted), "r"((unsigned)lanes), "r"(otherwise));           \
        return part;                                                                                          \
    }
CGX__MATCH_IF(uint32_t, "b32", "r")
CGX__MATCH_IF(uint64_t, "b64", "l")
#endif
#if CGX__OVERLAYS && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
/* A reduction of 32 bits over LANES, all of which call. PTX ISA 9.7.13.11, redux.sync; sm_80. */
#define CGX__HAS_REDUX 1
#define CGX__REDUX(name, T, instruction)                                                                 \
    CGX__INLINE T cgx__wave_redux_##name(uint64_t lanes, T v)                                            \
    {                                                                                                    \
        T r;                                                                                             \
        asm volatile("redux.sync." instruction " %0, %1, %2;" : "=r"(r) : "r"(v), "r"((unsigned)lanes)); \
        return r;                                                                                        \
    }
CGX__REDUX(add, uint32_t, "add.u32")
CGX__REDUX(min, uint32_t, "min.u32")
CGX__REDUX(max, uint32_t, "max.u32")
CGX__REDUX(min, int32_t, "min.s32")
CGX__REDUX(max, int32_t, "max.s32")
CGX__REDUX(and, uint32_t, "and.b32")
CGX__REDUX(or, uint32_t, "or.b32")
CGX__REDUX(xor, uint32_t, "xor.b32")
#endif

/* ---- the block: threads that have ended count as arrived ---- */

CGX__INLINE void cgx__gpu_sync(void)
{
    __syncthreads();
}

/* Bytes of dynamic shared memory that the launch gave. */
CGX__INLINE unsigned cgx__gpu_dynamic_bytes(void)
{
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

/* THREADS threads, a multiple of the wave, meet at barrier ID: the warp may have diverged, and other warps do not come.
 * PTX ISA 9.7.13.1, barrier{.cta}.sync; sm_70. */
CGX__INLINE void cgx__gpu_named_sync(int id, int threads)
{
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#if CGX__OVERLAYS && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
/* What is left of 15 named barriers: an mbarrier in shared memory for COUNT arrivals a phase, by its address there. Each thread arrives
 * and waits itself. PTX ISA 9.7.13.15.9, .13 and .16; init, arrive and test_wait sm_80, try_wait sm_90. Arrivals release and waits acquire, at
 * the scope of the block. */
#define CGX__HAS_TILE_MBARRIER 1
CGX__INLINE void cgx__gpu_tile_barrier_init(uint32_t address, uint32_t count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(count) : "memory");
}
CGX__INLINE uint64_t cgx__gpu_tile_barrier_arrive(uint32_t address)
{
    uint64_t state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
    return state;
}
/* Whether the phase is over that STATE was given in. */
CGX__INLINE bool cgx__gpu_tile_barrier_over(uint32_t address, uint64_t state)
{
    int over;
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.s32 %0, 1, 0, p;\n\t}"
                 : "=r"(over)
                 : "r"(address), "l"(state)
                 : "memory");
    return over != 0;
}
CGX__INLINE void cgx__gpu_tile_barrier_wait(uint32_t address, uint64_t state)
{
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n\t.reg .pred p;\nAGAIN:\n\tmbarrier.try_wait.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN;\n\t}" ::"r"(address),
        "l"(state)
        : "memory");
#else
    while (!cgx__gpu_tile_barrier_over(address, state))
        ;
#endif
}
#endif

/* Addresses of shared memory take long to get on sm_90, and compilers do so again and again rather than keep them. This one
 * they keep. What is there is reached in assembly: nvcc 13.0 takes a pointer that is made from the number for a generic one, which is
 * slower, and does not come to an end over __cvta_shared_to_generic in a kernel with many collectives. */
#define CGX__HOLDS_SHARED 1
CGX__INLINE uint32_t cgx__shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
CGX__INLINE uint32_t cgx__hold_shared(const void *p)
{
    uint32_t address;
    /* Plus zero, which assemblers cannot know. */
    asm("add.u32 %0, %1, %2;" : "=r"(address) : "r"(cgx__shared_address(p)), "r"(blockDim.x >> 16));
    return address;
}
/* PTX ISA 9.7.9.8, ld, and 9.7.9.11, st. */
CGX__INLINE void cgx__held_load(uint32_t address, uint32_t *v)
{
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(*v) : "r"(address) : "memory");
}
CGX__INLINE void cgx__held_load(uint32_t address, uint64_t *v)
{
    asm volatile("ld.shared.b64 %0, [%1];" : "=l"(*v) : "r"(address) : "memory");
}
CGX__INLINE void cgx__held_store(uint32_t address, uint32_t v)
{
    asm volatile("st.shared.b32 [%0], %1;" : : "r"(address), "r"(v) : "memory");
}
CGX__INLINE void cgx__held_store(uint32_t address, uint64_t v)
{
    asm volatile("st.shared.b64 [%0], %1;" : : "r"(address), "l"(v) : "memory");
}
/* 16 bytes, aligned to as many. */
CGX__INLINE void cgx__held_load_16(uint32_t address, uint32_t *v)
{
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(address)
                 : "memory");
}

/* ---- fences, and words that threads poll ---- */

/* What the thread wrote before is seen by the block, the device, all of the machine before what it writes later; and so
 * for its reads. PTX ISA 9.7.13.4, membar; any architecture. */
CGX__INLINE void cgx__fence_block(void)
{
    __threadfence_block();
}
CGX__INLINE void cgx__fence_system(void)
{
    __threadfence_system();
}
/* Adds to a word of shared memory, or replaces it, and returns what was there; orders nothing. */
CGX__INLINE uint32_t cgx__shared_add(uint32_t *p, uint32_t v)
{
    return atomicAdd_block(p, v);
}
CGX__INLINE uint32_t cgx__shared_exchange(uint32_t *p, uint32_t v)
{
    return atomicExch_block(p, v);
}
/* Adds to a word in device memory, returns what was there, and releases. PTX ISA 9.7.13.5, atom; sm_70. */
CGX__INLINE uint32_t cgx__device_add_release(uint32_t *p, uint32_t v)
{
    uint32_t old;
    asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(__cvta_generic_to_global(p)), "r"(v)
                 : "memory");
    return old;
}
/* PTX ISA 9.7.9.8, ld.acquire; sm_70. */
CGX__INLINE uint32_t cgx__device_load_acquire(const uint32_t *p)
{
    uint32_t v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
    return v;
}
/* Polls a word in device memory, for one thread of the block: until its highest bit is another than OLD's. */
CGX__INLINE void cgx__await_flip(const uint32_t *p, uint32_t old)
{
    while (!((cgx__device_load_acquire(p) ^ old) & 0x80000000u))
        ;
}
CGX__INLINE uint32_t cgx__device_exchange(uint32_t *p, uint32_t v)
{
    return atomicExch(p, v);
}
/* Between two looks at a word. */
CGX__INLINE void cgx__gpu_pause(void)
{
}
/* Ends the thread. PTX ISA 9.7.12.6, exit; any architecture. */
CGX__INLINE void cgx__gpu_exit(void)
{
    asm volatile("exit;");
}

/* ---- the cluster: threads that have ended count as arrived; every thread waits before it arrives again ---- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* PTX ISA 9.7.13.3, barrier.cluster; sm_90. Arrive releases, or orders nothing; wait acquires. */
CGX__INLINE void cgx__cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
CGX__INLINE void cgx__cluster_arrive_relaxed(void)
{
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
CGX__INLINE void cgx__cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
/* Where the block of that rank has what the caller's has at p. PTX ISA 9.7.9.22, mapa; sm_90. */
CGX__INLINE void *cgx__cluster_map(const void *p, int rank)
{
    uint64_t there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
    return (void *)there;
}
/* The rank of the block whose shared memory p is in. PTX ISA 9.7.9.23, getctarank; sm_90. */
CGX__INLINE int cgx__cluster_rank_of(const void *p)
{
    int rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(p));
    return rank;
}
#else
/* Clusters are of one block. */
CGX__INLINE void cgx__cluster_arrive(void)
{
}
CGX__INLINE void cgx__cluster_arrive_relaxed(void)
{
}
CGX__INLINE void cgx__cluster_wait(void)
{
    __syncthreads();
}
CGX__INLINE void *cgx__cluster_map(const void *p, int)
{
    return const_cast<void *>(p);
}
CGX__INLINE int cgx__cluster_rank_of(const void *)
{
    return 0;
}
#endif

/* ---- arithmetic ---- */

CGX__INLINE int cgx__bit_count(uint64_t v)
{
    return __popcll(v);
}
/* Number of the lowest bit that is set; v is not 0. */
CGX__INLINE int cgx__lowest_bit(uint64_t v)
{
    return __ffsll((long long)v) - 1;
}
/* And of the highest. */
CGX__INLINE int cgx__highest_bit(uint32_t v)
{
    return 31 - __clz((int)v);
}
CGX__INLINE int cgx__highest_bit(uint64_t v)
{
    return 63 - __clzll((long long)v);
}
CGX__INLINE int cgx__bit_count(uint32_t v)
{
    return __popc(v);
}
CGX__INLINE int cgx__lowest_bit(uint32_t v)
{
    return __ffs((int)v) - 1;
}
/* Never contracted with a multiplication of the caller. */
CGX__INLINE float cgx__plus(float a, float b)
{
    return __fadd_rn(a, b);
}
CGX__INLINE double cgx__plus(double a, double b)
{
    return __dadd_rn(a, b);
}

/* ---- timers (PARITY K07) ---- */

CGX__INLINE uint64_t cgx_clock_cycles(void)
{
    return (uint64_t)clock64();
}
CGX__INLINE uint64_t cgx_clock_nanoseconds(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

/* ---- misuse, where it is looked for: says the text with block, thread and line, and ends the launch ---- */

CGX__INLINE void cgx__gpu_misuse(const char *text, int line, const char *kernel = "cgx")
{
#if defined(__CUDA_ARCH__) /* nvcc's host pass does not know it */
    __assert_fail(text, __BASE_FILE__, (unsigned)line, kernel);
#else
    (void)text, (void)line, (void)kernel;
#endif
}

} /* extern "C++" */

#include <cgx/cuda_atomic.h>
#include <cgx/cuda_barrier.h>
#include <cgx/cuda_async.h>
#include <cgx/gpu_kernel.h>
#endif
