/* SPDX-License-Identifier: MIT */
#include "compile.h"
#include "depfile.h"
#include "images.h"
#include "object.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool source_has_kernels(const struct driver *d, const struct argument *source)
{
    const struct options *o = &d->options;
    struct strings argv = { 0 };
    struct buffer text;
    if (!source->readable)
        return false;
    strings_append(&argv, &d->host);
    for (size_t i = 0; i < o->count; i++) {
        const struct argument *a = o->arguments + i;
        if (a == source || a->kind == ARGUMENT_COMMON || a->kind == ARGUMENT_LANGUAGE)
            options_add_argument(&argv, a);
    }
    strings_append(&argv, &d->preprocess_extra);
    strings_add(&argv, "-E");
    const char *out = mem_printf("%s/preprocessed", work_folder());
    /* A file that does not even preprocess has its errors reported by the compile that follows. */
    return !run(&argv, out, "/dev/null") && file_read(out, &text, NULL) &&
           memmem(text.data, text.size, KERNEL_MARK, strlen(KERNEL_MARK));
}

/* Whether a word of the host compiler's command is, behind all links, a gcc by name: such a one need not be asked. */
static bool host_is_gcc(const struct driver *d)
{
    for (size_t i = 0; i < d->host.count; i++) {
        const char *found = find_program(d->host.at[i]);
        char *real = found ? realpath(found, NULL) : NULL;
        const char *name = real ? strrchr(real, '/') : NULL;
        const bool is = name && (strstr(name, "gcc") || strstr(name, "g++"));
        free(real);
        if (is)
            return true;
    }
    return false;
}

int host_clang(const struct driver *d)
{
    static int major = -1;
    struct strings argv = { 0 };
    struct buffer text = { 0 };
    const char *macros = mem_printf("%s/macros", work_folder()), *log = mem_printf("%s/macros.log", work_folder());
    struct strings words = strings_words("-dM -E -x c /dev/null");
    const char *at;
    if (major >= 0)
        return major;
    if (host_is_gcc(d))
        return major = 0;
    strings_append(&argv, &d->host);
    strings_append(&argv, &words);
    at = !run(&argv, macros, log) && file_read(macros, &text, NULL)
             ? strstr((const char *)text.data, "#define __clang_major__ ")
             : NULL;
    return major = at ? atoi(at + strlen("#define __clang_major__ ")) : 0;
}

bool host_misreads_strides(const struct driver *d)
{
    const struct options *o = &d->options;
    for (size_t i = 0; i < o->count; i++)
        if (strstr(o->arguments[i].text, "-enable-interleaved-mem-accesses")) /* the user has a say in it */
            return false;
    const int major = host_clang(d);
    return major && major < 22;
}

/* The command of the host compiler, or of the compiler in its place, for one source. */
static struct strings host_command(const struct driver *d, const struct strings *compiler,
                                   const struct argument *source, const char *object, const char *depfile)
{
    const struct options *o = &d->options;
    struct strings argv = { 0 };
    strings_append(&argv, compiler);
    for (size_t i = 0; i < o->count; i++) {
        const struct argument *a = o->arguments + i;
        bool left_out = (a->kind == ARGUMENT_SOURCE && a != source) ||
                        (a->kind == ARGUMENT_INPUT && (object || o->sources > 1)) ||
                        ((a->kind == ARGUMENT_LINK || a->kind == ARGUMENT_OUTPUT) && object) ||
                        (a->kind == ARGUMENT_REMARK && d->no_remarks && compiler == &d->host);
        if (!left_out)
            options_add_argument(&argv, a);
    }
    if (object) {
        strings_add(&argv, "-c");
        strings_add(&argv, "-o");
        strings_add(&argv, object);
    }
    if (object && o->dependency.option) {
        /* As if the host compiler had also linked: the rule is the program's, not the temporary object's. */
        if (!o->dependency.file) {
            strings_add(&argv, "-MF");
            strings_add(&argv, depfile);
        }
        if (!o->dependency.target) {
            strings_add(&argv, "-MQ");
            strings_add(&argv, o->output ? o->output : with_suffix(base_name(source->text), ".o"));
        }
    }
    if (source->is_text)
        strings_append(&argv, &d->preprocess_extra);
    strings_append(&argv, &d->compile_extra);
    return argv;
}

/* What the host compiler has to say of a source that the plug-in's clang has compiled in its place: its warnings are the ones that
 * the user asked for, and its -Werror is the one that counts. Not those that it finds while it optimises. */
