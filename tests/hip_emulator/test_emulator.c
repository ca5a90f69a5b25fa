/* SPDX-License-Identifier: MIT */
/* The stand-in for libamdhip64 does what the tests of the HIP backend take for granted, and reports what goes wrong. Its one
 * argument is a code object of kernels.hip for the chip in CGX_EMU_ARCH. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <cmocka.h>

enum { SKIPPED = 77, HOST_TO_DEVICE = 1, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };
enum {
    INVALID_VALUE = 1,
    NOT_SUPPORTED = 801,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    TIMED_OUT = 702,
    FAILED = 719,
    TOO_LARGE = 720
};
enum { ATTRIBUTE_UNITS = 63, ATTRIBUTE_WAVE = 87 };

int hipInit(unsigned);
int hipDeviceReset(void);
int hipDeviceGetAttribute(int *, int, int);
int hipMalloc(void **, size_t);
int hipMallocManaged(void **, size_t, unsigned);
int hipMallocAsync(void **, size_t, void *);
int hipFree(void *);
int hipFreeAsync(void *, void *);
int hipHostMalloc(void **, size_t, unsigned);
int hipHostFree(void *);
int hipMemcpy(void *, const void *, size_t, int);
int hipMemcpyAsync(void *, const void *, size_t, int, void *);
int hipMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, void *);
int hipMemsetD8Async(void *, unsigned char, size_t, void *);
int hipMemsetD16Async(void *, unsigned short, size_t, void *);
int hipMemsetD32Async(void *, int, size_t, void *);
int hipStreamCreateWithFlags(void **, unsigned);
int hipStreamDestroy(void *);
int hipStreamSynchronize(void *);
int hipStreamQuery(void *);
int hipStreamWaitEvent(void *, void *, unsigned);
int hipEventCreateWithFlags(void **, unsigned);
int hipEventDestroy(void *);
int hipDeviceSynchronize(void);
int hipEventRecord(void *, void *);
int hipEventSynchronize(void *);
int hipEventQuery(void *);
int hipEventElapsedTime(float *, void *, void *);
int hipModuleLoadData(void **, const void *);
int hipModuleUnload(void *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleGetGlobal(void **, size_t *, void *, const char *);
int hipFuncGetAttribute(int *, int, void *);
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                          void **);
int hipModuleLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     void *, void **);

static void *the_module;

#define OK(call) assert_int_equal((call), 0)
#define ARGUMENTS(...) ((void *[]){ __VA_ARGS__ })

static void *device(size_t bytes, const void *source)
{
    void *p = NULL;
    OK(hipMalloc(&p, bytes));
    OK(source ? hipMemcpy(p, source, bytes, HOST_TO_DEVICE) : hipMemsetD8Async(p, 0, bytes, NULL));
    OK(hipStreamSynchronize(NULL));
    return p;
}
static void fetch(void *to, const void *from, size_t bytes)
{
    OK(hipMemcpy(to, from, bytes, DEVICE_TO_HOST));
}
static void *kernel(const char *name)
{
    void *f = NULL;
    OK(hipModuleGetFunction(&f, the_module, name));
    return f;
}
/* What the wait for it says. */
static int run(const char *name, unsigned blocks, unsigned threads, unsigned lds, void **arguments)
{
    int e = hipModuleLaunchKernel(kernel(name), blocks, 1, 1, threads, 1, 1, lds, NULL, arguments, NULL);
    return e ? e : hipStreamSynchronize(NULL);
}
static int run_cooperative(const char *name, unsigned blocks, unsigned threads, void **arguments)
{
    int e = hipModuleLaunchCooperativeKernel(kernel(name), blocks, 1, 1, threads, 1, 1, 0, NULL, arguments);
    return e ? e : hipStreamSynchronize(NULL);
}

/* ---- kernels ---- */

static void sums_in_dynamic_memory(void **state)
{
    static float in[5000];
    float out[4], factor = 2;
    double expected = 0;
    unsigned n = 5000;
    (void)state;
    for (unsigned i = 0; i < n; i++)
        expected += in[i] = (float)(i % 17);
    void *from = device(sizeof in, in), *to = device(sizeof out, NULL);
    OK(run("reduce", 4, 256, 1024, ARGUMENTS(&to, &from, &n, &factor)));
    fetch(out, to, sizeof out);
    assert_true(out[0] + out[1] + out[2] + out[3] == 2 * expected);
    OK(hipFree(from));
}

