/* SPDX-License-Identifier: MIT */
/* CUDA's part of the host side: primary contexts, clusters, dynamic shared memory. */
#include "driver.h"
#include "../gpu/host.h"

enum {
    OLDEST_DRIVER = 12000
}; /* cuLaunchKernelEx with clusters came with CUDA 11.8; images are CUDA 13's, served from 12 on */

static cgx_status check_version(char *reason, size_t bytes)
{
    int version = 0;
    if (driver.DriverGetVersion(&version) || version < OLDEST_DRIVER) {
        snprintf(reason, bytes, "the driver serves CUDA %d.%d, cgx needs %d.0", version / 1000, version % 1000 / 10,
                 OLDEST_DRIVER / 1000);
        return CGX_ERROR_DRIVER;
    }
    return CGX_OK;
}

static const char *error_name(int result)
{
    const char *name = NULL;
    driver.GetErrorName(result, &name);
    return name;
}

static void describe(int d, cgx_device_info *info)
{
    device *v = devices + d;
    const int major = attribute(d, ATTRIBUTE_CC_MAJOR);
    snprintf(v->target, sizeof v->target, "sm_%d%d", major, attribute(d, ATTRIBUTE_CC_MINOR));
    info->shared_bytes_per_block = (size_t)attribute(d, ATTRIBUTE_MAX_SHARED_OPTIN);
    info->max_cluster_blocks = major >= 9 && attribute(d, ATTRIBUTE_CLUSTER_LAUNCH) ? 16 : 1;
    info->capabilities = grid_capabilities(attribute(d, ATTRIBUTE_COOPERATIVE_LAUNCH)) |
                         (info->max_cluster_blocks > 1 ? CGX_CAN_CLUSTER : 0) | (major >= 8 ? CGX_CAN_ASYNC_COPY : 0) |
                         (major >= 9 ? CGX_CAN_BULK_COPY : 0) | CGX_CAN_DEVICE_LAUNCH | CGX_CAN_INDEPENDENT;
    info->async_copy = major >= 9 ? "bulk" : major >= 8 ? "per thread" : "synchronous";
}

