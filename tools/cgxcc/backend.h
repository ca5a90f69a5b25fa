/* SPDX-License-Identifier: MIT */
/* The device back ends: which compiler makes an image, and how. One row of a table each. */
#ifndef CGXCC_BACKEND_H
#define CGXCC_BACKEND_H
#include "options.h"
#include "process.h"
#include <stdint.h>

/* One run of a device compiler, which makes one image. */
struct pass {
    struct command command;
    uint32_t kind;          /* CGX__IMAGE_* */
    const char *tag;        /* marks its diagnostics: "cuda", "hip gfx90a" */
    const char *target;     /* for the image table */
    const char *image;      /* what it writes */
    const char *dependency; /* dependency file, or NULL */
    const char *toolkit;    /* folder of the compiler's own headers, or NULL */
};

struct passes {
    struct pass *at;
    size_t count;
};

/* What the host compiler's object tells of a kernel file. */
struct traits {
    bool launches;  /* one of its kernels may launch kernels */
    bool operators; /* its kernels use operators of the user's */
    bool bytes;     /* its mbarriers count bytes of copies */
};

struct backend {
    const char *name, *title;
    const char *variable;          /* environment variable that names the compiler */
    const char *const *candidates; /* else the first of these that exists; "$VAR/..." is expanded */
    const char *default_architectures;
    const char *(*check_architecture)(const char *name); /* its proper form, or NULL */
    void (*plan)(const struct options *o, const struct strings *compiler, const char *source, struct traits traits,
                 struct passes *out);
};

const struct backend *backend_get(enum backend_id id);
int backend_find(const char *name);
const char *backend_names(void); /* "cpu, cuda, hip" */

/* The passes that make the images of a kernel file. */
struct passes backend_plan(const struct options *o, const char *source, struct traits traits);
#endif
