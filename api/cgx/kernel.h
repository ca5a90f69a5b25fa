/* SPDX-License-Identifier: MIT */
/* The kernel language: kernels, device functions, shared memory, device variables, operators.
 * One text is C11 for the host compiler and C++17 for the device compilers. docs/kernel-language.md has the whole. */
#ifndef CGX_KERNEL_H
#define CGX_KERNEL_H
#include <cgx/abi.h>
#include <cgx/arguments.h>
#include <cgx/stream.h>

/* Which compiler reads the text: exactly one of these is 1, and CGX_HOST_PASS where host code belongs. */
#if defined(__CUDACC__)
#define CGX_PASS_CUDA 1
#elif defined(__HIP__)
#define CGX_PASS_HIP 1
#else
#define CGX_PASS_CPU 1
#define CGX_HOST_PASS 1
#endif

#ifdef __cplusplus
#define CGX__EXTERN_C extern "C"
#define CGX__EXTERN_C_DATA extern "C"
#define CGX__ALIGNOF(T) alignof(T)
#define CGX__STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define CGX__EXTERN_C extern
#define CGX__EXTERN_C_DATA extern
#define CGX__ALIGNOF(T) _Alignof(T)
#define CGX__STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* Instructions that one make of GPU has and the shared code does without: compiled in where they are faster, and out with
 * -DCGX_NO_OVERLAYS, for tests that compare the two. No result changes by it. */
#if defined(CGX_NO_OVERLAYS)
#define CGX__OVERLAYS 0
#else
#define CGX__OVERLAYS 1
#endif

/* Kernel arguments that alias nothing. */
#define CGX_RESTRICT __restrict__

/* Reads and writes of `__restrict__`-free C stay as they are; contraction of the library's own arithmetic is off. */
#if defined(__clang__)
#define CGX__NO_CONTRACTION _Pragma("clang fp contract(off)")
#define CGX__NO_CONTRACTION_FUNCTION
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define CGX__NO_CONTRACTION
#define CGX__NO_CONTRACTION_FUNCTION __attribute__((optimize("fp-contract=off")))
#else
#define CGX__NO_CONTRACTION
#define CGX__NO_CONTRACTION_FUNCTION
#endif

/* ---- pieces of argument lists: (type, name) pairs ---- */
#define CGX__PARAMETER(c, p) CGX__PARAMETER_ p
#define CGX__PARAMETER_(T, n) , T n
#define CGX__FIELD(c, p) CGX__FIELD_ p
#define CGX__FIELD_(T, n) T n;
#define CGX__VALUE(c, p) CGX__VALUE_ p
#define CGX__VALUE_(T, n) n,
#define CGX__LOAD(c, p) CGX__LOAD_ p
#define CGX__LOAD_(T, n) , cgx__p.n
#define CGX__ROW(c, p) CGX__ROW_(c, CGX__UNPACK p)
#define CGX__ROW_(...) CGX__ROW__(__VA_ARGS__)
#define CGX__ROW__(c, T, n) { sizeof(T), offsetof(struct c##__arguments, n) },

/* Without arguments a struct would be empty, which C does not have. */
#define CGX__ARGUMENT_STRUCT(name, ...)                                                      \
    struct name##__arguments {                                                               \
        CGX__MAP(CGX__FIELD, ~, __VA_ARGS__) CGX__CAT(CGX__FILLER_, CGX__COUNT(__VA_ARGS__)) \
    };                                                                                       \
    CGX__STATIC_ASSERT(sizeof(struct name##__arguments) <= 4096, "kernel " #name ": more than 4096 bytes of arguments");
#define CGX__FILLER_0 char cgx__none;
#define CGX__FILLER_1
#define CGX__FILLER_2
#define CGX__FILLER_3
#define CGX__FILLER_4
#define CGX__FILLER_5
#define CGX__FILLER_6
#define CGX__FILLER_7
#define CGX__FILLER_8
#define CGX__FILLER_9
#define CGX__FILLER_10
#define CGX__FILLER_11
#define CGX__FILLER_12
#define CGX__FILLER_13
#define CGX__FILLER_14
#define CGX__FILLER_15
#define CGX__FILLER_16

/* The typed launch. Its parameters are the kernel's, so a wrong argument does not compile. */
#define CGX__LAUNCHER(name, ...)                                                                                  \
    CGX_UNUSED static inline cgx_status name##_launch(cgx_queue *cgx__q,                                          \
                                                      cgx_config cgx__c CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__)) \
    {                                                                                                             \
        struct name##__arguments cgx__p = { CGX__MAP(CGX__VALUE, ~, __VA_ARGS__)                                  \
                                                CGX__CAT(CGX__ZERO_, CGX__COUNT(__VA_ARGS__)) };                  \
        return cgx__launch(cgx__q, &name##__kernel, &cgx__c, &cgx__p, sizeof cgx__p);                             \
    }
#define CGX__ZERO_0 0
#define CGX__ZERO_1
#define CGX__ZERO_2
#define CGX__ZERO_3
#define CGX__ZERO_4
#define CGX__ZERO_5
#define CGX__ZERO_6
#define CGX__ZERO_7
#define CGX__ZERO_8
#define CGX__ZERO_9
#define CGX__ZERO_10
#define CGX__ZERO_11
#define CGX__ZERO_12
#define CGX__ZERO_13
#define CGX__ZERO_14
#define CGX__ZERO_15
#define CGX__ZERO_16

/* What a call across files says: device code is not linked, so it has no kernel to launch. */
#define CGX__ELSEWHERE(name) \
#name " is defined in another file: a kernel launches kernels of its own file and of headers only"