static int host_warnings(const struct driver *d, const struct argument *source, const char *object, const char *depfile)
{
    struct strings argv = host_command(d, &d->host, source, object, depfile);
    strings_add(&argv, "-fsyntax-only");
    return run(&argv, NULL, NULL);
}

/* Compiles a kernel file with the plug-in. False: that clang does not take it, or not for this machine, and the host
 * compiler is to go on. Its own clang is asked first and its messages are kept back until it is known whose count. Where nobody has
 * asked for this engine its warnings are not given at all: the host compiler's are. */
static bool compile_with_plugin(const struct driver *d, const struct argument *source, const char *object,
                                const char *depfile, int *status)
{
    struct strings compiler = { 0 }, argv;
    const char *log = mem_printf("%s/clang", work_folder());
    struct buffer text = { 0 };
    if (!d->plugin || !source_has_kernels(d, source))
        return false;
    strings_add(&compiler, d->clang);
    argv = host_command(d, &compiler, source, object, depfile);
    strings_add(&argv, mem_printf("-fpass-plugin=%s", d->plugin));
    strings_add(&argv, "-DCGX__CPU_PASS=1");
    strings_add(&argv, "-Qunused-arguments");
    strings_add(&argv, "-Wno-unknown-warning-option");
    if (d->options.sanitized)
        strings_add(&argv, "-fno-sanitize=function"); /* gcc's library has no such check */
    strings_add(&argv, "-Wno-pass-failed");           /* of the entries' loops, which are not the user's business */
    const bool asked_for = d->options.engine == ENGINE_COMPILED;
    if (!asked_for)
        strings_add(&argv, "-w");
    *status = run(&argv, NULL, log);
    if (*status && !asked_for)
        return false;
    if (!asked_for && (*status = host_warnings(d, source, object, depfile)))
        unlink(object ? object : d->options.output ? d->options.output : with_suffix(base_name(source->text), ".o"));
    if (file_read(log, &text, NULL) && text.size)
        fwrite(text.data, 1, text.size, stderr);
    return true;
}

int compile_source(const struct driver *d, const struct argument *source, const char *object)
{
    const struct options *o = &d->options;
    const char *result = object ? object : o->output ? o->output : with_suffix(base_name(source->text), ".o");
    const char *depfile = o->dependency.file    ? o->dependency.file
                          : object && o->output ? with_suffix(o->output, ".d")
                          : object              ? with_suffix(base_name(source->text), ".d")
                                                : with_suffix(result, ".d");
    int status = 0;
    if (d->fibers_why && source_has_kernels(d, source))
        say("remark", "%s: its kernels run on fibers alone: %s", source->text, d->fibers_why);
    if (!compile_with_plugin(d, source, object, depfile, &status)) {
        struct strings argv = host_command(d, &d->host, source, object, depfile);
        bool refused = status != 0;
        /* Images replace bytes of a machine-code object; an object of link-time optimisation has none. */
        if (o->lto && source_has_kernels(d, source))
            strings_add(&argv, "-fno-lto");
        if (host_misreads_strides(d) && source_has_kernels(d, source)) {
            strings_add(&argv, "-mllvm");
            strings_add(&argv, "-enable-interleaved-mem-accesses=false");
        }
        status = run(&argv, NULL, NULL);
        if (refused && !status)
            say("remark", "%s: %s does not take this file, so its kernels run on fibers alone", source->text, d->clang);
    }
    if (status || !options_any_device(o))
        return status;

    struct object made;
    if (!object_load(result, &made) || !object_has_function(&made, KERNEL_MARK))
        return 0;
    if (!source->readable) {
        say("warning", "%s: its kernels run on the CPU only: device compilers cannot read such a file", source->text);
        return 0;
    }
    /* From here to the end there is no object, so make never finds half of one. */
    unlink(made.path);
    const struct traits traits = { object_knows(&made, LAUNCHING_MARK), object_has_function(&made, OPERATOR_MARK),
                                   object_knows(&made, ANNOUNCING_MARK) || object_knows(&made, BULK_COPY_MARK) };
    struct passes passes = backend_plan(o, source->text, traits);
    if (passes.count) {
        if (!images_build(&passes, source->text))
            return EXIT_FAILURE;
        struct buffer images = images_collect(&passes);
        object_put_images(&made, &images);
        if (o->dependency.option)
            depfile_merge(depfile, o, &passes, source->text);
    }
    file_replace(made.path, &made.bytes, made.mode);
    return 0;
}
