/* SPDX-License-Identifier: MIT */
/* Messages between the library (launch.c) and its worker process (scheduler.c). Both have the arena at one address. */
#ifndef EMULATOR_MESSAGES_H
#define EMULATOR_MESSAGES_H
#include <stdint.h>

#define CODE_BYTES (256ull << 20) /* the arena's first part: code objects, whose addresses are not used again */

enum { MESSAGE_PROTECT = 1, MESSAGE_LAUNCH = 2 };
enum { REPLY_OK, REPLY_FAULT, REPLY_DEADLOCK, REPLY_LIMIT, REPLY_UNSUPPORTED };

typedef struct {
    uint32_t what;
    uint32_t protection; /* MESSAGE_PROTECT: of `bytes` from `address` on, as for mprotect */
    uint64_t address, bytes;
    /* MESSAGE_LAUNCH: registers at the start of a wave follow from these (AMDGPU back end of LLVM, AMDHSA ABI). */
    uint64_t entry, arguments, packet;
    uint32_t grid[3], block[3]; /* in blocks, in threads */
    uint32_t wave, lds, scratch, rsrc1, rsrc2, properties;
    uint64_t seed;     /* 0: waves go round robin */
    uint64_t limit;    /* instructions of the launch */
    uint32_t resident; /* blocks alive at once; 0: all */
    uint32_t quantum;  /* most instructions a turn */
    uint32_t spin;     /* rounds of nothing but sleep and barrier waits that make a deadlock */
} emulator_message;

typedef struct {
    uint32_t status, block[3], wave, unused;
    uint64_t instructions, address, pc;
    char text[200];
} emulator_reply;
#endif
