// SPDX-License-Identifier: MIT
// Kernels of test_emulator.c; they read no header, so that what fails here is the emulator's.
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device)) inline
#define SHARED __attribute__((shared))
typedef unsigned u32;

DEVICE u32 thread() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 block() { return __builtin_amdgcn_workgroup_id_x(); }
// Hidden arguments: hidden_group_size_x, hidden_block_count_x, hidden_dynamic_lds_size.
DEVICE u32 threads() { return ((const unsigned short *)__builtin_amdgcn_implicitarg_ptr())[6]; }
DEVICE u32 blocks() { return ((const u32 *)__builtin_amdgcn_implicitarg_ptr())[0]; }
DEVICE u32 dynamic_lds() { return ((const u32 *)__builtin_amdgcn_implicitarg_ptr())[30]; }
DEVICE void sync()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define LOAD(p, order, scope) __hip_atomic_load(p, __ATOMIC_##order, __HIP_MEMORY_SCOPE_##scope)
// Time that the scheduler gives.
DEVICE unsigned long long clock_now()
{
#if __GFX11__
    unsigned long long v;
    asm volatile("s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_waitcnt lgkmcnt(0)" : "=s"(v)::"memory");
    return v;
#else
    return __builtin_amdgcn_s_memrealtime();
#endif
}
#define ADD(p, v, scope) __hip_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_##scope)

extern "C" {
__attribute__((device, used)) u32 count = 7;
__attribute__((device, used)) float scale[4] = { 1, 2, 3, 4 };
__attribute__((device, used)) u32 *count_pointer = &count;
extern SHARED float dynamic[];
}
struct mixed {
    char tag;
    double d;
    short s[3];
};

// A block's sum in dynamic LDS.
KERNEL reduce(float *out, const float *in, u32 n, float factor)
{
    u32 t = thread(), size = threads();
    float v = 0;
    for (u32 i = block() * size + t; i < n; i += size * blocks())
        v += in[i];
    dynamic[t] = v * factor;
    sync();
    for (u32 s = size / 2; s; s /= 2) {
        if (t < s)
            dynamic[t] += dynamic[t + s];
        sync();
    }
    if (!t)
        out[block()] = dynamic[0] + (dynamic_lds() == 4 * size ? 0 : 1e6f);
}
// Odd sizes and offsets, and hidden arguments behind them.
KERNEL arguments(double *o, char a, short b, mixed m, float f, unsigned long long q)
{
    if (thread() == 0) {
        o[0] = a, o[1] = b, o[2] = m.tag, o[3] = m.d, o[4] = m.s[2], o[5] = f, o[6] = (double)q;
        o[7] = threads(), o[8] = blocks();
    }
}
KERNEL variables(float *o)
{
    u32 t = thread();
    if (t < 4)
        o[t] = scale[t] * count;
    if (!t)
        ADD(count_pointer, 1u, AGENT);
}
struct barrier {
    u32 pending, expected, phase;
};
DEVICE u32 arrive(barrier *b)
{
    u32 phase = LOAD(&b->phase, RELAXED, WORKGROUP);
    if (ADD(&b->pending, -1u, WORKGROUP) == 1) {
        b->pending = b->expected;
        __hip_atomic_store(&b->phase, phase + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    return phase;
}
DEVICE void wait(barrier *b, u32 phase)
{
    while (LOAD(&b->phase, ACQUIRE, WORKGROUP) == phase)
        __builtin_amdgcn_s_sleep(1);
}
KERNEL barriers(int *out, int rounds)
{
    SHARED static barrier b;
    SHARED static int s[256];
    u32 t = thread();
    if (!t)
        b = { 256, 256, 0 };
    sync();
    int v = t;
    for (int r = 0; r < rounds; r++) {
        s[t] = v;
        wait(&b, arrive(&b));
        v = s[(t + 65) & 255] + 1;
        wait(&b, arrive(&b));
    }
    out[block() * 256 + t] = v;
}
KERNEL grid_barrier(u32 *bar, int *a, int *b, int rounds)
{
    u32 t = thread(), i = block() * threads() + t, n = blocks() * threads(), goal = 0;
    for (int r = 0; r < rounds; r++)
        for (int half = 0; half < 2; half++) {
            if (half)
                b[i] = a[(i + threads()) % n];
            else
                a[i] = r * 1000 + i;
            __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
            __builtin_amdgcn_s_barrier();
            goal += blocks();
            if (!t) {
                ADD(bar, 1u, AGENT);
                while (LOAD(bar, ACQUIRE, AGENT) < goal)
                    __builtin_amdgcn_s_sleep(1);
            }
            __builtin_amdgcn_s_barrier();
            __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        }
}
// Inactive lanes hold a bad pointer.
KERNEL diverged(int *o, int *bad)
{
    u32 t = thread();
    int *p = t & 1 ? bad : o + t;
    if (!(t & 1))
        *p = *p + t;
}
// A flat access to LDS.
KERNEL generic(int *o, int k)
{
    SHARED static int s[64];
    u32 t = thread();
    s[t] = t;
    o[t] = 100 + t;
    sync();
    int *p = k ? s : o;
    asm volatile("" : "+v"(p));
    o[64 + t] = p[63 - t];
}
KERNEL scratch(int *o, int n)
{
    int x[40], sum = 0;
    u32 t = thread();
    for (int i = 0; i < 40; i++)
        x[i] = i * t;
    for (int i = 0; i < n; i++)
        sum += x[(i * 7 + t) % 40];
    o[t] = sum;
}
KERNEL order(u32 *n, u32 *who)
{
    if (!thread())
        who[ADD(n, 1u, AGENT)] = block();
}
KERNEL halve(float *o, float a) { o[thread()] = a * 0.5f; }
KERNEL poke(int *p, unsigned long long i) { p[i] = 1; }
KERNEL beyond_lds(int *o, int i)
{
    SHARED static int s[16];
    s[thread() & 15] = 1;
    sync();
    o[0] = s[i];
}
KERNEL hang(u32 *flag)
{
    while (LOAD(flag, RELAXED, AGENT) == 0)
        __builtin_amdgcn_s_sleep(1);
}
KERNEL endless(u32 *flag)
{
    while (LOAD(flag, RELAXED, AGENT) == 0) {
    }
}
// Waves that have ended do not hold up a barrier.
KERNEL ended(int *o)
{
    u32 t = thread();
    sync();
    if (t >= 128)
        return;
    sync();
    o[t] = 1;
}
KERNEL add_to(int *o, int v) { ADD(o + thread(), v, AGENT); }
// Goes on looking while the host thinks; clocks keep it from being a deadlock.
KERNEL wait_for(u32 *flag, u32 *out, u32 value)
{
    while (LOAD(flag, ACQUIRE, SYSTEM) == 0) {
        clock_now();
        __builtin_amdgcn_s_sleep(1);
    }
    *out = value;
}
// Bytes at any address of LDS, in pieces as large as the compiler dares, packed and not.
struct __attribute__((packed)) odd {
    unsigned char first;
    unsigned long long a, b, c;
    unsigned short d;
    u32 e, f, g;
};
KERNEL odd_places(unsigned char *out)
{
    SHARED static odd room[64];
    const u32 t = thread();
    const odd mine = { (unsigned char)t, 0x0102030405060708ull + t, 0x1112131415161718ull + t, 0x2122232425262728ull + t, 0x3132,
                       0x41424344 + t, 0x51525354, 0x61626364 - t };
    room[t] = mine;
    sync();
    ((odd *)out)[t] = room[t ^ 1];
}
