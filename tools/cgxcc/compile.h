/* SPDX-License-Identifier: MIT */
/* From a source file to an object. */
#ifndef CGXCC_COMPILE_H
#define CGXCC_COMPILE_H
#include "options.h"

struct driver {
    struct options options;
    struct strings host;
    const char *plugin, *clang; /* of the compiled CPU engine, or NULL: kernels run on fibers alone */
    const char *fibers_why;     /* why that is so, if it is worth a remark */
    bool no_remarks;            /* the host compiler does not know options that ask for remarks */
    /* What cgxcc adds at the end of a command line, for whatever has to be preprocessed, compiled, linked. */
    struct strings preprocess_extra, compile_extra, link_extra;
};

/* The major version of the host compiler if that is a clang, else 0. */
int host_clang(const struct driver *d);

/* Whether loops, as the host compiler makes them, may read behind an array: clang before 22 vectorises s[i * 3 & 255] as if the
 * index did not wrap where i begins at a constant (backends/cpu/pass/Strides.cpp). Kernel files are compiled with strided accesses left
 * alone by it then. */
bool host_misreads_strides(const struct driver *d);

/* Whether a source defines kernels, found by preprocessing it. */
bool source_has_kernels(const struct driver *d, const struct argument *source);

/* Compiles one of the command's sources with -c and gives an exit status. With `object` the result goes
 * there, as part of a command that compiles and links; with NULL it goes where the command says. */
int compile_source(const struct driver *d, const struct argument *source, const char *object);
#endif
