/* SPDX-License-Identifier: MIT */
/* What both device passes make of <cgx/kernel.h>: a kernel becomes its device symbol, extern "C" NAME__device, with the
 * user's parameters and a hidden one. Host code of a one-file program is read by device compilers too and its code thrown away: what it calls
 * is declared and never defined. */
#ifndef CGX_GPU_KERNEL_H
#define CGX_GPU_KERNEL_H
#include <cgx/kernel.h>
#include <cgx/requests.h>

/* Marks a function that is declared and defined nowhere: a kernel that uses it compiles to an unresolved reference, and its
 * image does not link. For what a chip cannot have. */
#define CGX__DECLARED __device__
/* What runs too rarely to be copied to each place that calls it. */
#define CGX__NOINLINE CGX_UNUSED static __device__ __attribute__((noinline))

/* A rule that the caller keeps: `cgxcc -g` defines CGX__CHECKS and has it looked at (PARITY, decision 10). */
#if defined(CGX__CHECKS)
#define CGX__CHECK(condition, text, line) ((condition) ? (void)0 : cgx__gpu_misuse((text), (line)))
#else
#define CGX__CHECK(condition, text, line) ((void)(line))
#endif

/* ---- kernels ---- */

/* A kernel's parameters are the user's, then the thread's state (api/cgx/abi.h): a parameter is a variable of the thread,
 * which compilers keep in registers. */
#define CGX__PARAMETER_BEFORE(c, p) CGX__PARAMETER_BEFORE_ p
#define CGX__PARAMETER_BEFORE_(T, n) T n,

/* The state in a kernel that is launched with one shape of the block only: groups made from it tell the compiler so. */
extern "C++" {
template <int X, int Y, int Z> struct cgx__thread_of_shape : cgx__thread {
};
template <bool FIXED, int X, int Y, int Z> struct cgx__thread_with {
    typedef cgx__thread type;
};
template <int X, int Y, int Z> struct cgx__thread_with<true, X, Y, Z> {
    typedef cgx__thread_of_shape<X, Y, Z> type;
};
} /* extern "C++" */
#define CGX__THREAD_WITH(flags, x, y, z) typename cgx__thread_with<((flags)&CGX_KERNEL_FIXED_BLOCK) != 0, x, y, z>::type

#define CGX__HOST_SIDE(name, ...)               \
    extern "C" const cgx_kernel name##__kernel; \
    cgx_status name##_launch(cgx_queue *, cgx_config CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__));
#define CGX__DEVICE_ENTRY(limits, name, ...)                                                                     \
    extern "C" __global__ CGX__BOUNDS limits void name##__device(CGX__MAP(CGX__PARAMETER_BEFORE, ~, __VA_ARGS__) \
                                                                     CGX_UNUSED CGX__THREAD_WITH limits cgx__self)
/* As on the CPU: makes a definition that differs from its declaration an error. */
#define CGX__SIGNATURE(name, ...) extern "C" void name##__signature(void *CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__));

/* All parameters, as they lie in memory. */
#define CGX__PARAMETER_STRUCT(name, ...)                              \
    struct name##__parameters {                                       \
        CGX__MAP(CGX__FIELD, ~, __VA_ARGS__) cgx__thread cgx__hidden; \
    };
#define CGX__ARGUMENTS_OF(name) struct name##__parameters

/* The launch by a kernel: known before the kernel's body, which may launch itself. Of a child on CUDA the record is the image's, for
 * the caller does not know its own. */
extern "C++" {
CGX__INLINE cgx__thread cgx__hidden_of(const char *name)
{
    cgx__thread t = cgx__thread();
    t.record = CGX__IS_CHILD;
    t.kernel = (uint64_t)name;
    return t;
}
} /* extern "C++" */
#define CGX__FLAGS(flags, x, y, z) (flags)
#define CGX__DECLARED_BLOCK(flags, x, y, z) \
    {                                       \
        (x), (y), (z)                       \
    }
