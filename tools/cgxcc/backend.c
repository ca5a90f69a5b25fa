/* SPDX-License-Identifier: MIT */
#include "backend.h"
#include <cgx/abi.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CGXCC_DEFAULT_CUDA_ARCH
/* Every chip family that this nvcc builds for; their code for consoles and cars (87, 88, 110, 121) is left to the list. */
#define CGXCC_DEFAULT_CUDA_ARCH "75,80,86,89,90,100,120"
#endif
#ifndef CGXCC_DEFAULT_HIP_ARCH
#define CGXCC_DEFAULT_HIP_ARCH "gfx906,gfx90a,gfx942,gfx1030,gfx1100,gfx1200"
#endif

static struct pass *add_pass(struct passes *passes, uint32_t kind)
{
    struct pass *more = mem_alloc((passes->count + 1) * sizeof *more);
    if (passes->count)
        memcpy(more, passes->at, passes->count * sizeof *more);
    passes->at = more;
    struct pass *p = passes->at + passes->count;
    p->kind = kind;
    p->image = mem_printf("%s/%zu.img", work_folder(), passes->count);
    p->dependency = mem_printf("%s/%zu.d", work_folder(), passes->count);
    p->command.log = mem_printf("%s/%zu.log", work_folder(), passes->count);
    passes->count++;
    return p;
}

static void add_all(struct strings *argv, const char *const *words)
{
    for (; *words; words++)
        strings_add(argv, *words);
}

static void add_dependency(const struct options *o, struct pass *p)
{
    if (!o->dependency.option) {
        p->dependency = NULL;
        return;
    }
    strings_add(&p->command.argv, o->dependency.option);
    strings_add(&p->command.argv, "-MF");
    strings_add(&p->command.argv, p->dependency);
}

/* A path that may start with a variable, "$VAR/...": NULL if that is not set. */
static const char *expand_variable(const char *path)
{
    if (path[0] != '$')
        return path;
    const size_t name = strcspn(path, "/") - 1;
    const char *value = getenv(mem_copy(path + 1, name));
    return value && *value ? mem_printf("%s%s", value, path + 1 + name) : NULL;
}

/* ---- CUDA: one fat binary with code for every architecture ---- */

static const char *check_cuda(const char *name)
{
    const char *number = starts_with(name, "sm_") ? name + 3 : name;
    size_t digits = strspn(number, "0123456789");
    const char *rest = number + digits;
    return digits >= 2 && (!*rest || !strcmp(rest, "a") || !strcmp(rest, "f")) ? number : NULL;
}

static bool portable_ptx(const char *architecture)
{
    return isdigit((unsigned char)architecture[strlen(architecture) - 1]);
}

/* Machine code for what is listed, and PTX for chips to come: of the newest, and of 90, the oldest that has
 * every feature the library uses. */
static void add_cuda_architectures(struct strings *argv, const struct strings *list, bool with_ptx)
{
    const char *newest = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const char *a = list->at[i];
        strings_add(argv, "-gencode");
        strings_add(argv, mem_printf("arch=compute_%s,code=sm_%s", a, a));
        if (portable_ptx(a) && (!newest || atoi(a) > atoi(newest)))
            newest = a;
    }
    for (size_t i = 0; i < list->count && with_ptx; i++) {
        const char *a = list->at[i];
        if (newest && (a == newest || !strcmp(a, "90"))) {
            strings_add(argv, "-gencode");
            strings_add(argv, mem_printf("arch=compute_%s,code=compute_%s", a, a));
        }
    }
}

/* Device code that is to be debugged looks for misuse (gpu_kernel.h). */
#define CHECKS "-DCGX__CHECKS=1"

/* nvcc splits the values of -D at commas and loses their quotes: macros travel as a header, in order. */
static const char *macro_header(const struct options *o)
{
    struct buffer text = { 0 };
    for (size_t i = 0; i < o->device_count; i++) {
        const char *name = o->device[i].name, *value = o->device[i].value, *equals = strchr(value, '=');
        char *line;
        if (!strcmp(name, "-U"))
            line = mem_printf("#undef %s\n", value);
        else if (strcmp(name, "-D"))
            continue;
        else if (equals)
            line = mem_printf("#define %.*s %s\n", (int)(equals - value), value, equals + 1);
        else
            line = mem_printf("#define %s 1\n", value);
        buffer_add(&text, line, strlen(line));
    }
    const char *path = mem_printf("%s/macros.h", work_folder());
    file_replace(path, &text, 0600);
    return path;
}

