/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "backend.h"
#include "process.h"
#include <cgx/abi.h>
#include <stdio.h>
#include <string.h>

#ifdef CGXCC_PLUGIN_CLANG
#define ENGINE_HERE CGXCC_PLUGIN_CLANG
#else
#define ENGINE_HERE "not built"
#endif
#ifndef CGXCC_DEFAULT_BACKENDS
#define CGXCC_DEFAULT_BACKENDS "cpu"
#endif

/* What options mean to cgxcc, beyond "pass it on". */
enum meaning {
    MEANS_COMMON,
    MEANS_LINK,
    MEANS_DEVICE,
    MEANS_OUTPUT,
    MEANS_LANGUAGE,
    MEANS_DEPENDENCY,      /* -MD, -MMD */
    MEANS_DEPENDENCY_FILE, /* -MF */
    MEANS_DEPENDENCY_TARGET,
    MEANS_DEPENDENCY_PHONY,
    MEANS_COMPILE,
    MEANS_PROBE,
    MEANS_REMARK,
    MEANS_LTO,
    MEANS_NO_LTO,
    MEANS_DEBUG,
    MEANS_NO_DEBUG,
    MEANS_OPTIMIZE,
    MEANS_NO_OPTIMIZE
};
enum form {
    EXACT,    /* the word alone */
    PREFIX,   /* the word and whatever is glued to it */
    SEPARATE, /* the word, then its value */
    EITHER    /* value glued or in the next word */
};

/* The first match counts, so longer words stand before their prefixes. Every option that takes its value in
 * the next word has to be here, or the value would pass for a source file. */