/* ---- what users write ---- */

/* CGX_KERNEL(name, (type, argument), ...) { body }: a kernel with 0 to 16 arguments, and
 *     cgx_status name_launch(cgx_queue *, cgx_config, type argument, ...)
 * for the host. The kernel belongs to its file, as a static function does. */
#define CGX_KERNEL(...) CGX__KERNEL(static, (0, 0, 0, 0), CGX__FIRST(__VA_ARGS__), __VA_ARGS__)
/* A kernel that synchronises its grid: launched with cgx_cooperative(config) only. */
#define CGX_KERNEL_COOPERATIVE(...) \
    CGX__KERNEL(static, (CGX_KERNEL_IS_COOPERATIVE, 0, 0, 0), CGX__FIRST(__VA_ARGS__), __VA_ARGS__)
/* A kernel with declared limits (PARITY K03): LIMITS is CGX_MAX_THREADS(n), CGX_BLOCK_SIZE(x, y, z),
 * CGX_COOPERATIVE_MAX_THREADS(n) or CGX_COOPERATIVE_BLOCK_SIZE(x, y, z). A launch beyond them is refused, but for one by
 * cgx_launch_with_buffer on CUDA, where only the caller can know them. Device compilers take a declared size for a constant: a sum over
 * such a block has no branch. */
#define CGX_KERNEL_WITH(limits, ...) CGX__KERNEL(static, limits, CGX__FIRST(__VA_ARGS__), __VA_ARGS__)
#define CGX_MAX_THREADS(n) (0, n, 1, 1)
#define CGX_BLOCK_SIZE(x, y, z) (CGX_KERNEL_FIXED_BLOCK, x, y, z)
#define CGX_COOPERATIVE_MAX_THREADS(n) (CGX_KERNEL_IS_COOPERATIVE, n, 1, 1)
#define CGX_COOPERATIVE_BLOCK_SIZE(x, y, z) (CGX_KERNEL_IS_COOPERATIVE | CGX_KERNEL_FIXED_BLOCK, x, y, z)
/* A kernel that may launch kernels and use the rest of <cgx/device_runtime.h>; with limits, CGX_KERNEL_WITH(CGX_LAUNCHING(
 * CGX_MAX_THREADS(n)), ...). Every kernel of the file can be launched from it:
 *     cgx_status name_dlaunch(cgx_stream, cgx_config, type argument, ...)
 * The file's CUDA image becomes relocatable, so it holds no code for chips that come later. */
#define CGX_KERNEL_LAUNCHING(...) \
    CGX__KERNEL(static, (CGX_KERNEL_LAUNCHES, 0, 0, 0), CGX__FIRST(__VA_ARGS__), __VA_ARGS__)
#define CGX_LAUNCHING(limits) CGX__LAUNCHING limits
#define CGX__LAUNCHING(flags, x, y, z) (CGX_KERNEL_LAUNCHES | (flags), x, y, z)

/* In a header: declares a kernel that some file defines with CGX_KERNEL_EXTERN and the same list; another list is a
 * compile error there. Host code that includes the header can launch it. */
#define CGX_KERNEL_DECLARE(...) CGX__KERNEL_DECLARE(CGX__FIRST(__VA_ARGS__), __VA_ARGS__)
#define CGX__KERNEL_DECLARE(name, ...) CGX__DECLARATION(name, __VA_ARGS__) /* expands the name before it is pasted */
#define CGX_KERNEL_EXTERN(...) CGX_KERNEL_EXTERN_WITH((0, 0, 0, 0), __VA_ARGS__)
#define CGX_KERNEL_EXTERN_COOPERATIVE(...) CGX_KERNEL_EXTERN_WITH((CGX_KERNEL_IS_COOPERATIVE, 0, 0, 0), __VA_ARGS__)
#define CGX_KERNEL_EXTERN_LAUNCHING(...) CGX_KERNEL_EXTERN_WITH((CGX_KERNEL_LAUNCHES, 0, 0, 0), __VA_ARGS__)
#define CGX_KERNEL_EXTERN_WITH(limits, ...) CGX__KERNEL_EXTERN(limits, CGX__FIRST(__VA_ARGS__), __VA_ARGS__)

/* The descriptor of a kernel, for the functions of <cgx/host.h> that take one. */
#define CGX_KERNEL_OF(name) (&name##__kernel)
/* A kernel of this file for the functions of <cgx/device_runtime.h> that take one, and the struct of its arguments. */
#define CGX_DEVICE_KERNEL(name) CGX__DEVICE_KERNEL(name)
#define CGX_ARGUMENTS_OF(name) CGX__ARGUMENTS_OF(name)

/* Device variables (PARITY D03), at file scope: CGX_DEVICE_VARIABLE(int, counter) = 3; and constants, read-only in
 * kernels. Arrays through a typedef or a struct. The host copies them with
 *     cgx_write_variable(queue, counter, &value) and cgx_read_variable(queue, counter, &value)
 * which are asynchronous as cgx_copy is. Every device has its own copy; the CPU's is the host's variable itself. */
#define cgx_write_variable(q, name, source) cgx__write_variable((q), CGX__VARIABLE(name), (source))
#define cgx_read_variable(q, name, destination) cgx__read_variable((q), CGX__VARIABLE(name), (destination))

#if defined(CGX_PASS_CUDA)
#include <cgx/cuda.h>
#include <cgx/device_runtime.h>
#elif defined(CGX_PASS_HIP)
#include <cgx/hip.h>
#include <cgx/device_runtime.h>
#else
#include <cgx/cpu.h>
#endif
#endif
