/* SPDX-License-Identifier: MIT */
/* A stand-in for libamdhip64 that runs AMD code objects without an AMD GPU: README.md. All functions but launch_await are
 * called under the one lock of streams.c. */
#ifndef EMULATOR_H
#define EMULATOR_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "messages.h"

typedef int hip_error;
/* X(value, name, text): hipError_t */
#define FOREACH_HIP_ERROR(X)                                                                   \
    X(0, hipSuccess, "no error")                                                               \
    X(1, hipErrorInvalidValue, "invalid argument")                                             \
    X(2, hipErrorOutOfMemory, "out of memory")                                                 \
    X(9, hipErrorInvalidConfiguration, "invalid configuration argument")                       \
    X(101, hipErrorInvalidDevice, "invalid device ordinal")                                    \
    X(200, hipErrorInvalidImage, "device kernel image is invalid")                             \
    X(209, hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device") \
    X(400, hipErrorInvalidHandle, "invalid resource handle")                                   \
    X(500, hipErrorNotFound, "named symbol not found")                                         \
    X(600, hipErrorNotReady, "device not ready")                                               \
    X(700, hipErrorIllegalAddress, "an illegal memory access was encountered")                 \
    X(701, hipErrorLaunchOutOfResources, "too many resources requested for launch")            \
    X(702, hipErrorLaunchTimeOut, "the launch timed out and was terminated")                   \
    X(719, hipErrorLaunchFailure, "unspecified launch failure")                                \
    X(720, hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")         \
    X(801, hipErrorNotSupported, "operation not supported")                                    \
    X(999, hipErrorUnknown, "unknown error")
enum {
#define VALUE(value, name, text) name = value,
    FOREACH_HIP_ERROR(VALUE)
#undef VALUE
};

/* What is emulated. */
typedef struct {
    const char *name, *features;
    uint32_t machine; /* EF_AMDGPU_MACH of its code objects */
    uint32_t wave, major, minor;
    uint32_t simds, waves_per_simd, vgprs, vgpr_granule; /* for occupancy */
    const char *instructions;                            /* the emulator's name for its instruction set */
} chip;
extern const chip *the_chip;

uint64_t setting(const char *variable, uint64_t otherwise);

/* ---- arena.c: device memory, a file in memory that program and worker map at one address ---- */

/* In the program device memory is inaccessible; `host` sees it through another mapping. */
typedef enum { MEMORY_DEVICE, MEMORY_HOST, MEMORY_MANAGED } memory_kind;
typedef struct {
    uint64_t at, bytes;  /* of the user */
    uint64_t start, end; /* mapped */
    memory_kind kind;
    bool freed; /* a stream gives it back when its turn comes */
} block_of_memory;

hip_error arena_open(void);
uint64_t arena_base(void);
uint64_t arena_bytes(void);
uint64_t arena_free(void);
int arena_file(void);
void *arena_host(uint64_t address);
bool arena_has(uint64_t address);
hip_error arena_alloc(uint64_t bytes, memory_kind kind, uint64_t *address);
/* KINDS: 1 << memory_kind of those that the call frees. The first finds it no more, the second gives it back. */
hip_error arena_forget(uint64_t address, unsigned kinds);
void arena_release(uint64_t address);
/* The live block that holds BYTES from ADDRESS on, or the nearest one below, or NULL. */
const block_of_memory *arena_find(uint64_t address, uint64_t bytes);
const block_of_memory *arena_below(uint64_t address);
hip_error arena_alloc_code(uint64_t bytes, uint64_t *address);
bool arena_is_code(uint64_t address, uint64_t bytes);
/* The worker's view: what changed since it was last told, or all of it for a new worker. */
void arena_protect(uint64_t start, uint64_t bytes, int protection);
const emulator_message *arena_changes(uint32_t *count);
void arena_changes_told(void);
void arena_tell_all(void);

/* ---- code_object.c: ELF and its metadata ---- */

enum { MAX_ARGUMENTS = 256 };
/* X(kind, metadata's name): hidden arguments that are filled; others stay zero */
#define FOREACH_HIDDEN_ARGUMENT(X)           \
    X(BLOCK_COUNT_X, "hidden_block_count_x") \
    X(BLOCK_COUNT_Y, "hidden_block_count_y") \
    X(BLOCK_COUNT_Z, "hidden_block_count_z") \
    X(GROUP_SIZE_X, "hidden_group_size_x")   \
    X(GROUP_SIZE_Y, "hidden_group_size_y")   \
    X(GROUP_SIZE_Z, "hidden_group_size_z")   \
    X(GRID_DIMS, "hidden_grid_dims")         \
    X(DYNAMIC_LDS, "hidden_dynamic_lds_size")
enum {
    ARGUMENT_USER,
#define VALUE(kind, name) ARGUMENT_##kind,
    FOREACH_HIDDEN_ARGUMENT(VALUE)
#undef VALUE
        ARGUMENT_ZERO
};
typedef struct function {
    struct function *next;
    char name[256];
    uint64_t entry;
    uint32_t lds, scratch, argument_bytes, rsrc1, rsrc2, properties; /* of the kernel descriptor */
    uint32_t vgprs, most_threads;
    uint32_t arguments;
    struct {
        uint32_t offset, size, kind;
    } argument[MAX_ARGUMENTS];
} function;
typedef struct {
    unsigned char *image;
    uint64_t at, bytes;
    const Elf64_Sym *symbols;
    uint32_t symbol_count;
    const char *names;
    const unsigned char *metadata;
    function *functions;
} module;

hip_error module_load(const unsigned char *image, module **out);
void module_free(module *m);
hip_error module_function(module *m, const char *name, function **out);
hip_error module_variable(module *m, const char *name, uint64_t *address, size_t *bytes);

/* ---- launch.c: the worker process ---- */

uint32_t launch_occupancy(const function *f, uint32_t threads, uint64_t dynamic_lds);
/* A launch with its arguments, from malloc; NULL in *out if it is refused. */
typedef struct prepared_launch prepared_launch;
hip_error launch_prepare(const function *f, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                         void **parameters, bool cooperative, prepared_launch **out);
/* To the worker; the wait for its answer, without the lock; what it says. QUIET: it was killed on purpose. */
hip_error launch_start(prepared_launch *p);
void launch_await(prepared_launch *p);
hip_error launch_end(prepared_launch *p, bool quiet);
void launch_kill_worker(void);
void launch_stop_worker(void);

/* ---- streams.c ---- */

typedef struct stream stream;
typedef struct event event;
typedef struct point point;
/* What a stream does when its turn comes, with a copy of what it was submitted with. DROP: a kernel has failed before; only
 * what the job holds is given back. Anything but hipSuccess is an error of the device's. */
typedef hip_error (*stream_work)(void *payload, bool drop);

void streams_lock(void);
void streams_unlock(void);
hip_error streams_error(void);
hip_error streams_wait(void);
void streams_reset(void);
/* NULL is the default stream; the others never wait for it nor it for them. */
hip_error stream_create(stream **out);
hip_error stream_destroy(stream *s);
hip_error stream_wait(stream *s);
hip_error stream_query(const stream *s);
hip_error stream_submit(stream *s, stream_work work, const void *payload, size_t bytes);
hip_error stream_launch(stream *s, prepared_launch *p);
hip_error event_create(event **out);
void event_destroy(event *e);
hip_error event_record(event *e, stream *s);
hip_error event_hold_back(stream *s, const event *e);
hip_error event_wait(const event *e);
hip_error event_query(const event *e);
hip_error event_elapsed(float *milliseconds, const event *first, const event *second);
#endif
