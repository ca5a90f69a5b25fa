/* SPDX-License-Identifier: MIT */
#include "depfile.h"
#include <stdlib.h>
#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Prerequisites of the first rule of a make file as compilers write them, unquoted. */
static struct strings prerequisites(const char *text)
{
    struct strings list = { 0 };
    while (*text && !(*text == ':' && blank(text[1])))
        text++;
    if (*text)
        text++;
    char *word = mem_alloc(strlen(text) + 1);
    size_t length = 0;
    for (;; text++) {
        bool next_line = text[0] == '\\' && (text[1] == '\n' || (text[1] == '\r' && text[2] == '\n'));
        if (!*text || blank(*text) || next_line) {
            if (length)
                strings_add(&list, mem_copy(word, length));
            length = 0;
            if (!*text || *text == '\n')
                return list;
            text += next_line ? strcspn(text, "\n") : 0;
            continue;
        }
        if ((text[0] == '\\' && (text[1] == ' ' || text[1] == '#')) || (text[0] == '$' && text[1] == '$'))
            text++;
        word[length++] = *text;
    }
}

static char *quoted(const char *name)
{
    char *text = mem_alloc(2 * strlen(name) + 1), *to = text;
    for (; *name; name++) {
        if (*name == ' ' || *name == '#')
            *to++ = '\\';
        else if (*name == '$')
            *to++ = '$';
        *to++ = *name;
    }
    return text;
}

static bool below(const char *name, const char *folder)
{
    char *path = realpath(name, NULL);
    size_t length = strlen(folder);
    bool yes = path && !strncmp(path, folder, length) && path[length] == '/';
    free(path);
    return yes;
}

static void add_text(struct buffer *b, const char *text)
{
    buffer_add(b, text, strlen(text));
}

void depfile_merge(const char *path, const struct options *o, const struct passes *passes, const char *source)
{
    struct buffer host, merged = { 0 };
    mode_t mode;
    if (!file_read(path, &host, &mode)) /* /dev/null, or a terminal */
        return;
    const char *text = (const char *)host.data;
    struct strings known = prerequisites(text), extra = { 0 };
    /* The toolkit's own headers are system headers, though nvcc reports them as the user's. */
    bool no_system = !strcmp(o->dependency.option, "-MMD");

    for (size_t i = 0; i < passes->count; i++) {
        const struct pass *p = passes->at + i;
        struct buffer device;
        if (!file_read(p->dependency, &device, NULL))
            continue;
        struct strings names = prerequisites((const char *)device.data);
        for (size_t n = 0; n < names.count; n++) {
            const char *name = names.at[n];
            if (!strcmp(name, source) || starts_with(name, work_folder()) || strings_have(&known, name) ||
                (no_system && p->toolkit && below(name, p->toolkit)))
                continue;
            strings_add(&known, name);
            strings_add(&extra, name);
        }
    }
    if (!extra.count)
        return;

    const char *end = text;
    while (*end && !(*end == '\n' && (end == text || end[-1] != '\\')))
        end++;
    buffer_add(&merged, text, (size_t)(end - text));
    for (size_t i = 0; i < extra.count; i++)
        add_text(&merged, mem_printf(" \\\n %s", quoted(extra.at[i])));
    add_text(&merged, *end ? end : "\n");
    for (size_t i = 0; o->dependency.phony && i < extra.count; i++)
        add_text(&merged, mem_printf("%s:\n", quoted(extra.at[i])));
    file_replace(path, &merged, mode);
}
