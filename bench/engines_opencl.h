/* SPDX-License-Identifier: MIT */
#ifndef ENGINES_OPENCL_H
#define ENGINES_OPENCL_H
#include <stddef.h>
#include <stdint.h>

/* Opens the first OpenCL device that is a processor, PoCL's where that is installed, and compiles the kernels of the file. */
void engines_opencl_open(const char *file);
/* A buffer that is DATA itself, for arguments. */
void *engines_opencl_buffer(void *data, size_t bytes);
/* Enqueues the kernel. ARGUMENTS: a letter each, b a buffer, i an int, f a float; they follow as void *, int and double. */
void engines_opencl_launch(const char *kernel, int nx, int ny, int grid_x, int grid_y, const char *arguments, ...);
/* Waits for all that was enqueued. Results lie in the buffer's data until the next launch. */
void engines_opencl_wait(void *buffer, size_t bytes);
#endif