static void arguments_of_odd_sizes(void **state)
{
    struct {
        char tag;
        double d;
        short s[3];
    } m = { 3, 2.5, { 1, 2, -9 } };
    const double expected[] = { -4, 300, 3, 2.5, -9, 1.25, 1099511627776.0, 128, 3 };
    double out[9];
    char a = -4;
    short b = 300;
    float f = 1.25f;
    unsigned long long q = 1ull << 40;
    void *to = device(sizeof out, NULL);
    (void)state;
    OK(run("arguments", 3, 128, 512, ARGUMENTS(&to, &a, &b, &m, &f, &q)));
    fetch(out, to, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

static void variables_of_a_module(void **state)
{
    void *address = NULL, *to = device(16, NULL);
    size_t bytes = 0;
    unsigned count = 0;
    float out[4];
    (void)state;
    OK(hipModuleGetGlobal(&address, &bytes, the_module, "count"));
    OK(hipMemcpy(&count, address, 4, DEVICE_TO_HOST));
    assert_int_equal(bytes, 4);
    assert_int_equal(count, 7);
    count = 10;
    OK(hipMemcpy(address, &count, 4, HOST_TO_DEVICE));
    OK(run("variables", 1, 64, 0, ARGUMENTS(&to)));
    fetch(out, to, sizeof out);
    fetch(&count, address, 4);
    assert_true(out[3] == 40);
    assert_int_equal(count, 11);
    assert_int_equal(hipModuleGetGlobal(&address, &bytes, the_module, "nothing"), NOT_FOUND);
}

static void barriers_in_a_block(void **state)
{
    int out[512], rounds = 3, few[256];
    void *to = device(sizeof out, NULL);
    (void)state;
    OK(run("barriers", 2, 256, 0, ARGUMENTS(&to, &rounds)));
    fetch(out, to, sizeof out);
    for (int i = 0; i < 512; i++)
        assert_int_equal(out[i], (i % 256 + 65 * rounds) % 256 + rounds);
    to = device(sizeof few, NULL);
    OK(run("ended", 1, 256, 0, ARGUMENTS(&to)));
    fetch(few, to, sizeof few);
    for (int i = 0; i < 256; i++)
        assert_int_equal(few[i], i < 128);
}

static void barriers_of_a_grid(void **state)
{
    static int out[32 * 64];
    int rounds = 3, per_unit, units;
    void *bar = device(4, NULL), *a = device(sizeof out, NULL), *b = device(sizeof out, NULL);
    void **arguments = ARGUMENTS(&bar, &a, &b, &rounds);
    (void)state;
    OK(run_cooperative("grid_barrier", 32, 64, arguments));
    fetch(out, b, sizeof out);
    for (int i = 0; i < 2048; i++)
        assert_int_equal(out[i], (rounds - 1) * 1000 + (i + 64) % 2048);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel("grid_barrier"), 64, 0));
    OK(hipDeviceGetAttribute(&units, ATTRIBUTE_UNITS, 0));
    assert_int_equal(run_cooperative("grid_barrier", (unsigned)(per_unit * units + 1), 64, arguments), TOO_LARGE);
}

static void addresses_of_all_kinds(void **state)
{
    int *shared, out[128], n = 100, flat = 1;
    void *wild = (void *)64, *to;
    (void)state;
    OK(hipHostMalloc((void **)&shared, 512, 0));
    memset(shared, 0, 512);
    OK(run("diverged", 1, 64, 0, ARGUMENTS(&shared, &wild)));
    for (int i = 0; i < 64; i++)
        assert_int_equal(shared[i], i & 1 ? 0 : i);
    OK(hipHostFree(shared));
    to = device(256, NULL);
    OK(run("scratch", 1, 64, 0, ARGUMENTS(&to, &n)));
    fetch(out, to, 256);
    for (int t = 0; t < 64; t++) {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += (i * 7 + t) % 40 * t;
        assert_int_equal(out[t], sum);
    }
    to = device(512, NULL);
    OK(run("generic", 1, 64, 0, ARGUMENTS(&to, &flat)));
    fetch(out, to, 512);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[64 + i], 63 - i);
}

