/* SPDX-License-Identifier: MIT */
#include "images.h"
#include "diagnostics.h"
#include "object.h"
#include <cgx/abi.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(cgx__images) == 16 && sizeof(cgx__image) == 64, "libcgx reads this");

bool images_build(struct passes *passes, const char *source)
{
    struct command *commands = mem_alloc(passes->count * sizeof *commands);
    bool good = true;
    for (size_t i = 0; i < passes->count; i++)
        commands[i] = passes->at[i].command;
    run_all(commands, passes->count);
    /* In the order of the table, however the passes overlapped. */
    for (size_t i = 0; i < passes->count; i++) {
        struct buffer log;
        if (file_read(commands[i].log, &log, NULL))
            diagnostics_print(stderr, (const char *)log.data, passes->at[i].tag);
        if (commands[i].status) {
            say("error", "%s: no code for %s: its compiler failed", source, passes->at[i].tag);
            good = false;
        }
    }
    return good;
}

struct buffer images_collect(const struct passes *passes)
{
    struct buffer blob = { 0 };
    size_t head = sizeof(cgx__images) + passes->count * sizeof(cgx__image);
    cgx__images table = { "CGXI", CGX__ABI, (uint16_t)passes->count, 0 };
    cgx__image *rows = mem_alloc((passes->count + 1) * sizeof *rows);

    buffer_add(&blob, mem_alloc(head), head);
    for (size_t i = 0; i < passes->count; i++) {
        const struct pass *p = passes->at + i;
        struct buffer image;
        if (!file_read(p->image, &image, NULL))
            die("%s: the compiler wrote no image: %s", p->tag, strerror(errno));
        buffer_pad(&blob, IMAGE_ALIGNMENT);
        rows[i] = (cgx__image){ .kind = p->kind, .offset = blob.size, .size = image.size };
        snprintf(rows[i].target, sizeof rows[i].target, "%s", p->target);
        buffer_add(&blob, image.data, image.size);
    }
    table.size = blob.size;
    memcpy(blob.data, &table, sizeof table);
    memcpy(blob.data + sizeof table, rows, passes->count * sizeof *rows);
    return blob;
}
