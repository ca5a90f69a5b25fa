/* SPDX-License-Identifier: MIT */
/* What a launch costs the host, in microseconds a launch: through cgx, and with cuLaunchKernel on the same stream, of a
 * kernel of the same arguments. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "gpu.h"
#include "launch_kernels.h"

enum { BACK_TO_BACK = 200, WAITED = 50, THREADS = 32 };

/* The driver itself (CUDA Driver API). */
static int (*load_module)(void **, const void *);
static int (*get_function)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                     void **);
static int (*wait)(void *);
static int (*push)(void *);

static const char ptx[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing()\n{\n ret;\n}\n"
                          ".visible .entry store(.param .u64 out, .param .u32 value, .param .u64 a, .param .f64 b)\n{\n"
                          " .reg .b64 %p, %g;\n .reg .b32 %v;\n ld.param.u64 %p, [out];\n ld.param.u32 %v, [value];\n"
                          " cvta.to.global.u64 %g, %p;\n st.global.u32 [%g], %v;\n ret;\n}\n";

static void *stream, *functions[2];
static uint32_t *out, value;

static void find(void *library, const char *symbol, void *function)
{
    void *address = dlsym(library, symbol);
    if (!address)
        gpu_fail(symbol, "not in libcuda.so.1");
    memcpy(function, &address, sizeof address);
}

static void check(int error, const char *what)
{
    if (error) {
        char text[32];
        snprintf(text, sizeof text, "error %d", error);
        gpu_fail(what, text);
    }
}

static void start_driver(void)
{
    void *context, *module, *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        gpu_fail("libcuda.so.1", dlerror());
    find(library, "cuModuleLoadData", &load_module);
    find(library, "cuModuleGetFunction", &get_function);
    find(library, "cuLaunchKernel", &launch);
    find(library, "cuStreamSynchronize", &wait);
    find(library, "cuCtxPushCurrent_v2", &push);
    CGX_TRY(cgx_queue_get_native(gpu_queue, &context, &stream));
    check(push(context), "cuCtxPushCurrent");
    check(load_module(&module, ptx), "cuModuleLoadData");
    check(get_function(functions, module, "nothing"), "cuModuleGetFunction");
    check(get_function(functions + 1, module, "store"), "cuModuleGetFunction");
}

/* ---- the four kinds of launch ---- */

static void cgx_nothing(void)
{
    CGX_TRY(nothing_launch(gpu_queue, cgx_config_1d(1, THREADS)));
}
static void cgx_store(void)
{
    CGX_TRY(store_launch(gpu_queue, cgx_config_1d(1, THREADS), out, ++value, 1, 2.0));
}
static void driver_nothing(void)
{
    check(launch(functions[0], 1, 1, 1, THREADS, 1, 1, 0, stream, NULL, NULL), "cuLaunchKernel");
}
static void driver_store(void)
{
    int64_t a = 1;
    double b = 2;
    value++;
    void *arguments[] = { &out, &value, &a, &b };
    check(launch(functions[1], 1, 1, 1, THREADS, 1, 1, 0, stream, arguments, NULL), "cuLaunchKernel");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double back_to_back(void (*one)(void))
{
    const double start = now();
    for (int i = 0; i < BACK_TO_BACK; i++)
        one();
    check(wait(stream), "cuStreamSynchronize");
    return (now() - start) / BACK_TO_BACK;
}
static double waited(void (*one)(void))
{
    const double start = now();
    for (int i = 0; i < WAITED; i++) {
        one();
        check(wait(stream), "cuStreamSynchronize");
    }
    return (now() - start) / WAITED;
}

static void compare(const char *name, double (*way)(void (*)(void)), void (*cgx)(void), void (*driver)(void))
{
    /* Many short samples, taking turns at going first: a host that others use is 5 % faster and slower from one tenth of a
     * second to the next, and 5 % are what is asked about. */
    enum { SAMPLES = 501 };
    double samples[2][SAMPLES];
    for (int k = -1; k < SAMPLES; k++)
        for (int turn = 0; turn < 2; turn++) {
            const int side = (turn + k) & 1;
            uint32_t left = 0;
            samples[side][k < 0 ? 0 : k] = way(side ? driver : cgx);
            CGX_TRY(cgx_copy(gpu_queue, &left, out, sizeof left));
            CGX_TRY(cgx_queue_wait(gpu_queue));
            if (cgx == cgx_store && left != value)
                gpu_fail(name, "the last launch has not run");
        }
    gpu_row(name,
            (gpu_form[]){ { NULL, gpu_median(samples[0], SAMPLES) },
                          { "cuLaunchKernel", gpu_median(samples[1], SAMPLES) } },
            2, 1e6, "us", "launches");
}

int main(int argc, char **argv)
{
    gpu_begin(argc, argv, "cuda_launch");
    out = gpu_alloc(sizeof *out);
    start_driver();
    compare("back to back, no arguments", back_to_back, cgx_nothing, driver_nothing);
    compare("back to back, 4 arguments", back_to_back, cgx_store, driver_store);
    compare("launch and wait, no arguments", waited, cgx_nothing, driver_nothing);
    compare("launch and wait, 4 arguments", waited, cgx_store, driver_store);
    CGX_TRY(cgx_free(gpu_queue, out));
    return gpu_end();
}
