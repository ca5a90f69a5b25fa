/* SPDX-License-Identifier: MIT */
#include "place.h"
#include "process.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CGXCC_DEFAULT_HOST
#define CGXCC_DEFAULT_HOST "cc"
#endif
/* Relative to the folder of the program, or absolute where they lie outside of the prefix. */
#ifndef CGXCC_INCLUDEDIR
#define CGXCC_INCLUDEDIR "../include"
#endif
#ifndef CGXCC_LIBDIR
#define CGXCC_LIBDIR "../lib"
#endif

static const char *own_path(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? path : NULL;
}

static char *real(const char *path)
{
    char *resolved = realpath(path, NULL), *copy = resolved ? mem_copy(resolved, strlen(resolved)) : NULL;
    free(resolved);
    return copy;
}

struct strings place_host(void)
{
    const char *named = getenv("CGXCC_HOST");
    struct strings words = strings_words(named && *named ? named : CGXCC_DEFAULT_HOST);
    if (!words.count)
        die("CGXCC_HOST is blank");
    char *program = find_program(words.at[0]), *path = program ? real(program) : NULL;
    if (path && own_path() && !strcmp(path, own_path()))
        die("the host compiler %s is cgxcc itself; CGXCC_HOST can name another", words.at[0]);
    return words;
}

static char *beside(const char *folder)
{
    const char *own = own_path();
    if (!own)
        return NULL;
    return folder[0] == '/' ? real(folder) : real(mem_printf("%.*s/%s", (int)(base_name(own) - own), own, folder));
}

static bool installed(void)
{
    const char *tree = getenv("CGXCC_TREE"), *folder = beside(CGXCC_INCLUDEDIR);
    return !(tree && *tree) && folder && !access(mem_printf("%s/cgx.h", folder), R_OK);
}

const char *place_include(void)
{
    const char *folder = installed() ? beside(CGXCC_INCLUDEDIR) : NULL;
    return folder && strcmp(folder, "/usr/include") ? folder : NULL;
}

static bool searched_by_linker(const char *folder)
{
    if (starts_with(folder, "/usr/lib"))
        folder += strlen("/usr");
    if (!strcmp(folder, "/lib") || !strcmp(folder, "/lib64"))
        return true;
    return starts_with(folder, "/lib/") && strstr(folder, "-linux-gnu") && !strchr(folder + strlen("/lib/"), '/');
}

const char *place_library(void)
{
    const char *folder = installed() ? beside(CGXCC_LIBDIR) : NULL;
    return folder && !searched_by_linker(folder) ? folder : NULL;
}

const char *place_plugin(const char **plugin, const char **clang)
{
#ifdef CGXCC_PLUGIN_CLANG
    *plugin = installed() ? beside(CGXCC_PLUGIN_INSTALLED) : real(CGXCC_PLUGIN_BUILT);
    *clang = CGXCC_PLUGIN_CLANG;
    if (access(*clang, X_OK))
        return mem_printf("the clang that its plug-in is for, %s, is not there", *clang);
    return *plugin && !access(*plugin, R_OK) ? NULL : "its plug-in for clang is not there";
#else
    *plugin = *clang = NULL;
    return "cgxcc was built without the plug-in for clang";
#endif
}