static const struct {
    const char *word;
    enum form form;
    enum meaning meaning;
} rules[] = {
    { "-c", EXACT, MEANS_COMPILE },
    { "-o", EITHER, MEANS_OUTPUT },
    { "-x", EITHER, MEANS_LANGUAGE },
    { "-E", EXACT, MEANS_PROBE },
    { "-S", EXACT, MEANS_PROBE },
    { "-M", EXACT, MEANS_PROBE },
    { "-MM", EXACT, MEANS_PROBE },
    { "-###", EXACT, MEANS_PROBE },
    { "-fsyntax-only", EXACT, MEANS_PROBE },
    { "-dumpversion", EXACT, MEANS_PROBE },
    { "-dumpfullversion", EXACT, MEANS_PROBE },
    { "-dumpmachine", EXACT, MEANS_PROBE },
    { "-dumpspecs", EXACT, MEANS_PROBE },
    { "-print-", PREFIX, MEANS_PROBE },
    { "--print-", PREFIX, MEANS_PROBE },
    { "--version", EXACT, MEANS_PROBE },
    { "--help", PREFIX, MEANS_PROBE },
    { "--target-help", EXACT, MEANS_PROBE },
    { "--analyze", EXACT, MEANS_PROBE },
    { "--precompile", EXACT, MEANS_PROBE },

    { "-Rpass", PREFIX, MEANS_REMARK },
    { "-Rno-pass", PREFIX, MEANS_REMARK },

    { "-MD", EXACT, MEANS_DEPENDENCY },
    { "-MMD", EXACT, MEANS_DEPENDENCY },
    { "-MP", EXACT, MEANS_DEPENDENCY_PHONY },
    { "-MF", EITHER, MEANS_DEPENDENCY_FILE },
    { "-MT", EITHER, MEANS_DEPENDENCY_TARGET },
    { "-MQ", EITHER, MEANS_DEPENDENCY_TARGET },
    { "-MJ", EITHER, MEANS_COMMON },

    { "-D", EITHER, MEANS_DEVICE },
    { "-U", EITHER, MEANS_DEVICE },
    { "-I", EITHER, MEANS_DEVICE },
    { "-isystem", EITHER, MEANS_DEVICE },
    { "-iquote", EITHER, MEANS_DEVICE },
    { "-idirafter", EITHER, MEANS_DEVICE },
    { "-include", SEPARATE, MEANS_DEVICE },

    { "-flto", EXACT, MEANS_LTO },
    { "-flto=", PREFIX, MEANS_LTO },
    { "-fno-lto", EXACT, MEANS_NO_LTO },
    { "-g0", EXACT, MEANS_NO_DEBUG },
    { "-gno-", PREFIX, MEANS_COMMON },
    { "-gcc-toolchain", SEPARATE, MEANS_COMMON },
    { "-g", PREFIX, MEANS_DEBUG },
    { "-O0", EXACT, MEANS_NO_OPTIMIZE },
    { "-O", PREFIX, MEANS_OPTIMIZE },

    { "-Wl,", PREFIX, MEANS_LINK },
    { "-l", EITHER, MEANS_LINK },
    { "-L", EITHER, MEANS_LINK },
    { "-T", EITHER, MEANS_LINK },
    { "-u", SEPARATE, MEANS_LINK },
    { "-e", SEPARATE, MEANS_LINK },
    { "-z", SEPARATE, MEANS_LINK },
    { "-Xlinker", SEPARATE, MEANS_LINK },
    { "-fuse-ld=", PREFIX, MEANS_LINK },
    { "-shared", PREFIX, MEANS_LINK }, /* -shared-libgcc and other libraries too */
    { "-static", PREFIX, MEANS_LINK },
    { "-pie", EXACT, MEANS_LINK },
    { "-no-pie", EXACT, MEANS_LINK },
    { "-rdynamic", EXACT, MEANS_LINK },
    { "-symbolic", EXACT, MEANS_LINK },
    { "-nostdlib", EXACT, MEANS_LINK },
    { "-nodefaultlibs", EXACT, MEANS_LINK },
    { "-nostartfiles", EXACT, MEANS_LINK },
    { "-nolibc", EXACT, MEANS_LINK },
    { "-s", EXACT, MEANS_LINK },
    { "-r", EXACT, MEANS_LINK },

    { "-A", EITHER, MEANS_COMMON },
    { "-B", EITHER, MEANS_COMMON },
    { "-F", EITHER, MEANS_COMMON },
    { "-G", SEPARATE, MEANS_COMMON },
    { "-Xassembler", SEPARATE, MEANS_COMMON },
    { "-Xpreprocessor", SEPARATE, MEANS_COMMON },
    { "-Xclang", SEPARATE, MEANS_COMMON },
    { "-Xanalyzer", SEPARATE, MEANS_COMMON },
    { "-Xopenmp-target", SEPARATE, MEANS_COMMON },
    { "-mllvm", SEPARATE, MEANS_COMMON },
    { "-arch", SEPARATE, MEANS_COMMON },
    { "-target", SEPARATE, MEANS_COMMON },
    { "-resource-dir", SEPARATE, MEANS_COMMON },
    { "-working-directory", SEPARATE, MEANS_COMMON },
    { "-ivfsoverlay", SEPARATE, MEANS_COMMON },
    { "-include-pch", SEPARATE, MEANS_COMMON },
    { "-imacros", SEPARATE, MEANS_COMMON },
    { "-imultilib", SEPARATE, MEANS_COMMON },
    { "-iprefix", SEPARATE, MEANS_COMMON },
    { "-isysroot", SEPARATE, MEANS_COMMON },
    { "-iwithprefix", SEPARATE, MEANS_COMMON },
    { "-iwithprefixbefore", SEPARATE, MEANS_COMMON },
    { "-aux-info", SEPARATE, MEANS_COMMON },
    { "-dumpbase", SEPARATE, MEANS_COMMON },
    { "-dumpbase-ext", SEPARATE, MEANS_COMMON },
    { "-dumpdir", SEPARATE, MEANS_COMMON },
    { "-specs", SEPARATE, MEANS_COMMON },
    { "-wrapper", SEPARATE, MEANS_COMMON },
    { "--param", SEPARATE, MEANS_COMMON },
    { "--sysroot", SEPARATE, MEANS_COMMON },
};
enum { RULES = sizeof rules / sizeof *rules };

static int find_rule(const char *word)
{
    for (int i = 0; i < RULES; i++) {
        bool glued = rules[i].form == PREFIX || rules[i].form == EITHER;
        if (glued ? starts_with(word, rules[i].word) : !strcmp(word, rules[i].word))
            return i;
    }
    return -1;
}

void options_add_device(struct options *o, const char *name, const char *value)
{
    if (o->device_count == o->device_room) {
        o->device_room = o->device_room ? o->device_room * 2 : 16;
        struct device_option *more = mem_alloc(o->device_room * sizeof *more);
        if (o->device_count)
            memcpy(more, o->device, o->device_count * sizeof *more);
        o->device = more;
    }
    o->device[o->device_count++] = (struct device_option){ name, value };
}

bool options_any_device(const struct options *o)
{
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (o->wanted[i])
            return true;
    return false;
}

void options_add_argument(struct strings *argv, const struct argument *a)
{
    strings_add(argv, a->text);
    if (a->value)
        strings_add(argv, a->value);
}