static void atomics_and_denormals(void **state)
{
    unsigned who[16], seen = 0;
    float tiny = 2e-38f, half;
    void *n = device(4, NULL), *to = device(64, NULL);
    (void)state;
    OK(run("order", 16, 64, 0, ARGUMENTS(&n, &to)));
    fetch(who, to, sizeof who);
    for (int i = 0; i < 16; i++)
        seen |= 1u << who[i];
    assert_int_equal(seen, 0xffff);
    to = device(256, NULL);
    OK(run("halve", 1, 64, 0, ARGUMENTS(&to, &tiny)));
    fetch(&half, to, 4);
    assert_true(half == tiny * 0.5f && half != 0);
}

static void attributes_of_a_kernel(void **state)
{
    int threads, lds, wave;
    (void)state;
    OK(hipFuncGetAttribute(&threads, 0, kernel("barriers")));
    OK(hipFuncGetAttribute(&lds, 1, kernel("barriers")));
    OK(hipDeviceGetAttribute(&wave, ATTRIBUTE_WAVE, 0));
    assert_int_equal(threads, 1024);
    assert_int_equal(lds, 256 * 4 + 12);
    assert_int_equal(wave, strstr(getenv("CGX_EMU_ARCH"), "gfx9") ? 64 : 32);
}

/* ---- memory, streams, events ---- */

static void copies_and_fills(void **state)
{
    unsigned char grid[8][16], part[4][5];
    unsigned short wide[4];
    void *d, *e, *s, *managed;
    (void)state;
    OK(hipStreamCreateWithFlags(&s, 1));
    OK(hipMallocAsync(&d, sizeof grid, s));
    OK(hipMalloc(&e, sizeof grid));
    for (int i = 0; i < 128; i++)
        grid[i / 16][i % 16] = (unsigned char)i;
    OK(hipMemcpyAsync(d, grid, sizeof grid, BY_ADDRESS, s));
    OK(hipMemcpyAsync(e, d, sizeof grid, DEVICE_TO_DEVICE, s));
    OK(hipMemcpy2DAsync(part, 5, (char *)e + 2 * 16 + 3, 16, 5, 4, BY_ADDRESS, s));
    OK(hipStreamSynchronize(s));
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 5; x++)
            assert_int_equal(part[y][x], (y + 2) * 16 + x + 3);
    OK(hipMemsetD16Async(d, 0x1234, 4, s));
    OK(hipMemsetD32Async((char *)d + 8, 0x55667788, 1, s));
    OK(hipStreamSynchronize(s));
    fetch(wide, d, sizeof wide);
    assert_int_equal(wide[3], 0x1234);
    fetch(grid, d, 16);
    assert_int_equal(grid[0][8], 0x88);
    assert_int_equal(grid[0][12], 12); /* untouched */
    assert_int_equal(hipMemcpy(d, grid, sizeof grid + 1, HOST_TO_DEVICE), INVALID_VALUE);
    assert_int_equal(hipMemcpy(grid, (char *)d + 1, sizeof grid, BY_ADDRESS), INVALID_VALUE);
    assert_int_equal(hipMemsetD32Async(d, 0, sizeof grid / 4 + 1, s), INVALID_VALUE);
    OK(hipFreeAsync(d, s));
    assert_int_equal(hipMemcpy(grid, d, 1, BY_ADDRESS), INVALID_VALUE);
    assert_int_equal(hipFree(d), INVALID_VALUE);
    assert_int_equal(hipHostFree(e), INVALID_VALUE);
    OK(hipFree(e));
    OK(hipMallocManaged(&managed, 4, 1));
    *(int *)managed = 3;
    OK(run("add_to", 1, 1, 0, ARGUMENTS(&managed, &(int){ 4 })));
    assert_int_equal(*(int *)managed, 7);
    OK(hipFree(managed));
    OK(hipStreamDestroy(s));
}

