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
#define CASE(name, value, text) \
    case name: return #name;
        CGX_FOREACH_STATUS(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *cgx_status_text(cgx_status status)
{
    switch (status) {
#define CASE(name, value, text) \
    case name: return text;
        CGX_FOREACH_STATUS(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *cgx_last_error(void)
{
    return last_error;
}

void cgx__set_error(const char *text)
{
    snprintf(last_error, sizeof last_error, "%s", text);
}

cgx_status cgx__fail(cgx_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return status;
}

/* Puts commas between groups of three digits. */
static const char *grouped(const char *digits)
{
    static _Thread_local char buffers[8][32];
    static _Thread_local unsigned turn;
    char *out = buffers[turn++ % 8], *o = out;
    for (size_t left = strlen(digits); left--; digits++) {
        *o++ = *digits;
        if (left && left % 3 == 0 && *digits != '-')
            *o++ = ',';
    }
    *o = 0;
    return out;
}

const char *cgx__number(int64_t n)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)n);
    return grouped(digits);
}

const char *cgx__size(size_t n)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", n);
    return grouped(digits);
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
