/* SPDX-License-Identifier: MIT */
/* Memory, strings and whole files. Memory comes from one arena and is never given back: cgxcc lives as long
 * as one compilation, and what it holds is a few command lines and one object. */
#ifndef CGXCC_UTIL_H
#define CGXCC_UTIL_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PRINTF(text, rest) __attribute__((format(printf, text, rest), nonnull(text)))

void *mem_alloc(size_t size); /* zeroed */
char *mem_copy(const char *text, size_t length);
char *mem_printf(const char *format, ...) PRINTF(1, 2);

/* A list of strings; once something was added at[count] is NULL. {0} is the empty list. */
struct strings {
    const char **at;
    size_t count, room;
};
void strings_add(struct strings *list, const char *text);
void strings_append(struct strings *list, const struct strings *more);
bool strings_have(const struct strings *list, const char *text);
struct strings strings_split(const char *text, char separator); /* empty pieces are dropped */
struct strings strings_words(const char *text);                 /* quotes and backslashes as in response files */

bool starts_with(const char *text, const char *prefix);
bool ends_with(const char *text, const char *suffix);
const char *base_name(const char *path);
char *with_suffix(const char *path, const char *suffix); /* "dir/k.c", ".o" -> "dir/k.o" */

struct buffer {
    unsigned char *data;
    size_t size, room;
};
void buffer_add(struct buffer *b, const void *bytes, size_t size);
void buffer_pad(struct buffer *b, size_t alignment);

/* Reads a regular file; a NUL that size does not count follows the data. False and errno if it cannot be
 * read, EINVAL if it is no regular file. `mode` may be NULL. */
bool file_read(const char *path, struct buffer *out, mode_t *mode);
/* Makes the file appear whole or not at all; a failure ends the program. */
void file_replace(const char *path, const struct buffer *content, mode_t mode);

void say(const char *kind, const char *format, ...) PRINTF(2, 3); /* "cgxcc: kind: ..." on stderr */
_Noreturn void die(const char *format, ...) PRINTF(1, 2);         /* "cgxcc: error: ...", cleans up */
#endif