static void events_and_their_times(void **state)
{
    void *s, *first, *second, *never;
    float ms = -1;
    (void)state;
    OK(hipStreamCreateWithFlags(&s, 1));
    OK(hipEventCreateWithFlags(&first, 0));
    OK(hipEventCreateWithFlags(&second, 0));
    OK(hipEventCreateWithFlags(&never, 0));
    OK(hipEventRecord(first, s));
    OK(hipStreamWaitEvent(s, first, 0));
    OK(hipEventRecord(second, s));
    OK(hipEventSynchronize(second));
    OK(hipEventQuery(second));
    OK(hipStreamQuery(s));
    OK(hipEventElapsedTime(&ms, first, second));
    assert_true(ms >= 0);
    assert_int_not_equal(hipEventElapsedTime(&ms, first, never), 0);
    OK(hipEventDestroy(first));
    OK(hipEventDestroy(second));
    OK(hipEventDestroy(never));
    OK(hipStreamDestroy(s));
}

/* ---- streams that work while the host goes on ---- */

/* A kernel on S that waits for *FLAG and stores VALUE at OUT. */
static void wait_on(void *s, unsigned *flag, void *out, unsigned value)
{
    OK(hipModuleLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, s, ARGUMENTS(&flag, &out, &value), NULL));
}
static unsigned *new_flag(void)
{
    void *flag = NULL;
    OK(hipHostMalloc(&flag, 64, 0));
    memset(flag, 0, 64);
    return flag;
}
static void set(unsigned *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}
static void *new_stream(void)
{
    void *s = NULL;
    OK(hipStreamCreateWithFlags(&s, 1));
    return s;
}
static void *new_event(void)
{
    void *e = NULL;
    OK(hipEventCreateWithFlags(&e, 0));
    return e;
}

static void the_host_goes_on_while_a_kernel_runs(void **state)
{
    unsigned *flag = new_flag(), seen = 1, one = 1;
    void *s = new_stream(), *other = new_stream(), *before = new_event(), *behind = new_event(), *out = device(8, NULL);
    float ms = -1;
    (void)state;
    OK(hipEventRecord(before, s));
    wait_on(s, flag, out, 7);
    OK(hipMemcpyAsync(&seen, out, 4, BY_ADDRESS, s)); /* also of pageable memory */
    OK(hipEventRecord(behind, s));
    assert_int_equal(hipStreamQuery(s), NOT_READY);
    assert_int_equal(hipEventQuery(behind), NOT_READY);
    assert_int_equal(hipEventElapsedTime(&ms, before, behind), NOT_READY);
    OK(hipStreamQuery(other));
    OK(hipMemcpyAsync((char *)out + 4, &one, 4, BY_ADDRESS, other)); /* other streams go on */
    OK(hipStreamSynchronize(other));
    OK(hipStreamWaitEvent(other, behind, 0));
    assert_int_equal(hipStreamQuery(other), NOT_READY); /* behind the event */
    assert_int_equal(seen, 1);
    set(flag);
    OK(hipEventSynchronize(behind));
    assert_int_equal(seen, 7);
    OK(hipStreamSynchronize(other));
    OK(hipStreamQuery(s));
    OK(hipEventElapsedTime(&ms, before, behind));
    assert_true(ms > 0);
    OK(hipEventDestroy(before));
    OK(hipEventDestroy(behind));
    OK(hipStreamDestroy(s));
    OK(hipStreamDestroy(other));
    assert_int_not_equal(hipStreamDestroy(other), 0);
    assert_int_equal(hipStreamCreateWithFlags(&s, 0), NOT_SUPPORTED);
    OK(hipFree(out));
    OK(hipHostFree(flag));
}

