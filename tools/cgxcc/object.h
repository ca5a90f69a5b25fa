/* SPDX-License-Identifier: MIT */
/* The host compiler's object: does it hold kernels, and its image section replaced. ELF64, little-endian. */
#ifndef CGXCC_OBJECT_H
#define CGXCC_OBJECT_H
#include "util.h"

/* Entries of kernels are static functions with this in their names, and so preprocessed text has it. */
#define KERNEL_MARK "cgx__entry_base_"

/* What an entry calls when its kernel may launch kernels. */
#define LAUNCHING_MARK "cgx__cpu_caller"
/* What its entry calls where a file's mbarriers count bytes. */
#define ANNOUNCING_MARK "cgx__cpu_mbarrier_announce"
#define BULK_COPY_MARK "cgx__cpu_bulk_copy"
/* What the CPU calls of a user operator that a kernel uses. */
#define OPERATOR_MARK "__apply"

enum { IMAGE_ALIGNMENT = 64 }; /* of the section and of each image in it */

struct object {
    const char *path; /* free of symbolic links */
    struct buffer bytes;
    mode_t mode;
};

/* False where there is nothing to look into: /dev/null, bitcode, the object format of another machine. */
bool object_load(const char *path, struct object *out);
/* Whether it defines NAME or refers to it. */
bool object_knows(const struct object *o, const char *name);
/* A function with MARK in its name. */
bool object_has_function(const struct object *o, const char *mark);
void object_put_images(struct object *o, const struct buffer *images);
#endif