/* Makes the device's context current. A program that uses the CUDA runtime has the same context current already. */
static cgx_status enter(int d, int *pushed)
{
    device *v = devices + d;
    CUcontext current = NULL;
    *pushed = 0;
    CHECK(alive(d));
    if (!__atomic_load_n(&v->context, __ATOMIC_ACQUIRE)) {
        CUcontext context = NULL;
        pthread_mutex_lock(&lock);
        cgx_status s = CGX_OK;
        if (!v->context &&
            !(s = check(d, driver.DevicePrimaryCtxRetain(&context, v->handle), "retaining its primary context")))
            __atomic_store_n(&v->context, context, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
        CHECK(s);
    }
    if (!driver.CtxGetCurrent(&current) && current == v->context)
        return CGX_OK;
    CHECK(check(d, driver.CtxPushCurrent(v->context), "making its context current"));
    *pushed = 1;
    return CGX_OK;
}

static cgx_status leave(int pushed, cgx_status status)
{
    CUcontext old;
    if (pushed)
        driver.CtxPopCurrent(&old);
    return status;
}

static int copy(gpu_address to, gpu_address from, size_t bytes, gpu_stream stream)
{
    return driver.MemcpyAsync(to, from, bytes, stream);
}

static int copy_2d(gpu_address to, size_t to_pitch, gpu_address from, size_t from_pitch, size_t width, size_t height,
                   gpu_stream stream)
{
    CUDA_MEMCPY2D c = { .srcMemoryType = MEMORY_TYPE_UNIFIED,
                        .srcDevice = from,
                        .srcPitch = from_pitch,
                        .dstMemoryType = MEMORY_TYPE_UNIFIED,
                        .dstDevice = to,
                        .dstPitch = to_pitch,
                        .WidthInBytes = width,
                        .Height = height };
    return driver.Memcpy2DAsync(&c, stream);
}

static int copy_peer(int to_device, gpu_address to, int from_device, gpu_address from, size_t bytes, gpu_stream stream)
{
    return driver.MemcpyPeerAsync(to, devices[to_device].context, from, devices[from_device].context, bytes, stream);
}

/* The driver does not know pageable memory. */
static host_place place_of(const void *p)
{
    const int wanted[] = { POINTER_MEMORY_TYPE, POINTER_IS_MANAGED };
    int type = 0;
    unsigned managed = 0;
    void *results[] = { &type, &managed };
    if (driver.PointerGetAttributes(2, wanted, results, (gpu_address)(uintptr_t)p) || type == MEMORY_TYPE_NONE)
        return PAGEABLE;
    return type == MEMORY_TYPE_HOST && !managed ? PINNED : ON_DEVICE;
}

/* One fat binary, of which the driver chooses. */
static const cgx__image *image_for(int d, const cgx__images *images)
{
    const cgx__image *table = (const cgx__image *)(images + 1);
    (void)d;
    for (int i = 0; i < images->count; i++)
        if (table[i].kind == GPU_IMAGE)
            return table + i;
    return NULL;
}

static cgx_status kernel_target(int d, const function *f, char *target, size_t bytes)
{
    int binary = 0;
    CHECK(check(d, driver.FuncGetAttribute(&binary, FUNCTION_BINARY_VERSION, f->handle), f->kernel->name));
    snprintf(target, bytes, "sm_%d", binary);
    return CGX_OK;
}

static cgx_status check_stream(int d, gpu_stream stream)
{
    CUcontext context = NULL;
    CHECK(check(d, driver.StreamGetCtx(stream, &context), "asking for the stream's context"));
    if (context != devices[d].context)
        return cgx__fail(CGX_ERROR_INVALID,
                         "cgx_queue_from_native: the stream is not of cuda:%d, or of another context than the device's "
                         "primary one, which the CUDA runtime and cgx use",
                         d);
    return CGX_OK;
}

static int enable_peer(int d, int peer)
{
    enum { ALREADY_ENABLED = 704 };
    CUmemoryPool pool = NULL;
    const CUmemAccessDesc access = { MEM_LOCATION_TYPE_DEVICE, devices[d].handle, MEM_ACCESS_READWRITE };
    const int r = driver.CtxEnablePeerAccess(devices[peer].context, 0);
    if (r != GPU_SUCCESS && r != ALREADY_ENABLED)
        return 0;
    return !driver.DeviceGetDefaultMemPool(&pool, devices[peer].handle) && !driver.MemPoolSetAccess(pool, &access, 1);
}

/* A kernel has 48 KiB without asking. That counts static memory, so what is asked for is always set. */
static cgx_status allow_shared(int d, function *f, size_t bytes)
{
    if ((int)bytes <= __atomic_load_n(&f->dynamic_shared, __ATOMIC_ACQUIRE) ||
        bytes + (size_t)f->static_shared <= 48 * 1024)
        return CGX_OK;
    /* Once and for all, so that threads with different needs do not undo one another's. */
    const int most = (int)devices[d].shared - f->static_shared;
    CHECK(check(d, driver.FuncSetAttribute(f->handle, FUNCTION_MAX_DYNAMIC_SHARED, most), f->kernel->name));
    __atomic_store_n(&f->dynamic_shared, most, __ATOMIC_RELEASE);
    return CGX_OK;
}

/* Why a launch of clusters, or one with all blocks resident, does not fit: what would. */
static cgx_status too_large(const queue *q, const function *f, const cgx_launch_request *r, CUlaunchConfig *config,
                            int result)
{
    const cgx_config *c = r->config;
    const int cluster = c->cluster.x * c->cluster.y * c->cluster.z, threads = c->block.x * c->block.y * c->block.z;
    const char *name = error_name(result);
    int largest = 0, clusters = 0;
    if (cluster <= 1)
        return check(q->device, result, f->kernel->name);
    if (!driver.OccupancyMaxPotentialClusterSize(&largest, f->handle, config) && largest < cluster)
        return cgx__fail(
            CGX_ERROR_LIMIT,
            "%s: clusters of %d blocks of %s threads asked, cuda:%d takes %d of this kernel; %d would fit (%s)",
            f->kernel->name, cluster, cgx__number(threads), q->device, largest, largest, name ? name : "?");
    if (c->flags & CGX_LAUNCH_COOPERATIVE && !driver.OccupancyMaxActiveClusters(&clusters, f->handle, config))
        return cgx__fail(
            CGX_ERROR_LIMIT,
            "%s: %s cooperative blocks in clusters of %d asked, cuda:%d takes %s at once; %s would fit (%s)",
            f->kernel->name, cgx__number((int64_t)c->grid.x * c->grid.y * c->grid.z), cluster, q->device,
            cgx__number((int64_t)clusters * cluster), cgx__number((int64_t)clusters * cluster), name ? name : "?");
    return check(q->device, result, f->kernel->name);
}

/* Where launches by kernels put their errors; a relocatable image has the variable. */
static cgx_status connect(module *m)
{
    const int d = m->device;
    gpu_address variable;
    size_t bytes;
    if (driver.ModuleGetGlobal(&variable, &bytes, m->handle, "cgx__image_record"))
        return CGX_OK;
    if (!children[d].record)
        CHECK(make_record(d, NULL, children + d));
    CHECK(
        set_pointer(d, variable, (const void *)(uintptr_t)children[d].record, NULL, "setting up launches by kernels"));
    return check(d, driver.StreamSynchronize(NULL), "setting up launches by kernels");
}
/* The driver prints by itself. */
static cgx_status take_prints(int d)
{
    (void)d;
    return CGX_OK;
}

/* Code for chips without clusters takes each block for one, whatever the device can. */
static cgx_status check_cluster_image(int d, const function *f, int cluster)
{
    enum { FIRST_WITH_CLUSTERS = 90 };
    int ptx = 0;
    CHECK(check(d, driver.FuncGetAttribute(&ptx, FUNCTION_PTX_VERSION, f->handle), f->kernel->name));
    if (ptx >= FIRST_WITH_CLUSTERS)
        return CGX_OK;
    return cgx__fail(CGX_ERROR_UNSUPPORTED,
                     "%s: clusters of %d blocks asked, its image for " GPU_NAME
                     ":%d is of compute_%d, which has none; add 90 to cgxcc --cuda-arch",
                     f->kernel->name, cluster, d, ptx);
}

static cgx_status launch(const queue *q, function *f, const cgx_launch_request *r, size_t dynamic, void **parameters)
{
    enum { TOO_LARGE = 701, COOPERATIVE_TOO_LARGE = 720, INVALID_CLUSTER_SIZE = 912, INVALID_VALUE = 1 };
    const cgx_config *c = r->config;
    const int cluster = c->cluster.x * c->cluster.y * c->cluster.z;
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config = {
        (unsigned)c->grid.x,  (unsigned)c->grid.y, (unsigned)c->grid.z, (unsigned)c->block.x, (unsigned)c->block.y,
        (unsigned)c->block.z, (unsigned)dynamic,   q->stream,           attributes,           0
    };
    if (is_cooperative(c))
        attributes[config.numAttrs++] =
            (CUlaunchAttribute){ .id = LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1 };
    if (cluster > 1)
        attributes[config.numAttrs++] =
            (CUlaunchAttribute){ .id = LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = { (unsigned)c->cluster.x, (unsigned)c->cluster.y,
                                                       (unsigned)c->cluster.z } };
    if (cluster > 1)
        CHECK(check_cluster_image(q->device, f, cluster));
    if (cluster > 8)
        CHECK(check(q->device, driver.FuncSetAttribute(f->handle, FUNCTION_NON_PORTABLE_CLUSTER, 1), f->kernel->name));
    const int result = config.numAttrs
                           ? driver.LaunchKernelEx(&config, f->handle, parameters, NULL)
                           : driver.LaunchKernel(f->handle, config.gridDimX, config.gridDimY, config.gridDimZ,
                                                 config.blockDimX, config.blockDimY, config.blockDimZ,
                                                 config.sharedMemBytes, q->stream, parameters, NULL);
    if (result == TOO_LARGE || result == COOPERATIVE_TOO_LARGE || result == INVALID_CLUSTER_SIZE ||
        result == INVALID_VALUE)
        return too_large(q, f, r, &config, result);
    return check(q->device, result, f->kernel->name);
}

/* CUDA Driver API, CUlimit. */
static int number_of(cgx_limit limit)
{
    enum { MALLOC_HEAP_SIZE = 2, DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4 };
    return limit == CGX_LIMIT_HEAP_BYTES ? MALLOC_HEAP_SIZE : DEV_RUNTIME_PENDING_LAUNCH_COUNT;
}

/* Of the launches on their way CUDA keeps some places for itself: two on an H200 with CUDA 13. */
enum { PENDING_OF_CUDA = 8 };

static cgx_status set_limit(int d, cgx_limit limit, size_t value)
{
    int pushed;
    CHECK(enter(d, &pushed));
    value += limit == CGX_LIMIT_PENDING_LAUNCHES ? PENDING_OF_CUDA : 0;
    return leave(pushed, check(d, driver.CtxSetLimit(number_of(limit), value), "setting a limit"));
}

static cgx_status get_limit(int d, cgx_limit limit, size_t *value)
{
    int pushed;
    CHECK(enter(d, &pushed));
    return leave(pushed, check(d, driver.CtxGetLimit(value, number_of(limit)), "asking for a limit"));
}

/* The hardware launches: the host has nothing to see to. */
static cgx_status begin_family(queue *q, const function *f, cgx__thread *thread)
{
    (void)q, (void)f, (void)thread;
    return CGX_OK;
}
static void begun_family(queue *q, cgx_status s)
{
    (void)q, (void)s;
}
static cgx_status settle(queue *q)
{
    (void)q;
    return CGX_OK;
}
static cgx_status settle_some(queue *q)
{
    (void)q;
    return CGX_OK;
}
static cgx_status take_failure(queue *q)
{
    (void)q;
    return CGX_OK;
}
static void destroy_family(queue *q)
{
    (void)q;
}
