// SPDX-License-Identifier: MIT
// sanitizer_limits NAME: right programs without cgx of which compute-sanitizer 2025.3.1 reports errors, or does not end. sanitizer.txt
// says which tool, and where the suite has the same construct; scripts/run_sanitizer.py runs both.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__device__ uint32_t address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ void init(uint64_t *b, uint32_t count)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(b)), "r"(count) : "memory");
    __syncthreads();
}
__device__ void arrive(uint64_t *b, uint32_t n)
{
    asm volatile("{.reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0], %1;}" ::"r"(address(b)), "r"(n) : "memory");
}
__device__ void wait_first(uint64_t *b)
{
    int over;
    do
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p;}"
                     : "=r"(over)
                     : "r"(address(b))
                     : "memory");
    while (!over);
}

// The warps of a block meet at barriers in two places of the text.
__global__ void two_texts(int *o)
{
    __shared__ int s[128];
    int r = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; i++)
        if (r < 64) {
            s[r] = i;
            __syncthreads();
            sum += s[127 - r];
            __syncthreads();
        } else {
            s[r] = 10 * i;
            __syncthreads();
            sum += 3 * s[127 - r];
            __syncthreads();
        }
    o[r] = sum;
}
// Two phases; another barrier orders them.
__global__ void no_wait(int *o)
{
    __shared__ uint64_t b;
    init(&b, blockDim.x);
    for (int i = 0; i < 2; i++) {
        arrive(&b, 1);
        __syncthreads();
    }
    o[threadIdx.x] = 1;
}
// The arrival of a thread's copies, which one pending arrival more was made for, and its own.
__global__ void copies_arrive(int *o)
{
    __shared__ uint64_t b;
    __shared__ int s[128];
    init(&b, blockDim.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(s + threadIdx.x)),
                 "l"(__cvta_generic_to_global(o + threadIdx.x))
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(address(&b)) : "memory");
    arrive(&b, 1);
    wait_first(&b);
    o[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
// A flag.
__global__ void over_flag(int *o)
{
    __shared__ int s, flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        s = 7;
        asm volatile("st.release.cta.shared.s32 [%0], 1;" ::"r"(address(&flag)) : "memory");
    } else if (threadIdx.x == 32) {
        int set;
        do
            asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(set) : "r"(address(&flag)) : "memory");
        while (!set);
        o[0] = s;
    }
}
// Each odd thread arrives for two, which have met before.
__global__ void over_two(int *o)
{
    __shared__ uint64_t b;
    __shared__ int s[128];
    init(&b, blockDim.x);
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (threadIdx.x & 1)
        arrive(&b, 2);
    wait_first(&b);
    o[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
// Named barriers: tiles of 64 threads exchange unequally often, then tiles of 128 and the block.
__device__ void named(int id, int threads)
{
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__global__ void uneven(int *o)
{
    __shared__ int s[2][256], middle[2][256], all[2][256];
    const int r = threadIdx.x, tile = r / 64;
    int sum = 0, turn = 0;
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k <= tile % 3; k++, turn ^= 1) {
            s[turn][r] = r;
            named(8 + tile, 64);
            sum += s[turn][r ^ 32];
        }
        middle[i & 1][r] = r;
        named(4 + r / 128, 128);
        sum += middle[i & 1][r ^ 64];
        all[i & 1][r] = r;
        __syncthreads();
        sum += all[i & 1][r ^ 128];
    }
    o[r] = sum;
}
__global__ void busy(int *o)
{
    for (int i = 0; i < 1000; i++)
        __nanosleep(1000);
    o[0] = 1;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int devices = 0, *o = nullptr;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        puts("no GPU here that CUDA can use");
        return 77;
    }
    if (const cudaError_t error = cudaMalloc(&o, 1024)) {
        printf("cudaMalloc: %s\n", cudaGetErrorString(error));
        return 1;
    }
    bool known = false;
#define RUN(kernel, threads)       \
    if (!strcmp(name, #kernel)) {  \
        known = true;              \
        kernel<<<1, threads>>>(o); \
    }
    RUN(two_texts, 128)
    RUN(no_wait, 128)
    RUN(copies_arrive, 128)
    RUN(over_flag, 128)
    RUN(over_two, 128)
    RUN(uneven, 256)
    if (!strcmp(name, "fork_exit")) {
        int status = 0;
        known = true;
        busy<<<1, 1>>>(o);
        pid_t child = fork();
        if (child == 0)
            exit(6);
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 6)
            return 1;
    }
    if (!known) {
        printf("sanitizer_limits NAME: %s is none\n", name);
        return 2;
    }
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess)
        e = cudaDeviceSynchronize();
    if (e != cudaSuccess)
        printf("%s: %s\n", name, cudaGetErrorString(e));
    return e != cudaSuccess;
}