/* /usr/local/cuda of /usr/local/cuda/bin/nvcc, or NULL. The name may follow "ccache" or precede options. */
static const char *toolkit_of(const struct strings *compiler)
{
    size_t i = 0;
    while (i < compiler->count && strcmp(base_name(compiler->at[i]), "nvcc"))
        i++;
    char *program = i < compiler->count ? find_program(compiler->at[i]) : NULL;
    char *path = program ? realpath(program, NULL) : NULL;
    if (!path)
        return NULL;
    char *root = mem_copy(path, strlen(path));
    free(path);
    char *slash = strrchr(root, '/');
    *slash = 0;
    slash = strrchr(root, '/');
    if (!slash || slash == root || strcmp(slash, "/bin"))
        return NULL;
    *slash = 0;
    return root;
}

/* "sm_80, 90", for the image table; as much of a long list as its field holds. */
static const char *target_of(const struct strings *list)
{
    const size_t room = sizeof((cgx__image *)0)->target;
    const char *text = "";
    for (size_t i = 0; i < list->count; i++) {
        char *longer = mem_printf("%s%s%s", text, i ? ", " : "sm_", list->at[i]);
        if (strlen(longer) + (i + 1 < list->count ? strlen(", ...") : 0) >= room)
            return mem_printf("%s, ...", text);
        text = longer;
    }
    return text;
}

static void plan_cuda(const struct options *o, const struct strings *compiler, const char *source, struct traits traits,
                      struct passes *out)
{
    /* 177: a variable that only the host uses counts as unused in the device's view of the file.
     * --expt-relaxed-constexpr: fmin(x, 1) of a double and an int is a function of the C++ library here, constexpr and not
     * __device__. */
    static const char *const fixed[] = {
        "-fatbin", "-x", "cu", "-std=c++17", "-diag-suppress=177", "--expt-relaxed-constexpr", NULL
    };
    const struct strings *list = &o->architectures[BACKEND_CUDA];
    struct pass *p = add_pass(out, CGX__IMAGE_CUDA);
    struct strings *argv = &p->command.argv;

    p->tag = "cuda";
    p->target = target_of(list);
    p->toolkit = toolkit_of(compiler);

    strings_append(argv, compiler);
    add_all(argv, fixed);
    /* Compiled as code that may be linked, and linked with CUDA's device runtime at once. Its PTX would have to be linked by the
     * driver, which has no such library: launching kernels have machine code alone. */
    if (traits.launches)
        add_all(argv, (const char *const[]){ "-rdc=true", "-dlink", NULL });
    strings_add(argv, o->optimize ? "-O3" : "-O0");
    if (o->debug) {
        strings_add(argv, "-lineinfo");
        strings_add(argv, CHECKS);
    }
    /* The mbarriers of sm_80 to 89 serve where no bytes are counted (cuda_barrier.h). */
    if (!traits.bytes)
        strings_add(argv, "-DCGX__NO_BARRIER_BYTES=1");
    /* Operators of the user's are not contracted anywhere, and nvcc has this for whole files alone. */
    if (o->portable_fp || traits.operators)
        strings_add(argv, "--fmad=false");
    add_cuda_architectures(argv, list, !traits.launches);
    strings_add(argv, "-include");
    strings_add(argv, macro_header(o));
    for (size_t i = 0; i < o->device_count; i++) {
        const char *name = o->device[i].name;
        if (!strcmp(name, "-D") || !strcmp(name, "-U"))
            continue;
        bool through = !strcmp(name, "-iquote") || !strcmp(name, "-idirafter"); /* nvcc itself has neither */
        if (through)
            strings_add(argv, "-Xcompiler");
        strings_add(argv, name);
        if (through)
            strings_add(argv, "-Xcompiler");
        /* What goes through nvcc is read by a shell; its own arguments are not. */
        strings_add(argv, through ? mem_printf("\"%s\"", o->device[i].value) : o->device[i].value);
    }
    add_dependency(o, p);
    strings_append(argv, &o->extra[BACKEND_CUDA]);
    strings_add(argv, source);
    if (traits.launches)
        strings_add(argv, "-lcudadevrt");
    strings_add(argv, "-o");
    strings_add(argv, p->image);
}