/* ---- cgxcc's own options ---- */

static void parse_backends(struct options *o, const char *list)
{
    bool automatic = !strcmp(list, "auto");
    struct strings names = strings_split(automatic ? CGXCC_DEFAULT_BACKENDS : list, ',');
    memset(o->wanted, 0, sizeof o->wanted);
    o->asked = !automatic;
    if (!names.count)
        die("--backends= names no backend; known are %s and auto", backend_names());
    for (size_t i = 0; i < names.count; i++) {
        int id = backend_find(names.at[i]);
        if (id >= 0)
            o->wanted[id] = true;
        else if (strcmp(names.at[i], "cpu")) /* the CPU side is always made: it is the host's own compile */
            die("unknown backend '%s' in --backends=; known are %s and auto", names.at[i], backend_names());
    }
}

static void parse_architectures(struct options *o, enum backend_id id, const char *list)
{
    const struct backend *b = backend_get(id);
    struct strings names = strings_split(list, ',');
    struct strings clean = { 0 };
    if (!names.count)
        die("--%s-arch= names no architecture; an example is --%s-arch=%s", b->name, b->name, b->default_architectures);
    for (size_t i = 0; i < names.count; i++) {
        const char *name = b->check_architecture(names.at[i]);
        if (!name)
            die("'%s' in --%s-arch= is no architecture of this kind; an example is --%s-arch=%s", names.at[i], b->name,
                b->name, b->default_architectures);
        if (!strings_have(&clean, name))
            strings_add(&clean, name);
    }
    o->architectures[id] = clean;
}

static void parse_cpu_levels(struct options *o, const char *list)
{
#define NAME(number, part, title) #part,
    static const char *const levels[] = { CGX_FOREACH_LEVEL(NAME) };
#undef NAME
    enum { LEVELS = sizeof levels / sizeof *levels };
    struct strings names = strings_split(list, ','), macros = { 0 };
    o->cpu_native = names.count == 1 && !strcmp(names.at[0], "native");
    for (size_t i = 0; i < names.count; i++) {
        bool known = false;
        for (int l = 0; l < LEVELS; l++)
            known = known || !strcmp(names.at[i], levels[l]);
        if (known || o->cpu_native)
            continue;
        if (!strcmp(names.at[i], "native"))
            die("--cpu-arch=native is for the machine at hand alone: no level goes with it");
        char *all = mem_printf("%s", levels[0]);
        for (int l = 1; l < LEVELS; l++)
            all = mem_printf("%s, %s", all, levels[l]);
        die("unknown level '%s' in --cpu-arch=; known are %s", names.at[i], all);
    }
    /* The baseline is no choice: every kernel has it. */
    for (int l = 1; l < LEVELS; l++)
        strings_add(&macros, mem_printf("-DCGX_CPU_V%s=%d", levels[l] + 1, strings_have(&names, levels[l])));
    o->cpu_macros = macros;
}

static void parse_engine(struct options *o, const char *name)
{
    static const char *const names[] = {
        [ENGINE_AUTO] = "auto", [ENGINE_FIBER] = "fiber", [ENGINE_COMPILED] = "compiled"
    };
    for (int i = 0; i <= ENGINE_COMPILED; i++)
        if (!strcmp(name, names[i])) {
            o->engine = (enum cpu_engine)i;
            return;
        }
    die("unknown engine '%s' in --cpu-engine=; known are auto, fiber, compiled", name);
}

/* What follows "BEFORE NAME AFTER" in the word, or NULL. */
static const char *value_of(const char *word, const char *before, const char *name, const char *after)
{
    const char *const parts[] = { before, name, after };
    for (int i = 0; i < 3; i++) {
        if (!starts_with(word, parts[i]))
            return NULL;
        word += strlen(parts[i]);
    }
    return word;
}

static bool parse_own(struct options *o, const char *word)
{
    for (int i = 0; i < BACKEND_COUNT; i++) {
        const char *name = backend_get((enum backend_id)i)->name;
        const char *architectures = value_of(word, "--", name, "-arch="), *extra = value_of(word, "-X", name, "=");
        if (architectures)
            parse_architectures(o, (enum backend_id)i, architectures);
        if (extra)
            strings_add(&o->extra[i], extra);
        if (architectures || extra)
            return true;
    }
    if (starts_with(word, "--backends="))
        parse_backends(o, word + strlen("--backends="));
    else if (starts_with(word, "--cpu-arch="))
        parse_cpu_levels(o, word + strlen("--cpu-arch="));
    else if (starts_with(word, "--cpu-engine="))
        parse_engine(o, word + strlen("--cpu-engine="));
    else if (!strcmp(word, "--portable-fp"))
        o->portable_fp = true;
    else if (!strcmp(word, "-show"))
        process_show = true;
    else
        return false;
    return true;
}

