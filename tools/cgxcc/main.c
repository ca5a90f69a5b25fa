/* SPDX-License-Identifier: MIT */
/* cgxcc: the host compiler, and for files with kernels the device compilers too. Design: docs/design.md. */
#include "compile.h"
#include "place.h"
#include "process.h"
#include <stdlib.h>
#include <string.h>

static void add_extra(struct strings *argv, const struct driver *d, size_t texts, size_t sources)
{
    if (texts)
        strings_append(argv, &d->preprocess_extra);
    if (sources)
        strings_append(argv, &d->compile_extra);
}

/* The command as the user gave it, for the host compiler to run as a whole. */
static struct strings whole_command(const struct driver *d)
{
    const struct options *o = &d->options;
    struct strings argv = { 0 };
    strings_append(&argv, &d->host);
    for (size_t i = 0; i < o->count; i++)
        if (o->arguments[i].kind != ARGUMENT_REMARK || !d->no_remarks)
            options_add_argument(&argv, o->arguments + i);
    add_extra(&argv, d, o->texts, o->sources);
    if (o->mode == MODE_LINK && (o->sources || o->inputs))
        strings_append(&argv, &d->link_extra);
    return argv;
}

static int compile_all(const struct driver *d)
{
    int status = 0;
    for (size_t i = 0; i < d->options.count; i++) {
        const struct argument *a = d->options.arguments + i;
        int one = a->kind == ARGUMENT_SOURCE ? compile_source(d, a, NULL) : 0;
        status = status ? status : one;
    }
    return status;
}

static void add_object(struct strings *argv, const struct argument *source, const char *object)
{
    if (source->language) { /* -x rules what follows it, and this is not of that language */
        strings_add(argv, "-x");
        strings_add(argv, "none");
    }
    strings_add(argv, object);
    if (source->language) {
        strings_add(argv, "-x");
        strings_add(argv, source->language);
    }
}

/* Kernel files become temporary objects; the host compiler gets those and the rest of the command. */
static int compile_and_link(const struct driver *d)
{
    const struct options *o = &d->options;
    const char **objects = mem_alloc((o->count + 1) * sizeof *objects);
    size_t kernel_files = 0;
    int status = 0;
    for (size_t i = 0; i < o->count; i++) {
        const struct argument *a = o->arguments + i;
        if (a->kind != ARGUMENT_SOURCE || !source_has_kernels(d, a))
            continue;
        objects[i] = mem_printf("%s/%zu.o", work_folder(), i);
        int one = compile_source(d, a, objects[i]);
        status = status ? status : one;
        kernel_files++;
    }
    if (status)
        return status;

    struct strings argv = { 0 };
    bool sources_left = kernel_files < o->sources;
    strings_append(&argv, &d->host);
    for (size_t i = 0; i < o->count; i++) {
        const struct argument *a = o->arguments + i;
        if (objects[i])
            add_object(&argv, a, objects[i]);
        else if ((a->kind != ARGUMENT_DEPENDENCY || sources_left) && (a->kind != ARGUMENT_REMARK || !d->no_remarks))
            options_add_argument(&argv, a);
    }
    add_extra(&argv, d, o->texts - kernel_files, o->sources - kernel_files);
    strings_append(&argv, &d->link_extra);
    return run(&argv, NULL, NULL);
}

static void prepare_extra(struct driver *d)
{
    struct options *o = &d->options;
    const char *include = place_include(), *library = place_library();
    bool relocatable = false;
    strings_append(&d->preprocess_extra, &o->cpu_macros);
    if (o->portable_fp)
        strings_add(&d->compile_extra, "-ffp-contract=off");
    if (o->cpu_native)
        strings_add(&d->compile_extra, "-march=native");
    if (include) {
        strings_add(&d->preprocess_extra, "-idirafter");
        strings_add(&d->preprocess_extra, include);
        options_add_device(o, "-idirafter", include);
    }
    for (size_t i = 0; i < o->count; i++)
        relocatable = relocatable || !strcmp(o->arguments[i].text, "-r");
    if (library && !relocatable) {
        strings_add(&d->link_extra, mem_printf("-L%s", library));
        strings_add(&d->link_extra, mem_printf("-Wl,-rpath,%s", library));
    }
}

/* The plug-in's clang compiles kernel files in the host compiler's place. It does not where the two would differ in more than
 * the code they make: OpenMP brings a runtime library of its own, and so do most sanitizers. Those of addresses and of
 * undefined behaviour are one text in both families: the host compiler links its own. */
static void prepare_engine(struct driver *d)
{
    const struct options *o = &d->options;
    d->no_remarks = o->remarks && !host_clang(d);
    if (o->engine == ENGINE_FIBER)
        return;
    const char *why = place_plugin(&d->plugin, &d->clang);
    const bool was_built = d->clang != NULL, there = !why;
    if (there && o->lto)
        why = "there is no link-time optimisation with it";
    else if (there && o->host_only)
        why = mem_printf("%s is for the host compiler", o->host_only);
    else if (there && o->openmp && !host_clang(d))
        why = mem_printf("%s is for the host compiler, whose library is another than clang's", o->openmp);
    if (o->engine == ENGINE_COMPILED && why)
        die("--cpu-engine=compiled: %s", why);
    if (why)
        d->plugin = d->clang = NULL;
    /* Said of what one would not expect, or has asked for. */
    if (why && ((there && o->openmp) || (!there && was_built) || o->remarks))
        d->fibers_why = why;
}

int main(int argc, char **argv)
{
    struct driver d = { .options = options_parse(argc, argv) };
    const struct options *o = &d.options;
    d.host = place_host();
    prepare_extra(&d);
    prepare_engine(&d);
    if (o->help)
        options_help();

    bool extra_work = options_any_device(o) || o->lto || d.plugin || d.fibers_why ||
                      (o->sources && o->mode != MODE_PROBE && host_misreads_strides(&d));
    bool several_to_one = o->mode == MODE_COMPILE && o->output && o->sources > 1; /* an error */
    struct strings whole = whole_command(&d);
    if (!o->sources || !extra_work || o->mode == MODE_PROBE || several_to_one)
        become(&whole);
    quit(o->mode == MODE_COMPILE ? compile_all(&d) : compile_and_link(&d));
}