/* Recorded twice: a wait is for the record before it, a query is of the last one. Destroyed, it still holds back. */
static void records_of_an_event(void **state)
{
    unsigned *flag = new_flag(), *second = new_flag(), seen = 0;
    void *s = new_stream(), *other = new_stream(), *e = new_event(), *out = device(8, NULL);
    (void)state;
    OK(hipEventQuery(e)); /* never recorded */
    OK(hipStreamWaitEvent(other, e, 0));
    OK(hipStreamSynchronize(other));
    wait_on(s, flag, out, 3);
    OK(hipEventRecord(e, s));
    OK(hipStreamWaitEvent(other, e, 0));
    OK(hipMemcpyAsync(&seen, out, 4, BY_ADDRESS, other));
    wait_on(s, second, (char *)out + 4, 4);
    OK(hipEventRecord(e, s));
    set(flag);
    OK(hipStreamSynchronize(other)); /* not for the second kernel */
    assert_int_equal(seen, 3);
    assert_int_equal(hipEventQuery(e), NOT_READY);
    OK(hipStreamWaitEvent(other, e, 0));
    OK(hipEventDestroy(e));
    assert_int_equal(hipStreamQuery(other), NOT_READY);
    set(second);
    OK(hipDeviceSynchronize());
    OK(hipStreamQuery(other));
    OK(hipStreamDestroy(s));
    OK(hipStreamDestroy(other));
    OK(hipFree(out));
    OK(hipHostFree(flag));
    OK(hipHostFree(second));
}

/* Memory that a stream frees is there for what the stream does before, and for nobody who asks later. */
static void memory_freed_in_order(void **state)
{
    unsigned *flag = new_flag();
    void *s = new_stream(), *d = NULL;
    (void)state;
    OK(hipMallocAsync(&d, 64, s));
    wait_on(s, flag, d, 5);
    OK(hipFreeAsync(d, s));
    assert_int_equal(hipMemcpy(flag, d, 4, BY_ADDRESS), INVALID_VALUE);
    assert_int_equal(hipFreeAsync(d, s), INVALID_VALUE);
    set(flag);
    OK(hipStreamSynchronize(s));
    OK(hipStreamDestroy(s));
    OK(hipHostFree(flag));
}

/* Addresses are given away again when all have been used: never those of memory that is in use. */
static void addresses_used_again(void **state)
{
    enum { KEPT = 3, MORE = 12 };
    const size_t large = (size_t)900 << 20, kept_bytes = 256;
    char *kept[KEPT], *p = NULL;
    void *between[KEPT];
    (void)state;
    for (int i = 0; i < KEPT; i++) {
        OK(hipMalloc(&between[i], large));
        kept[i] = device(kept_bytes, NULL);
    }
    for (int i = 0; i < KEPT; i++)
        OK(hipFree(between[i]));
    for (int i = 0; i < MORE; i++) {
        const size_t bytes = large - ((size_t)i << 26);
        OK(hipMalloc((void **)&p, bytes));
        for (int k = 0; k < KEPT; k++)
            assert_true(p + bytes <= kept[k] || kept[k] + kept_bytes <= p);
        OK(hipFree(p));
    }
    for (int i = 0; i < KEPT; i++)
        OK(hipFree(kept[i]));
}

/* Each has a stream of its own; the kernels of all of them add to the same counters. */
static void *with_a_stream(void *counters)
{
    enum { ROUNDS = 20 };
    const char *failed = NULL;
    void *s = NULL, *mine = NULL, *e = NULL;
    int out[64], one = 1;
    if (hipStreamCreateWithFlags(&s, 1) || hipEventCreateWithFlags(&e, 0) || hipMallocAsync(&mine, 256, s) ||
        hipMemsetD32Async(mine, 0, 64, s))
        return "setting up";
    for (int i = 0; i < ROUNDS && !failed; i++) {
        if (hipModuleLaunchKernel(kernel("add_to"), 1, 1, 1, 64, 1, 1, 0, s, ARGUMENTS(&mine, &one), NULL) ||
            hipModuleLaunchKernel(kernel("add_to"), 1, 1, 1, 64, 1, 1, 0, s, ARGUMENTS(&counters, &one), NULL) ||
            hipMemcpyAsync(out, mine, sizeof out, BY_ADDRESS, s) || hipEventRecord(e, s) || hipEventSynchronize(e))
            failed = "a call";
        else if (out[0] != i + 1 || out[63] != i + 1)
            failed = "a count";
    }
    if (hipFreeAsync(mine, s) || hipStreamDestroy(s) || hipEventDestroy(e))
        failed = "the end";
    return (void *)(uintptr_t)failed;
}
static void streams_of_several_threads(void **state)
{
    pthread_t thread[4];
    void *counters = device(256, NULL), *failed;
    int out[64];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(thread + i, NULL, with_a_stream, counters), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &failed);
        if (failed)
            fail_msg("thread %d: %s", i, (const char *)failed);
    }
    fetch(out, counters, sizeof out);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], 80);
    OK(hipFree(counters));
}

