/* SPDX-License-Identifier: MIT */
#include "util.h"
#include "process.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Chunks stay reachable, so that leak checkers of a sanitized build see nothing lost. */
struct chunk {
    struct chunk *next;
    _Alignas(max_align_t) unsigned char bytes[];
};
static struct chunk *chunks;
static unsigned char *arena_next, *arena_end;
enum { CHUNK_BYTES = 64 * 1024 };

static void *chunk_new(size_t size)
{
    struct chunk *chunk = size <= SIZE_MAX - sizeof *chunk ? calloc(1, sizeof *chunk + size) : NULL;
    if (!chunk)
        die("out of memory");
    chunk->next = chunks;
    chunks = chunk;
    return chunk->bytes;
}

void *mem_alloc(size_t size)
{
    if (size > CHUNK_BYTES / 4)
        return chunk_new(size);
    size = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (!arena_next || (size_t)(arena_end - arena_next) < size) {
        arena_next = chunk_new(CHUNK_BYTES);
        arena_end = arena_next + CHUNK_BYTES;
    }
    void *p = arena_next;
    arena_next += size;
    return p;
}

char *mem_copy(const char *text, size_t length)
{
    char *copy = mem_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = mem_alloc((size_t)length + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void strings_add(struct strings *list, const char *text)
{
    if (list->count + 1 >= list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        const char **at = mem_alloc(room * sizeof *at);
        if (list->count)
            memcpy(at, list->at, list->count * sizeof *at);
        list->at = at;
        list->room = room;
    }
    list->at[list->count++] = text;
    list->at[list->count] = NULL;
}

void strings_append(struct strings *list, const struct strings *more)
{
    for (size_t i = 0; i < more->count; i++)
        strings_add(list, more->at[i]);
}

bool strings_have(const struct strings *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->at[i], text))
            return true;
    return false;
}

struct strings strings_split(const char *text, char separator)
{
    struct strings list = { 0 };
    while (*text) {
        const char *end = strchr(text, separator);
        size_t length = end ? (size_t)(end - text) : strlen(text);
        if (length)
            strings_add(&list, mem_copy(text, length));
        text += length + (end != NULL);
    }
    return list;
}

/* As gcc's buildargv and clang's GNU tokenizer read it: a backslash guards any character, in quotes too. */
struct strings strings_words(const char *text)
{
    struct strings list = { 0 };
    char *word = mem_alloc(strlen(text) + 1);
    for (;;) {
        text += strspn(text, " \t\n\r\f\v");
        if (!*text)
            return list;
        size_t length = 0;
        char quote = 0;
        for (; *text && (quote || !strchr(" \t\n\r\f\v", *text)); text++) {
            if (*text == '\\' && text[1])
                word[length++] = *++text;
            else if (quote ? *text == quote : *text == '\'' || *text == '"')
                quote = quote ? 0 : *text;
            else
                word[length++] = *text;
        }
        strings_add(&list, mem_copy(word, length));
    }
}

bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && !strcmp(text + length - tail, suffix);
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *with_suffix(const char *path, const char *suffix)
{
    const char *base = base_name(path), *dot = strrchr(base, '.');
    size_t stem = dot && dot != base ? (size_t)(dot - path) : strlen(path);
    return mem_printf("%.*s%s", (int)stem, path, suffix);
}

void buffer_add(struct buffer *b, const void *bytes, size_t size)
{
    if (b->size + size > b->room) {
        size_t room = (b->size + size) * 2;
        unsigned char *data = mem_alloc(room);
        if (b->size)
            memcpy(data, b->data, b->size);
        b->data = data;
        b->room = room;
    }
    if (size)
        memcpy(b->data + b->size, bytes, size);
    b->size += size;
}

void buffer_pad(struct buffer *b, size_t alignment)
{
    static const unsigned char zero[64];
    while (b->size % alignment) {
        size_t missing = alignment - b->size % alignment;
        buffer_add(b, zero, missing < sizeof zero ? missing : sizeof zero);
    }
}

bool file_read(const char *path, struct buffer *out, mode_t *mode)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return false;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        errno = EINVAL;
        return false;
    }
    struct buffer b = { 0 };
    b.room = (size_t)st.st_size + 1;
    b.data = mem_alloc(b.room);
    while (b.size < (size_t)st.st_size) {
        ssize_t got = read(fd, b.data + b.size, (size_t)st.st_size - b.size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            close(fd);
            return false;
        }
        if (got == 0)
            break;
        b.size += (size_t)got;
    }
    close(fd);
    if (mode)
        *mode = st.st_mode & 07777;
    *out = b;
    return true;
}

void file_replace(const char *path, const struct buffer *content, mode_t mode)
{
    char *beside = mem_printf("%s.cgxXXXXXX", path);
    int fd = mkstemp(beside);
    if (fd < 0)
        die("cannot write beside %s: %s", path, strerror(errno));
    remove_at_exit(beside);
    bool ok = true;
    for (size_t done = 0; ok && done < content->size;) {
        ssize_t put = write(fd, content->data + done, content->size - done);
        if (put > 0)
            done += (size_t)put;
        else
            ok = put < 0 && errno == EINTR;
    }
    ok = ok && !fchmod(fd, mode);
    ok = !close(fd) && ok;
    if (!ok || rename(beside, path))
        die("cannot write %s: %s", path, strerror(errno));
    remove_at_exit(NULL);
}

static void say_list(const char *kind, const char *format, va_list args)
{
    fprintf(stderr, "cgxcc: %s: ", kind);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void say(const char *kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_list(kind, format, args);
    va_end(args);
}

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_list("error", format, args);
    va_end(args);
    quit(EXIT_FAILURE);
}
