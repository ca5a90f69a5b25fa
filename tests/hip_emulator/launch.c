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

enum { MOST_THREADS = 1024, LDS_BYTES = 65536, ARGUMENT_ROOM = 65536, PACKET_AT = 61440, PACKET_BYTES = 64 };
enum { WORKER_SOCKET = 198, WORKER_MEMORY = 199 }; /* file numbers in the worker */

static pid_t worker, owner; /* the process that started the worker: a child of fork has none */
static int worker_socket = -1;
static uint64_t argument_memory;
static _Atomic bool exiting;

/* ---- the worker process ---- */

struct prepared_launch {
    const function *f;
    emulator_message message;
    int timeout, answer; /* ms; what poll said */
    emulator_reply reply;
    bool sent, replied;
    struct timespec start;
    unsigned char packet[PACKET_BYTES];
    unsigned char arguments[]; /* f->argument_bytes */
};

void launch_kill_worker(void)
{
    if (worker > 0 && owner == getpid())
        kill(worker, SIGKILL);
}
void launch_stop_worker(void)
{
    if (worker <= 0 || owner != getpid())
        return;
    launch_kill_worker();
    close(worker_socket);
    while (waitpid(worker, NULL, 0) < 0 && errno == EINTR) {
    }
    worker = 0;
    worker_socket = -1;
}
/* Threads of streams may still wait for it. */
__attribute__((destructor)) static void at_exit(void)
{
    exiting = true;
    if (worker > 0 && owner == getpid()) {
        kill(worker, SIGKILL);
        while (waitpid(worker, NULL, 0) < 0 && errno == EINTR) {
        }
    }
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

hip_error launch_start(prepared_launch *p)
{
    uint32_t changes;
    hip_error e;
    if ((worker <= 0 || owner != getpid()) && (e = start_worker()))
        return e;
    memset(arena_host(argument_memory), 0, ARGUMENT_ROOM);
    memcpy(arena_host(argument_memory), p->arguments, p->f->argument_bytes);
    memcpy(arena_host(argument_memory + PACKET_AT), p->packet, PACKET_BYTES);
    clock_gettime(CLOCK_MONOTONIC, &p->start);
    const emulator_message *change = arena_changes(&changes);
    p->sent = true;
    for (uint32_t i = 0; i < changes && p->sent; i++)
        p->sent = tell(change + i);
    arena_changes_told();
    p->sent = p->sent && tell(&p->message);
    return hipSuccess;
}

void launch_await(prepared_launch *p)
{
    struct pollfd answer = { worker_socket, POLLIN, 0 };
    p->answer = 1;
    if (p->sent) {
        do
            p->answer = poll(&answer, 1, p->timeout);
        while (p->answer < 0 && errno == EINTR);
        p->replied = p->answer > 0 && read(worker_socket, &p->reply, sizeof p->reply) == sizeof p->reply;
    }
}

hip_error launch_end(prepared_launch *p, bool quiet)
{
    static const hip_error errors[] = { hipSuccess, hipErrorIllegalAddress, hipErrorLaunchTimeOut,
                                        hipErrorLaunchTimeOut, hipErrorNotSupported };
    const emulator_reply *r = &p->reply;
    struct timespec end;
    if (!p->replied) {
        launch_stop_worker();
        if (!quiet && !exiting)
            fprintf(stderr,
                    p->answer ? "[emulator] %s: the worker died\n"
                              : "[emulator] %s: no answer within CGX_EMU_TIMEOUT_MS\n",
                    p->f->name);
        return p->answer ? hipErrorLaunchFailure : hipErrorLaunchTimeOut;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (r->status == REPLY_FAULT)
        launch_stop_worker();
    if (r->status)
        report(r, &p->message, p->f);
    else if (setting("CGX_EMU_VERBOSE", 0))
        fprintf(stderr, "[emulator] %s: %llu wave-instructions, %.2f ms\n", p->f->name,
                (unsigned long long)r->instructions,
                (double)(end.tv_sec - p->start.tv_sec) * 1e3 + (double)(end.tv_nsec - p->start.tv_nsec) / 1e6);
    return errors[r->status];
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
static void write_arguments(prepared_launch *p, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                            void **parameters)
{
    const function *f = p->f;
    unsigned char *memory = p->arguments, *packet = p->packet;
    const uint32_t dimensions = grid[2] * block[2] > 1 ? 3 : grid[1] * block[1] > 1 ? 2 : 1;
    const uint32_t hidden[] = {
        [ARGUMENT_BLOCK_COUNT_X] = grid[0], [ARGUMENT_BLOCK_COUNT_Y] = grid[1],  [ARGUMENT_BLOCK_COUNT_Z] = grid[2],
        [ARGUMENT_GROUP_SIZE_X] = block[0], [ARGUMENT_GROUP_SIZE_Y] = block[1],  [ARGUMENT_GROUP_SIZE_Z] = block[2],
        [ARGUMENT_GRID_DIMS] = dimensions,  [ARGUMENT_DYNAMIC_LDS] = dynamic_lds
    };
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

hip_error launch_prepare(const function *f, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                         void **parameters, bool cooperative, prepared_launch **out)
{
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2], blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    hip_error e;
    *out = NULL;
    if (!threads || !blocks)
        return hipErrorInvalidConfiguration;
    if (threads > MOST_THREADS || (f->most_threads && threads > f->most_threads) || f->lds + dynamic_lds > LDS_BYTES)
        return hipErrorInvalidValue;
    if (f->argument_bytes > PACKET_AT)
        return hipErrorInvalidImage;
    if (cooperative &&
        blocks > (uint64_t)launch_occupancy(f, (uint32_t)threads, dynamic_lds) * setting("CGX_EMU_CUS", 8))
        return hipErrorCooperativeLaunchTooLarge;
    if (!argument_memory && (e = arena_alloc(ARGUMENT_ROOM, MEMORY_DEVICE, &argument_memory)))
        return e;
    prepared_launch *p = calloc(1, sizeof *p + f->argument_bytes);
    if (!p)
        return hipErrorOutOfMemory;
    p->f = f;
    p->timeout = (int)setting("CGX_EMU_TIMEOUT_MS", 120000);
    write_arguments(p, grid, block, dynamic_lds, parameters);
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
    p->message = m;
    *out = p;
    return hipSuccess;
}
