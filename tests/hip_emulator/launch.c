/* SPDX-License-Identifier: MIT */
#include "emulator.h"
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 1024, LDS_BYTES = 65536, ARGUMENT_ROOM = 65536, PACKET_AT = 61440 };
enum { WORKER_SOCKET = 198, WORKER_MEMORY = 199 }; /* file numbers in the worker */

static pid_t worker, owner; /* the process that started the worker: a child of fork has none */
static int worker_socket = -1;
static uint64_t argument_memory;

/* ---- the worker process ---- */

void launch_stop_worker(void)
{
    if (worker <= 0 || owner != getpid())
        return;
    kill(worker, SIGKILL);
    close(worker_socket);
    while (waitpid(worker, NULL, 0) < 0 && errno == EINTR) {
    }
    worker = 0;
    worker_socket = -1;
}
__attribute__((destructor)) static void at_exit(void)
{
    launch_stop_worker();
}

static hip_error start_worker(void)
{
    extern char **environ;
    Dl_info info;
    char folder[3000], script[3100], scheduler[3100], bytes[32], base[32], socket_number[16], memory_number[16];
    int pair[2];
    if (!dladdr((void *)(uintptr_t)launch_stop_worker, &info))
        return hipErrorUnknown;
    snprintf(folder, sizeof folder, "%s", info.dli_fname);
    char *slash = strrchr(folder, '/');
    strcpy(slash ? slash : folder, slash ? "" : ".");
    const char *scripts = getenv("CGX_EMU_SCRIPTS");
    snprintf(script, sizeof script, "%s/worker.py", scripts ? scripts : folder);
    snprintf(scheduler, sizeof scheduler, "%s/libhip_emulator_scheduler.so", folder);
    snprintf(bytes, sizeof bytes, "%#llx", (unsigned long long)arena_bytes());
    snprintf(base, sizeof base, "%#llx", (unsigned long long)arena_base());
    snprintf(socket_number, sizeof socket_number, "%d", WORKER_SOCKET);
    snprintf(memory_number, sizeof memory_number, "%d", WORKER_MEMORY);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return hipErrorUnknown;
    const char *python = getenv("CGX_EMU_PYTHON");
    python = python ? python : "python3";
    char *words[] = { (char *)(uintptr_t)python,
                      "-E",
                      "-s",
                      script,
                      scheduler,
                      socket_number,
                      memory_number,
                      base,
                      bytes,
                      (char *)(uintptr_t)the_chip->instructions,
                      NULL };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], WORKER_SOCKET);
    posix_spawn_file_actions_adddup2(&actions, arena_file(), WORKER_MEMORY);
    const int failed = posix_spawnp(&worker, python, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    worker_socket = pair[0];
    owner = getpid();
    if (failed) {
        close(worker_socket);
        worker = 0;
        fprintf(stderr, "[emulator] cannot start %s\n", python);
        return hipErrorUnknown;
    }
    arena_tell_all();
    return hipSuccess;
}

static void report(const emulator_reply *r, const emulator_message *m, const function *f)
{
    static const char *const why[] = { "ok", "memory fault", "deadlock: every live wave sleeps or waits",
                                       "instruction limit reached (CGX_EMU_LIMIT)",
                                       "instruction not supported by the emulator" };
    fprintf(
        stderr,
        "[emulator] %s: %s%s%s; address %#llx, code +%#llx, block (%u,%u,%u) wave %u, after %llu instructions, seed "
        "%llu\n",
        f->name, why[r->status], *r->text ? ": " : "", r->text, (unsigned long long)r->address,
        (unsigned long long)(r->pc - f->entry), r->block[0], r->block[1], r->block[2], r->wave,
        (unsigned long long)r->instructions, (unsigned long long)m->seed);
    const block_of_memory *below = r->status == REPLY_FAULT ? arena_below(r->address) : NULL;
    if (below)
        fprintf(stderr, "[emulator] nearest memory below: %#llx, %llu bytes (the address is at +%lld)\n",
                (unsigned long long)below->at, (unsigned long long)below->bytes, (long long)(r->address - below->at));
}

static bool tell(const emulator_message *m)
{
    return send(worker_socket, m, sizeof *m, MSG_NOSIGNAL) == sizeof *m;
}