#if defined(CGX_PASS_CUDA)
#define CGX__SEND(name, limits, stream, config, parameters)                                                            \
    cgx__cuda_dlaunch((stream), (const void *)name##__device, (config), CGX__FLAGS limits, CGX__DECLARED_BLOCK limits, \
                      (parameters))
#define CGX__DEVICE_KERNEL(name) ((cgx_device_kernel)name##__device)
#define CGX__DESCRIBED_CHILD(limits, name, ...)
#else
#define CGX__SEND(name, limits, stream, config, parameters) \
    cgx__ask_launch((stream), &name##__child, (config), &(parameters))
#define CGX__DEVICE_KERNEL(name) ((cgx_device_kernel)&name##__child)
/* What host and device know of a kernel that is launched by one; of others nothing is left. */
#define CGX__OFFSET(c, p) CGX__OFFSET_(c, CGX__UNPACK p)
#define CGX__OFFSET_(...) CGX__OFFSET__(__VA_ARGS__)
#define CGX__OFFSET__(c, T, n) offsetof(struct c##__parameters, n),
#define CGX__DESCRIBED_CHILD(limits, name, ...)                                             \
    CGX_UNUSED static __device__ const uint32_t name##__offsets[] = { CGX__MAP(             \
        CGX__OFFSET, name, __VA_ARGS__) offsetof(struct name##__parameters, cgx__hidden) }; \
    CGX_UNUSED static __device__ __attribute__((section("cgx_children")))                   \
    cgx__child name##__child = { #name,                                                     \
                                 name##__offsets,                                           \
                                 sizeof #name,                                              \
                                 sizeof name##__offsets / sizeof name##__offsets[0],        \
                                 sizeof(struct name##__parameters),                         \
                                 CGX__FLAGS limits,                                         \
                                 CGX__DECLARED_THREADS limits,                              \
                                 CGX__DECLARED_BLOCK limits,                                \
                                 0,                                                         \
                                 0,                                                         \
                                 0,                                                         \
                                 0,                                                         \
                                 { 0 } };
#define CGX__DECLARED_THREADS(flags, x, y, z) ((x) * (y) * (z))
extern "C++" {
CGX_UNUSED static __device__ cgx_status cgx__ask_launch(cgx_stream stream, cgx_device_kernel kernel,
                                                        const cgx_config &c, const void *parameters);
}
#endif
#define CGX__DEVICE_LAUNCHER(limits, name, ...)                                                                  \
    CGX__DEVICE_ENTRY(limits, name, __VA_ARGS__);                                                                \
    CGX__DESCRIBED_CHILD(limits, name, __VA_ARGS__)                                                              \
    CGX_UNUSED static __device__ inline cgx_status name##_dlaunch(                                               \
        CGX_UNUSED cgx_stream cgx__s, CGX_UNUSED cgx_config cgx__c CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__))     \
    {                                                                                                            \
        const struct name##__parameters cgx__p = { CGX__MAP(CGX__VALUE, ~, __VA_ARGS__) cgx__hidden_of(#name) }; \
        return CGX__SEND(name, limits, cgx__s, cgx__c, cgx__p);                                                  \
    }
/* Of a kernel that may be defined further below. That one of another file is not launched, the host's compiler has seen. */
#define CGX__DEVICE_LAUNCHER_BELOW(name, ...)                          \
    CGX_UNUSED static __device__ cgx_status name##_dlaunch(cgx_stream, \
                                                           cgx_config CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__));

#define CGX__KERNEL(link, limits, name, ...)        \
    CGX__PARAMETER_STRUCT(name, __VA_ARGS__)        \
    CGX__HOST_SIDE(name, __VA_ARGS__)               \
    CGX__DEVICE_LAUNCHER(limits, name, __VA_ARGS__) \
    CGX__DEVICE_ENTRY(limits, name, __VA_ARGS__)