void options_help(void)
{
    printf("cgxcc compiles as the host compiler does and adds GPU code to files that hold CGX_KERNELs.\n"
           "Its own options:\n"
           "  --backends=LIST    of %s, or auto (here: %s)\n",
           backend_names(), CGXCC_DEFAULT_BACKENDS);
    for (int i = 0; i < BACKEND_COUNT; i++) {
        const struct backend *b = backend_get((enum backend_id)i);
        printf("  --%-16s %s architectures (default: %s)\n", mem_printf("%s-arch=LIST", b->name), b->title,
               b->default_architectures);
        printf("  %-18s hand OPT to the %s compiler\n", mem_printf("-X%s=OPT", b->name), b->title);
    }
    puts("  --cpu-arch=LIST    instruction-set levels of CPU kernels: base, v2, v3, v4; or native\n"
         "  --cpu-engine=NAME  compiled, fiber or auto: kernels that a plug-in of clang compiles to loops\n"
         "                     beside those on fibers; auto: where the plug-in is there (here: " ENGINE_HERE ")\n"
         "  --portable-fp      no contraction to fused multiply-add: the same bits on every device\n"
         "  -show              print the commands that run\n"
         "Environment: CGXCC_HOST, CGXCC_NVCC, CGXCC_HIP name the compilers.\n"
         "Everything else is the host compiler's:\n");
}

/* ---- the host's options ---- */

/* -Wp,-MMD,k.d and -Wp,-DX: what builds of the Linux kernel and of distributions hand to the preprocessor. */
static bool parse_preprocessor(struct options *o, const char *word)
{
    struct strings parts = strings_split(word + strlen("-Wp,"), ',');
    bool dependency = false;
    for (size_t i = 0; i < parts.count; i++) {
        const char *p = parts.at[i];
        if ((!strcmp(p, "-MD") || !strcmp(p, "-MMD")) && i + 1 < parts.count) {
            o->dependency.option = p;
            o->dependency.file = parts.at[++i];
            dependency = true;
        } else if (starts_with(p, "-D") || starts_with(p, "-U") || starts_with(p, "-I")) {
            options_add_device(o, mem_copy(p, 2), p + 2);
        }
    }
    return dependency;
}

static enum argument_kind parse_rule(struct options *o, int rule, const char *word, const char *value)
{
    const char *glued = value ? value : word + strlen(rules[rule].word);
    switch (rules[rule].meaning) {
    case MEANS_COMMON: return ARGUMENT_COMMON;
    case MEANS_LINK: return ARGUMENT_LINK;
    case MEANS_DEVICE: options_add_device(o, rules[rule].word, glued); return ARGUMENT_COMMON;
    case MEANS_OUTPUT: o->output = glued; return ARGUMENT_OUTPUT;
    case MEANS_LANGUAGE: return ARGUMENT_LANGUAGE;
    case MEANS_DEPENDENCY: o->dependency.option = rules[rule].word; return ARGUMENT_DEPENDENCY;
    case MEANS_DEPENDENCY_FILE: o->dependency.file = glued; return ARGUMENT_DEPENDENCY;
    case MEANS_DEPENDENCY_TARGET: o->dependency.target = true; return ARGUMENT_DEPENDENCY;
    case MEANS_DEPENDENCY_PHONY: o->dependency.phony = true; return ARGUMENT_DEPENDENCY;
    case MEANS_COMPILE:
        if (o->mode == MODE_LINK)
            o->mode = MODE_COMPILE;
        return ARGUMENT_COMPILE;
    case MEANS_REMARK: o->remarks = true; return ARGUMENT_REMARK;
    case MEANS_PROBE: o->mode = MODE_PROBE; return ARGUMENT_COMMON;
    case MEANS_LTO:
    case MEANS_NO_LTO: o->lto = rules[rule].meaning == MEANS_LTO; return ARGUMENT_COMMON;
    case MEANS_DEBUG:
    case MEANS_NO_DEBUG: o->debug = rules[rule].meaning == MEANS_DEBUG; return ARGUMENT_COMMON;
    case MEANS_OPTIMIZE:
    case MEANS_NO_OPTIMIZE: o->optimize = rules[rule].meaning == MEANS_OPTIMIZE; return ARGUMENT_COMMON;
    }
    return ARGUMENT_COMMON;
}

