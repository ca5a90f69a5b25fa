/* SPDX-License-Identifier: MIT */
#include "diagnostics.h"
#include <ctype.h>
#include <string.h>

static const char *const severities[] = {
    "catastrophic error", "fatal error", "error", "warning", "remark", "note",
};
enum { SEVERITIES = sizeof severities / sizeof *severities };

/* Where the digits that end at `end` begin. */
static const char *digits_before(const char *line, const char *end)
{
    while (end > line && isdigit((unsigned char)end[-1]))
        end--;
    return end;
}

/* Length of the severity at `at` if ": text" or " #123-D: text" follows it, else 0. */
static size_t severity(const char *at, const char *end)
{
    for (int i = 0; i < SEVERITIES; i++) {
        size_t length = strlen(severities[i]);
        if ((size_t)(end - at) > length && !strncmp(at, severities[i], length) &&
            (at[length] == ':' || !strncmp(at + length, " #", 2)))
            return length;
    }
    return 0;
}

static void print_line(FILE *to, const char *line, const char *end, const char *tag)
{
    for (const char *colon = line; (colon = memchr(colon, ':', (size_t)(end - colon))); colon++) {
        size_t length = end - colon > 2 && colon[1] == ' ' ? severity(colon + 2, end) : 0;
        if (!length)
            continue;
        const char *rest = colon + 2 + length, *place = digits_before(line, colon);
        if (*rest == ':')
            rest++;
        if (colon > line && colon[-1] == ')') {
            const char *number = digits_before(line, colon - 1);
            if (number == colon - 1 || number - line < 2 || number[-1] != '(')
                break;
            fprintf(to, "%.*s:%.*s", (int)(number - 1 - line), line, (int)(colon - 1 - number), number);
        } else {
            if (place == colon || place - line < 2 || place[-1] != ':')
                break;
            fprintf(to, "%.*s", (int)(colon - line), line);
        }
        fprintf(to, ": %.*s: [%s]%.*s", (int)length, colon + 2, tag, (int)(end - rest), rest);
        return;
    }
    fprintf(to, "%.*s", (int)(end - line), line);
}

void diagnostics_print(FILE *to, const char *text, const char *tag)
{
    while (*text) {
        const char *end = strchr(text, '\n');
        end = end ? end + 1 : text + strlen(text);
        print_line(to, text, end, tag);
        text = end;
    }
}
