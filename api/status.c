/* SPDX-License-Identifier: MIT */
/* Status names and the error text of each thread. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static _Thread_local char last_error[1024];

const char *cgx_status_name(cgx_status status)
{
    switch (status) {
#define CASE(name, value, text) case name: return #name;
        CGX_FOREACH_STATUS(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *cgx_status_text(cgx_status status)
{
    switch (status) {
#define CASE(name, value, text) case name: return text;
        CGX_FOREACH_STATUS(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *cgx_last_error(void) { return last_error; }

void cgx__set_error(const char *text) { snprintf(last_error, sizeof last_error, "%s", text); }

cgx_status cgx__fail(cgx_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return status;
}

const char *cgx__number(int64_t n)
{
    static _Thread_local char buffers[8][32];
    static _Thread_local unsigned turn;
    char digits[24], *out = buffers[turn++ % 8], *o = out;
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n);
    for (int i = 0; i < length; i++) {
        *o++ = digits[i];
        int left = length - 1 - i;
        if (left && left % 3 == 0 && digits[i] != '-')
            *o++ = ',';
    }
    *o = 0;
    return out;
}

void cgx__try(cgx_status status, const char *file, int line)
{
    if (status >= 0)
        return;
    const char *text = *last_error ? last_error : cgx_status_text(status);
    fprintf(stderr, "%s (%s, %s:%d)\n", text, cgx_status_name(status), file, line);
    exit(EXIT_FAILURE);
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
const char *cgx_version(void)
{
    return TEXT(CGX_VERSION_MAJOR) "." TEXT(CGX_VERSION_MINOR) "." TEXT(CGX_VERSION_PATCH);
}