/* ---- HIP: one code object for each architecture ---- */

#define HIP_CODE_OBJECT "5"

static const char *check_hip(const char *name)
{
    size_t length = starts_with(name, "gfx") ? strspn(name + 3, "0123456789abcdefghijklmnopqrstuvwxyz-") : 0;
    const char *rest = name + 3 + length; /* ":xnack+" and the like */
    return length >= 3 && (!*rest || *rest == ':') && strlen(name) < sizeof((cgx__image *)0)->target ? name : NULL;
}

/* Major, minor and stepping of gfx90a are 9, 0 and 10, which the device library has as 9010; of gfx9-4-generic 9, 4, 0. */
static int hip_version(const char *name)
{
    const char *number = name + strlen("gfx");
    size_t digits = strspn(number, "0123456789abcdef");
    if (number[digits] == '-') {
        char *end;
        long major = strtol(number, &end, 10), minor = *end == '-' ? strtol(end + 1, NULL, 10) : 0;
        return (int)(major * 1000 + minor * 100);
    }
    const char stepping = number[digits - 1], minor = number[digits - 2];
    int major = 0;
    for (size_t i = 0; i + 2 < digits; i++)
        major = major * 10 + number[i] - '0';
    return major * 1000 + (minor - '0') * 100 +
           (isdigit((unsigned char)stepping) ? stepping - '0' : stepping - 'a' + 10);
}

