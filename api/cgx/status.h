/* SPDX-License-Identifier: MIT */
/* Status codes: one list gives the enum, the names and the explanations. */
#ifndef CGX_STATUS_H
#define CGX_STATUS_H

/* X(name, value, explanation). Zero is success, negative values are errors, positive ones are neither.
 * Values never change; new ones are added at the end. */
#define CGX_FOREACH_STATUS(X)                                                                            \
    X(CGX_OK, 0, "success")                                                                              \
    X(CGX_NOT_READY, 1, "the work asked about has not finished yet")                                     \
    X(CGX_ERROR_INVALID, -1, "an argument is not valid")                                                 \
    X(CGX_ERROR_OUT_OF_MEMORY, -2, "not enough memory")                                                  \
    X(CGX_ERROR_UNKNOWN_BACKEND, -3, "no backend has this name")                                         \
    X(CGX_ERROR_NOT_BUILT, -4, "the backend was not built into this library")                            \
    X(CGX_ERROR_NO_DEVICE, -5, "the backend works but found no such device")                             \
    X(CGX_ERROR_DRIVER, -6, "the vendor's driver is missing or too old")                                 \
    X(CGX_ERROR_UNSUPPORTED, -7, "the device cannot do this")                                            \
    X(CGX_ERROR_LIMIT, -8, "a limit of the device is exceeded")                                          \
    X(CGX_ERROR_DEADLOCK, -9, "threads of a kernel wait for something that can no longer happen")        \
    X(CGX_ERROR_MISUSE, -10, "a kernel broke a rule of the device API")                                  \
    X(CGX_ERROR_FAULT, -11, "a kernel failed")                                                           \
    X(CGX_ERROR_DEVICE_LOST, -12, "an earlier fault left the device unusable")                           \
    X(CGX_ERROR_VERSION, -13, "the kernel was built by an incompatible cgxcc")                           \
    X(CGX_ERROR_FORKED, -14, "the process was forked after cgx had started: only the parent may use it") \
    X(CGX_ERROR_SYSTEM, -15, "the operating system refused a resource")

typedef enum {
#define CGX__ENUMERATOR(name, value, text) name = value,
    CGX_FOREACH_STATUS(CGX__ENUMERATOR)
#undef CGX__ENUMERATOR
} cgx_status;
#endif