static bool has_ending(const char *path, const char *const *endings)
{
    for (; *endings; endings++)
        if (ends_with(path, *endings))
            return true;
    return false;
}

static void parse_file(struct options *o, struct argument *a, const char *language)
{
    static const char *const texts[] = { ".c", ".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", NULL };
    static const char *const others[] = { ".i", ".ii", ".s", ".S", ".sx", NULL };
    static const char *const headers[] = { ".h", ".hh", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".H", ".tcc", NULL };

    a->language = language;
    a->kind = ARGUMENT_SOURCE;
    if (language) {
        a->is_text = !strcmp(language, "c") || !strcmp(language, "c++");
        if (ends_with(language, "-header"))
            o->mode = MODE_PROBE;
    } else if (has_ending(a->text, texts)) {
        a->is_text = true;
    } else if (has_ending(a->text, headers)) {
        o->mode = MODE_PROBE; /* makes a precompiled header */
    } else if (!has_ending(a->text, others)) {
        a->kind = ARGUMENT_INPUT;
    }
    a->readable = a->is_text && strcmp(a->text, "-");
    o->texts += a->is_text;
    if (a->kind == ARGUMENT_SOURCE)
        o->sources++;
    else
        o->inputs++;
}

/* What else code is made to do, and whose library has the rest of it. */
static void parse_instrumentation(struct options *o, const char *word)
{
    static const char *const others[] = { "thread", "memory", "hwaddress", "kernel", "data",
                                          "cfi",    "safe",   "shadow",    "fuzzer", NULL };
    if (starts_with(word, "-fopenmp") && strcmp(word, "-fopenmp-simd"))
        o->openmp = word;
    if (starts_with(word, "-fprofile") || starts_with(word, "--coverage") || starts_with(word, "-fplugin"))
        o->host_only = word;
    if (!starts_with(word, "-fsanitize="))
        return;
    o->sanitized = true;
    for (const char *name = word + strlen("-fsanitize="); *name; name += strcspn(name, ","), name += *name == ',')
        for (size_t i = 0; others[i]; i++)
            if (starts_with(name, others[i]))
                o->host_only = word;
}

/* Response files are read here, or a kernel named in one would silently get no device code. */
static void expand(struct strings *words, const char *word, int depth)
{
    struct buffer text;
    if (word[0] != '@' || !file_read(word + 1, &text, NULL)) {
        strings_add(words, word);
        return;
    }
    if (depth > 100)
        die("response file %s: nested too deeply", word + 1);
    struct strings inside = strings_words((const char *)text.data);
    for (size_t i = 0; i < inside.count; i++)
        expand(words, inside.at[i], depth + 1);
}

struct options options_parse(int argc, char **argv)
{
    struct options o = { .optimize = true };
    struct strings words = { 0 };
    const char *language = NULL;

    parse_backends(&o, "auto");
    for (int i = 0; i < BACKEND_COUNT; i++)
        parse_architectures(&o, (enum backend_id)i, backend_get((enum backend_id)i)->default_architectures);
    for (int i = 1; i < argc; i++)
        expand(&words, argv[i], 0);

    o.arguments = mem_alloc((words.count + 1) * sizeof *o.arguments);
    for (size_t i = 0; i < words.count; i++) {
        const char *word = words.at[i];
        struct argument *a = o.arguments + o.count;
        if (parse_own(&o, word))
            continue;
        o.count++;
        a->text = word;
        if (word[0] != '-' || !word[1]) {
            parse_file(&o, a, language);
            continue;
        }
        if (!strcmp(word, "--help"))
            o.help = true;
        if (starts_with(word, "-Wp,")) {
            if (parse_preprocessor(&o, word))
                a->kind = ARGUMENT_DEPENDENCY;
            continue;
        }
        int rule = find_rule(word);
        parse_instrumentation(&o, word);
        if (rule < 0)
            continue;
        enum form form = rules[rule].form;
        if (form == SEPARATE || (form == EITHER && !strcmp(word, rules[rule].word))) {
            if (i + 1 == words.count) { /* the host compiler says what is missing */
                o.mode = MODE_PROBE;
                continue;
            }
            a->value = words.at[++i];
        }
        a->kind = parse_rule(&o, rule, word, a->value);
        if (a->kind == ARGUMENT_LANGUAGE) {
            language = a->value ? a->value : word + 2;
            if (!strcmp(language, "none"))
                language = NULL;
        }
    }
    return o;
}