#define CGX__DECLARATION(name, ...)          \
    CGX__PARAMETER_STRUCT(name, __VA_ARGS__) \
    CGX__SIGNATURE(name, __VA_ARGS__)        \
    CGX__HOST_SIDE(name, __VA_ARGS__)        \
    CGX__DEVICE_LAUNCHER_BELOW(name, __VA_ARGS__)
#define CGX__KERNEL_EXTERN(limits, name, ...)       \
    CGX__SIGNATURE(name, __VA_ARGS__)               \
    CGX__DEVICE_LAUNCHER(limits, name, __VA_ARGS__) \
    CGX__DEVICE_ENTRY(limits, name, __VA_ARGS__)

#define CGX_DEVICE_FN CGX_UNUSED static __device__ inline
/* What kernels have as their last parameter, device functions get from a group. */
#define CGX_IN_GROUP(group) CGX_UNUSED cgx__thread &cgx__self = *(group).t

/* ---- shared memory ---- */

/* Static memory as the device compiler lays it out. An array of more than CGX__LARGE_SHARED bytes is none of the compiler's,
 * which has a limit far below the chip's: it is the last part of the launch's dynamic shared memory, where the host has put
 * room for it (abi.h). What is left here of such an array is a byte that nobody reads. */
extern "C++" {
template <typename T, bool large> struct cgx__static_part {
    typedef T type;
};
template <typename T> struct cgx__static_part<T, true> {
    typedef char type;
};
} /* extern "C++" */
#if defined(CGX_PASS_CUDA)
#define CGX__IS_LARGE(T) (sizeof(T) > CGX__LARGE_SHARED)
#else
#define CGX__IS_LARGE(T) false
#endif
#define CGX__SHARED_PLACE(T, name)                                          \
    __shared__ cgx__static_part<T, CGX__IS_LARGE(T)>::type name##__storage; \
    T &name##__place = *(T *)(CGX__IS_LARGE(T) ? cgx__large_shared(sizeof(T)) : (void *)&name##__storage)

#define CGX_SHARED(T, name)     \
    CGX__SHARED_PLACE(T, name); \
    T *const name = &name##__place
#define CGX_SHARED_ARRAY(T, name, n)       \
    typedef T name##__type[n];             \
    CGX__SHARED_PLACE(name##__type, name); \
    T *const name = name##__place
#define CGX_SHARED_ARRAY2(T, name, n, m)   \
    typedef T name##__type[n][m];          \
    CGX__SHARED_PLACE(name##__type, name); \
    T(*const name)[m] = name##__place
#define CGX_SHARED_ARRAY3(T, name, n, m, k) \
    typedef T name##__type[n][m][k];        \
    CGX__SHARED_PLACE(name##__type, name);  \
    T(*const name)[m][k] = name##__place
/* One array for all types: device compilers refuse two of one name. */
extern __shared__ __attribute__((aligned(128))) unsigned char cgx__dynamic_shared[];
#define CGX_DYNAMIC_SHARED(T, name) T *const name = (T *)(void *)cgx__dynamic_shared
extern "C++" {
CGX__INLINE void *cgx__large_shared(unsigned bytes)
{
    return cgx__dynamic_shared + (cgx__gpu_dynamic_bytes() - (bytes + 127u) / 128u * 128u);
}
} /* extern "C++" */

/* ---- device variables: the symbol is NAME. External, so that the host finds it; each image is a module of its own ---- */

#define CGX_DEVICE_VARIABLE(T, name) CGX_UNUSED __device__ T name
#define CGX_CONSTANT_VARIABLE(T, name) CGX_UNUSED __constant__ T name
#define CGX__VARIABLE(name) cgx__variable(#name, sizeof(name))
cgx_variable cgx__variable(const char *name, size_t bytes);
cgx_status cgx__write_variable(cgx_queue *q, cgx_variable v, const void *source);
cgx_status cgx__read_variable(cgx_queue *q, cgx_variable v, void *destination);
#endif