/* A kernel that fails on one stream ends the others' work too, and wakes who waits. A reset ends one that runs. */
static void errors_of_a_stream(void **state)
{
    unsigned *flag = new_flag();
    void *s = new_stream(), *other = new_stream(), *e = new_event(), *d = device(64, NULL), *wild = (void *)64;
    unsigned long long at = 0;
    (void)state;
    OK(hipModuleLaunchKernel(kernel("poke"), 1, 1, 1, 1, 1, 1, 0, s, ARGUMENTS(&wild, &at), NULL));
    const int recorded = hipEventRecord(e, s), held = hipStreamWaitEvent(other, e, 0); /* it may have failed by now */
    assert_true((!recorded || recorded == ILLEGAL_ADDRESS) && (!held || held == ILLEGAL_ADDRESS));
    assert_int_equal(hipStreamSynchronize(s), ILLEGAL_ADDRESS);
    assert_int_equal(hipEventSynchronize(e), ILLEGAL_ADDRESS);
    OK(hipDeviceReset());
    wait_on(s, flag, d, 1);
    OK(hipDeviceReset());
    OK(hipStreamQuery(s));
    OK(hipEventDestroy(e));
    OK(hipStreamDestroy(s));
    OK(hipStreamDestroy(other));
    OK(hipFree(d));
    OK(hipHostFree(flag));
}

static void odd_places_of_lds(void **state)
{
    enum { BYTES = 39 };
    unsigned char out[64][BYTES];
    void *to = device(sizeof out, NULL);
    (void)state;
    OK(run("odd_places", 1, 64, 0, ARGUMENTS(&to)));
    fetch(out, to, sizeof out);
    for (unsigned t = 0; t < 64; t++) {
        const unsigned n = t ^ 1;
        unsigned char expected[BYTES];
        const uint64_t wide[] = { 0x0102030405060708u + n, 0x1112131415161718u + n, 0x2122232425262728u + n };
        const uint32_t words[] = { 0x41424344 + n, 0x51525354, 0x61626364 - n };
        expected[0] = (unsigned char)n;
        memcpy(expected + 1, wide, 24);
        memcpy(expected + 25, &(uint16_t){ 0x3132 }, 2);
        memcpy(expected + 27, words, 12);
        assert_memory_equal(out[t], expected, BYTES);
    }
    OK(hipFree(to));
}

enum { LAUNCHES = 20, LAUNCHERS = 4 };
static void *launcher(void *counters)
{
    for (int i = 0; i < LAUNCHES; i++)
        if (hipModuleLaunchKernel(kernel("add_to"), 1, 1, 1, 64, 1, 1, 0, NULL, ARGUMENTS(&counters, &(int){ 1 }),
                                  NULL))
            return "launch";
    return NULL;
}
static void launches_from_several_threads(void **state)
{
    pthread_t thread[LAUNCHERS];
    void *counters = device(256, NULL), *failed;
    int out[64];
    (void)state;
    kernel("add_to");
    for (int i = 0; i < LAUNCHERS; i++)
        assert_int_equal(pthread_create(thread + i, NULL, launcher, counters), 0);
    for (int i = 0; i < LAUNCHERS; i++) {
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    fetch(out, counters, sizeof out);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], LAUNCHES * LAUNCHERS);
}

/* ---- what goes wrong ---- */

