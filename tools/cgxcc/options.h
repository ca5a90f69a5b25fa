/* SPDX-License-Identifier: MIT */
/* The command line, taken apart. Host options pass through in their order; cgxcc looks into few of them. */
#ifndef CGXCC_OPTIONS_H
#define CGXCC_OPTIONS_H
#include "util.h"

enum argument_kind {
    ARGUMENT_COMMON,     /* anything else: the host compiler's business, at compiling and at linking */
    ARGUMENT_LANGUAGE,   /* -x */
    ARGUMENT_SOURCE,     /* something that -c turns into an object */
    ARGUMENT_INPUT,      /* object, archive, linker script */
    ARGUMENT_LINK,       /* means nothing to -c; clang warns about it there */
    ARGUMENT_OUTPUT,     /* -o */
    ARGUMENT_DEPENDENCY, /* -MD and kin */
    ARGUMENT_REMARK,     /* -Rpass=cgx and kin, which gcc does not know */
    ARGUMENT_COMPILE     /* -c */
};

struct argument {
    enum argument_kind kind;
    const char *text, *value; /* value: the next word where the option takes one, else NULL */
    const char *language;     /* of a source: what -x said, or NULL */
    bool is_text;             /* of a source: C or C++ that is not preprocessed yet */
    bool readable;            /* of a source: text in a file, so that a device compiler can read it too */
};

/* An option for device compilers: "-D" "NAME=1", always in two parts. */
struct device_option {
    const char *name, *value;
};

enum mode {
    MODE_LINK,
    MODE_COMPILE,
    MODE_PROBE /* no object comes of it: the host compiler answers */
};

/* --cpu-engine: whether kernels get compiled entries beside those of fibers. */
enum cpu_engine { ENGINE_AUTO, ENGINE_FIBER, ENGINE_COMPILED };
enum backend_id { BACKEND_CUDA, BACKEND_HIP, BACKEND_COUNT };

struct options {
    struct argument *arguments;
    size_t count, sources, texts, inputs;
    enum mode mode;
    const char *output;
    bool help, lto;

    struct device_option *device;
    size_t device_count, device_room;
    bool optimize, debug;

    struct {
        const char *option; /* "-MD", "-MMD", or NULL: no dependency file asked for */
        const char *file;   /* NULL: named after the output */
        bool phony, target; /* -MP; -MT or -MQ */
    } dependency;

    bool wanted[BACKEND_COUNT];
    bool asked; /* --backends= named them, so that a missing compiler is an error */
    struct strings architectures[BACKEND_COUNT], extra[BACKEND_COUNT];
    struct strings cpu_macros;
    bool cpu_native; /* one entry, for the processor at hand */
    bool portable_fp;
    enum cpu_engine engine;
    /* Of the host's options: what the clang of the plug-in would do in another way than the host compiler. */
    const char *host_only;
    const char *openmp; /* the option that asks for it: two compilers of one family share its library */
    bool sanitized;     /* by what both families have in their libraries */
    bool remarks;       /* asked for */
};

struct options options_parse(int argc, char **argv);
void options_help(void);

/* Adds an option for device compilers, as if it came last on the command line. */
void options_add_device(struct options *o, const char *name, const char *value);
bool options_any_device(const struct options *o);
void options_add_argument(struct strings *argv, const struct argument *a);
#endif