static hip_error run(const emulator_message *m, const function *f)
{
    static const hip_error errors[] = { hipSuccess, hipErrorIllegalAddress, hipErrorLaunchTimeOut,
                                        hipErrorLaunchTimeOut, hipErrorNotSupported };
    emulator_reply r = { 0 };
    struct timespec start, end;
    uint32_t changes;
    bool sent = true;
    hip_error e;
    if ((worker <= 0 || owner != getpid()) && (e = start_worker()))
        return e;
    clock_gettime(CLOCK_MONOTONIC, &start);
    const emulator_message *change = arena_changes(&changes);
    for (uint32_t i = 0; i < changes && sent; i++)
        sent = tell(change + i);
    arena_changes_told();
    sent = sent && tell(m);
    struct pollfd answer = { worker_socket, POLLIN, 0 };
    int ready = 1;
    if (sent) {
        do
            ready = poll(&answer, 1, (int)setting("CGX_EMU_TIMEOUT_MS", 120000));
        while (ready < 0 && errno == EINTR);
    }
    if (!ready) {
        launch_stop_worker();
        fprintf(stderr, "[emulator] %s: no answer within CGX_EMU_TIMEOUT_MS\n", f->name);
        return hipErrorLaunchTimeOut;
    }
    if (!sent || ready < 0 || read(worker_socket, &r, sizeof r) != sizeof r) {
        launch_stop_worker();
        fprintf(stderr, "[emulator] %s: the worker died\n", f->name);
        return hipErrorLaunchFailure;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (r.status == REPLY_FAULT)
        launch_stop_worker();
    if (r.status)
        report(&r, m, f);
    else if (setting("CGX_EMU_VERBOSE", 0))
        fprintf(stderr, "[emulator] %s: %llu wave-instructions, %.2f ms\n", f->name, (unsigned long long)r.instructions,
                (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6);
    return errors[r.status];
}

/* ---- launches ---- */

uint32_t launch_occupancy(const function *f, uint32_t threads, uint64_t dynamic_lds)
{
    const chip *c = the_chip;
    const uint32_t vgprs = (f->vgprs + c->vgpr_granule - 1) / c->vgpr_granule * c->vgpr_granule;
    const uint32_t waves_per_block = (threads + c->wave - 1) / c->wave;
    uint32_t waves = vgprs ? c->vgprs / vgprs : c->waves_per_simd;
    if (waves > c->waves_per_simd)
        waves = c->waves_per_simd;
    const uint64_t lds = f->lds + dynamic_lds;
    const uint32_t blocks = waves_per_block ? waves * c->simds / waves_per_block : 0;
    return lds && LDS_BYTES / lds < blocks ? (uint32_t)(LDS_BYTES / lds) : blocks;
}

/* The arguments as the kernel reads them, and the part of the dispatch packet that it may look at. */
static void write_arguments(const function *f, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                            void **parameters)
{
    unsigned char *memory = arena_host(argument_memory), *packet = memory + PACKET_AT;
    const uint32_t dimensions = grid[2] * block[2] > 1 ? 3 : grid[1] * block[1] > 1 ? 2 : 1;
    const uint32_t hidden[] = {
        [ARGUMENT_BLOCK_COUNT_X] = grid[0], [ARGUMENT_BLOCK_COUNT_Y] = grid[1],  [ARGUMENT_BLOCK_COUNT_Z] = grid[2],
        [ARGUMENT_GROUP_SIZE_X] = block[0], [ARGUMENT_GROUP_SIZE_Y] = block[1],  [ARGUMENT_GROUP_SIZE_Z] = block[2],
        [ARGUMENT_GRID_DIMS] = dimensions,  [ARGUMENT_DYNAMIC_LDS] = dynamic_lds
    };
    memset(memory, 0, ARGUMENT_ROOM);
    for (uint32_t i = 0, user = 0; i < f->arguments; i++) {
        unsigned char *to = memory + f->argument[i].offset;
        if (f->argument[i].kind == ARGUMENT_USER)
            memcpy(to, parameters[user++], f->argument[i].size);
        else if (f->argument[i].kind != ARGUMENT_ZERO)
            memcpy(to, hidden + f->argument[i].kind, f->argument[i].size);
    }
    packet[2] = (unsigned char)dimensions;
    for (int d = 0; d < 3; d++) {
        const uint32_t threads = grid[d] * block[d];
        packet[4 + 2 * d] = (unsigned char)block[d];
        packet[5 + 2 * d] = (unsigned char)(block[d] >> 8);
        memcpy(packet + 12 + 4 * d, &threads, 4);
    }
}

hip_error launch_run(const function *f, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                     void **parameters, bool cooperative)
{
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2], blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    hip_error e;
    if (!threads || !blocks)
        return hipErrorInvalidConfiguration;
    if (threads > MOST_THREADS || (f->most_threads && threads > f->most_threads) || f->lds + dynamic_lds > LDS_BYTES)
        return hipErrorInvalidValue;
    if (cooperative &&
        blocks > (uint64_t)launch_occupancy(f, (uint32_t)threads, dynamic_lds) * setting("CGX_EMU_CUS", 8))
        return hipErrorCooperativeLaunchTooLarge;
    if (!argument_memory && (e = arena_alloc(ARGUMENT_ROOM, MEMORY_DEVICE, &argument_memory)))
        return e;
    write_arguments(f, grid, block, dynamic_lds, parameters);
    emulator_message m = { .what = MESSAGE_LAUNCH,
                           .entry = f->entry,
                           .arguments = argument_memory,
                           .packet = argument_memory + PACKET_AT,
                           .wave = the_chip->wave,
                           .lds = f->lds + dynamic_lds,
                           .scratch = f->scratch,
                           .rsrc1 = f->rsrc1,
                           .rsrc2 = f->rsrc2,
                           .properties = f->properties,
                           .seed = setting("CGX_EMU_SEED", 0),
                           .limit = setting("CGX_EMU_LIMIT", 200000000),
                           .resident = cooperative ? 0 : (uint32_t)setting("CGX_EMU_RESIDENT", 16),
                           .quantum = (uint32_t)setting("CGX_EMU_QUANTUM", 300),
                           .spin = (uint32_t)setting("CGX_EMU_SPIN", 20000) };
    memcpy(m.grid, grid, sizeof m.grid);
    memcpy(m.block, block, sizeof m.block);
    return run(&m, f);
}