static void accesses_outside_memory(void **state)
{
    int v = 0, i = 16;
    unsigned long long at = 255;
    void *d = device(1024, NULL), *host = &v;
    (void)state;
    OK(run("poke", 1, 1, 0, ARGUMENTS(&d, &at)));
    at = 256;
    assert_int_equal(run("poke", 1, 1, 0, ARGUMENTS(&d, &at)), ILLEGAL_ADDRESS);
    assert_int_equal(hipMemcpy(&v, d, 4, DEVICE_TO_HOST), ILLEGAL_ADDRESS); /* it stays */
    OK(hipDeviceReset());
    at = 0;
    assert_int_equal(run("poke", 1, 1, 0, ARGUMENTS(&host, &at)), ILLEGAL_ADDRESS);
    OK(hipDeviceReset());
    OK(hipFree(d));
    assert_int_equal(run("poke", 1, 1, 0, ARGUMENTS(&d, &at)), ILLEGAL_ADDRESS);
    OK(hipDeviceReset());
    d = device(64, NULL);
    OK(run("beyond_lds", 1, 64, 0, ARGUMENTS(&d, &(int){ 15 })));
    assert_int_equal(run("beyond_lds", 1, 64, 0, ARGUMENTS(&d, &i)), ILLEGAL_ADDRESS);
    OK(hipDeviceReset());
}

static void kernels_that_do_not_end(void **state)
{
    void *d = device(64, NULL);
    (void)state;
    assert_int_equal(run("hang", 2, 64, 0, ARGUMENTS(&d)), TIMED_OUT);
    OK(hipDeviceReset());
    setenv("CGX_EMU_LIMIT", "1000000", 1);
    assert_int_equal(run("endless", 1, 128, 0, ARGUMENTS(&d)), TIMED_OUT);
    unsetenv("CGX_EMU_LIMIT");
    OK(hipDeviceReset());
    setenv("CGX_EMU_TIMEOUT_MS", "50", 1);
    assert_int_equal(run("endless", 1, 128, 0, ARGUMENTS(&d)), TIMED_OUT);
    unsetenv("CGX_EMU_TIMEOUT_MS");
    OK(hipDeviceReset());
}

static void a_worker_that_dies(void **state)
{
    void *d = device(256, NULL);
    const char *python = getenv("CGX_EMU_PYTHON");
    int out[64];
    (void)state;
    OK(hipDeviceReset()); /* there is none now */
    setenv("CGX_EMU_PYTHON", "false", 1);
    assert_int_equal(run("add_to", 1, 64, 0, ARGUMENTS(&d, &(int){ 1 })), FAILED);
    if (python)
        setenv("CGX_EMU_PYTHON", python, 1);
    else
        unsetenv("CGX_EMU_PYTHON");
    OK(hipDeviceReset());
    OK(run("add_to", 1, 64, 0, ARGUMENTS(&d, &(int){ 2 })));
    fetch(out, d, sizeof out);
    assert_int_equal(out[63], 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_in_dynamic_memory),
        cmocka_unit_test(arguments_of_odd_sizes),
        cmocka_unit_test(variables_of_a_module),
        cmocka_unit_test(barriers_in_a_block),
        cmocka_unit_test(barriers_of_a_grid),
        cmocka_unit_test(addresses_of_all_kinds),
        cmocka_unit_test(atomics_and_denormals),
        cmocka_unit_test(attributes_of_a_kernel),
        cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(events_and_their_times),
        cmocka_unit_test(launches_from_several_threads),
        cmocka_unit_test(the_host_goes_on_while_a_kernel_runs),
        cmocka_unit_test(records_of_an_event),
        cmocka_unit_test(memory_freed_in_order),
        cmocka_unit_test(addresses_used_again),
        cmocka_unit_test(streams_of_several_threads),
        cmocka_unit_test(errors_of_a_stream),
        cmocka_unit_test(odd_places_of_lds),
        cmocka_unit_test(accesses_outside_memory),
        cmocka_unit_test(kernels_that_do_not_end),
        cmocka_unit_test(a_worker_that_dies),
    };
    static unsigned char image[1 << 20];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!getenv("TINYGRAD")) {
        printf("skipped: TINYGRAD names no checkout of tinygrad, whose emulator is needed\n");
        return SKIPPED;
    }
    if (!file || !fread(image, 1, sizeof image, file) || hipInit(0) || hipModuleLoadData(&the_module, image)) {
        fprintf(stderr, "cannot load the code object %s\n", argc == 2 ? argv[1] : "");
        return 1;
    }
    fclose(file);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return hipModuleUnload(the_module) || failed;
}