/* The file of AMD's mathematics for kernels, or NULL. */
static const char *hip_device_library(void)
{
    static const char *const folders[] = { "$CGXCC_HIP_DEVICE_LIBRARY", "$ROCM_PATH/amdgcn/bitcode",
                                           "/opt/rocm/amdgcn/bitcode",  "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                                           "/usr/lib/amdgcn/bitcode",   NULL };
    const char *named = getenv("CGXCC_HIP_DEVICE_LIBRARY");
    for (const char *const *f = folders; *f; f++) {
        const char *folder = expand_variable(*f);
        char *file = folder ? mem_printf("%s/ocml.bc", folder) : NULL;
        if (file && !access(file, R_OK))
            return file;
        if (f == folders && named && *named)
            die("CGXCC_HIP_DEVICE_LIBRARY names '%s', where there is no ocml.bc", named);
    }
    return NULL;
}

/* The version of code objects, which headers cannot ask the compiler for: ours, or the last that the user names. */
static const char *hip_code_object(const struct strings *extra)
{
    static const char option[] = "-mcode-object-version=";
    const char *version = HIP_CODE_OBJECT;
    for (size_t i = 0; i < extra->count; i++)
        if (starts_with(extra->at[i], option))
            version = extra->at[i] + strlen(option);
    return version;
}

static void plan_hip(const struct options *o, const struct strings *compiler, const char *source, struct traits traits,
                     struct passes *out)
{
    (void)traits;
    /* -cuid: clang otherwise hashes the output path into names of device variables: new bytes every time. -nostdinc++: the
     * text is C, and C++ has functions of its own in <math.h>. */
    static const char *const fixed[] = { "-x",
                                         "hip",
                                         "--offload-device-only",
                                         "--no-gpu-bundle-output",
                                         "-nogpulib",
                                         "-nogpuinc",
                                         "-mcode-object-version=" HIP_CODE_OBJECT,
                                         "-cuid=cgx",
                                         "-nostdinc++",
                                         "-std=c++17",
                                         NULL };
    const char *library = hip_device_library();
    const struct strings *list = &o->architectures[BACKEND_HIP];
    for (size_t i = 0; i < list->count; i++) {
        struct pass *p = add_pass(out, CGX__IMAGE_HIP);
        struct strings *argv = &p->command.argv;
        p->tag = mem_printf("hip %s", list->at[i]);
        p->target = list->at[i];
        strings_append(argv, compiler);
        add_all(argv, fixed);
        strings_add(argv, mem_printf("--offload-arch=%s", list->at[i]));
        strings_add(argv, o->optimize ? "-O3" : "-O0");
        if (o->debug) {
            strings_add(argv, "-gline-tables-only");
            strings_add(argv, CHECKS);
        }
        if (o->portable_fp)
            strings_add(argv, "-ffp-contract=off");
        strings_add(argv, mem_printf("-DCGX__AMD_VERSION=%d", hip_version(list->at[i])));
        strings_add(argv, mem_printf("-DCGX__CODE_OBJECT=%s", hip_code_object(&o->extra[BACKEND_HIP])));
        if (library) { /* what kernels use of it */
            add_all(argv, (const char *const[]){ "-Xclang", "-mlink-builtin-bitcode", "-Xclang", library, NULL });
        } else {
            strings_add(argv, "-DCGX__NO_DEVICE_LIBRARY");
        }
        for (size_t d = 0; d < o->device_count; d++) {
            strings_add(argv, o->device[d].name);
            strings_add(argv, o->device[d].value);
        }
        add_dependency(o, p);
        strings_append(argv, &o->extra[BACKEND_HIP]);
        strings_add(argv, "-c");
        strings_add(argv, source);
        strings_add(argv, "-o");
        strings_add(argv, p->image);
    }
}

/* ---- the table ---- */

static const char *const nvcc_candidates[] = { "nvcc", "$CUDA_HOME/bin/nvcc", "$CUDA_PATH/bin/nvcc",
                                               "/usr/local/cuda/bin/nvcc", NULL };
static const char *const clang_candidates[] = {
    "clang-19", "clang-20", "clang-21", "$ROCM_PATH/llvm/bin/clang", "/opt/rocm/llvm/bin/clang", NULL
};

static const struct backend backends[BACKEND_COUNT] = {
    [BACKEND_CUDA] = { "cuda", "CUDA", "CGXCC_NVCC", nvcc_candidates, CGXCC_DEFAULT_CUDA_ARCH, check_cuda, plan_cuda },
    [BACKEND_HIP] = { "hip", "HIP", "CGXCC_HIP", clang_candidates, CGXCC_DEFAULT_HIP_ARCH, check_hip, plan_hip },
};

const struct backend *backend_get(enum backend_id id)
{
    return backends + id;
}

int backend_find(const char *name)
{
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (!strcmp(backends[i].name, name))
            return i;
    return -1;
}

const char *backend_names(void)
{
    char *names = mem_printf("cpu");
    for (int i = 0; i < BACKEND_COUNT; i++)
        names = mem_printf("%s, %s", names, backends[i].name);
    return names;
}

static struct strings find_compiler(const struct backend *b)
{
    const char *named = getenv(b->variable);
    struct strings words = { 0 };
    if (named && *named) {
        words = strings_words(named);
        if (words.count && !find_program(words.at[0]))
            die("%s names '%s', which is not there", b->variable, words.at[0]);
        return words;
    }
    for (const char *const *c = b->candidates; *c; c++) {
        const char *path = expand_variable(*c);
        char *found = path ? find_program(path) : NULL;
        if (found) {
            strings_add(&words, found);
            break;
        }
    }
    return words;
}

struct passes backend_plan(const struct options *o, const char *source, struct traits traits)
{
    struct passes passes = { 0 };
    for (int i = 0; i < BACKEND_COUNT; i++) {
        if (!o->wanted[i])
            continue;
        const struct backend *b = backends + i;
        struct strings compiler = find_compiler(b);
        if (compiler.count)
            b->plan(o, &compiler, source, traits, &passes);
        else if (o->asked)
            die("--backends= asks for %s, but there is no %s to be found; %s can name it", b->name, b->candidates[0],
                b->variable);
        else
            say("remark", "%s: no %s code, for there is no %s to be found; %s can name it", source, b->name,
                b->candidates[0], b->variable);
    }
    return passes;
}
