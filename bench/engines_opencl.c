/* SPDX-License-Identifier: MIT */
#define CL_TARGET_OPENCL_VERSION 120
#include "engines_opencl.h"
#include <CL/cl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 32, MOST_TEXT = 65536 };
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static struct {
    const char *name;
    cl_kernel kernel;
} kernels[MOST_KERNELS];

static void check(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "OpenCL: %s: error %d\n", what, status);
    exit(1);
}

void engines_opencl_open(const char *file)
{
    static char text[MOST_TEXT];
    const char *const texts[] = { text };
    cl_platform_id platforms[8];
    cl_uint count = 0;
    cl_device_id device = NULL;
    cl_int status;
    check(clGetPlatformIDs(8, platforms, &count), "no platform");
    for (cl_uint i = 0; i < count && !device; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) != CL_SUCCESS)
            device = NULL;
    check(device ? CL_SUCCESS : CL_DEVICE_NOT_FOUND, "no device that is a processor");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    FILE *f = fopen(file, "r");
    if (!f || !fread(text, 1, sizeof text - 1, f)) {
        fprintf(stderr, "%s cannot be read\n", file);
        exit(1);
    }
    fclose(f);
    program = clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)texts, NULL, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
}

void *engines_opencl_buffer(void *data, size_t bytes)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, &status);
    check(status, "clCreateBuffer");
    return buffer;
}

static cl_kernel kernel_of(const char *name)
{
    int i = 0;
    cl_int status = CL_SUCCESS;
    while (kernels[i].name && strcmp(kernels[i].name, name))
        i++;
    if (!kernels[i].name) {
        kernels[i].name = name;
        kernels[i].kernel = clCreateKernel(program, name, &status);
        check(status, name);
    }
    return kernels[i].kernel;
}

void engines_opencl_launch(const char *name, int nx, int ny, int grid_x, int grid_y, const char *arguments, ...)
{
    cl_kernel kernel = kernel_of(name);
    const size_t local[] = { (size_t)nx, (size_t)ny }, global[] = { (size_t)(nx * grid_x), (size_t)(ny * grid_y) };
    va_list list;
    va_start(list, arguments);
    for (cl_uint i = 0; arguments[i]; i++) {
        cl_mem buffer;
        int integer;
        float real;
        switch (arguments[i]) {
        case 'b':
            buffer = va_arg(list, void *);
            check(clSetKernelArg(kernel, i, sizeof buffer, &buffer), name);
            break;
        case 'i':
            integer = va_arg(list, int);
            check(clSetKernelArg(kernel, i, sizeof integer, &integer), name);
            break;
        default: real = (float)va_arg(list, double); check(clSetKernelArg(kernel, i, sizeof real, &real), name);
        }
    }
    va_end(list);
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), name);
}

void engines_opencl_wait(void *buffer, size_t bytes)
{
    cl_int status;
    void *data = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &status);
    check(status, "clEnqueueMapBuffer");
    check(clEnqueueUnmapMemObject(queue, buffer, data, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    check(clFinish(queue), "clFinish");
}
