/* SPDX-License-Identifier: MIT */
#include "settings.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_STACK = 64 * 1024,
    MIN_STACK = 16 * 1024,
    MAX_STACK = 1024 * 1024 * 1024,
    MAX_WORKERS = 1024,
    TOP_LEVEL = 4
};

/* A number from LOW to HIGH with nothing behind it. */
static int number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && *value >= low && *value <= high;
}

/* "3", "v3" or "x86-64-v3"; "0", "base" or "baseline". */
static int level_of(const char *text)
{
    char digit[2] = "";
#define CASE(number, part, name)                                             \
    digit[0] = (char)('0' + number);                                         \
    if (!strcmp(text, digit) || !strcmp(text, #part) || !strcmp(text, name)) \
        return number;
    CGX_FOREACH_LEVEL(CASE)
#undef CASE
    return -1;
}

static cgx_status refuse(char *reason, size_t bytes, const char *variable, const char *value, const char *takes)
{
    snprintf(reason, bytes, "%s=%s: it takes %s", variable, value, takes);
    return CGX_ERROR_INVALID;
}

cgx_status cgx__read_settings(cpu_settings *s, char *reason, size_t bytes)
{
    const char *text;
    uint64_t value;
    *s = (cpu_settings){ 0, 32,          TOP_LEVEL,     CGX__ASYNC_EARLY,
                         0, ENGINE_AUTO, DEFAULT_STACK, CGX_CAN_COOPERATIVE | CGX_CAN_SOFTWARE_GRID };
    if ((text = getenv("CGX_CPU_WORKERS")) && *text) {
        if (!number(text, 1, MAX_WORKERS, &value))
            return refuse(reason, bytes, "CGX_CPU_WORKERS", text, "1 to 1024");
        s->workers = (int)value;
    }
    if ((text = getenv("CGX_CPU_LANES")) && *text) {
        if (!number(text, 32, 64, &value) || (value != 32 && value != 64))
            return refuse(reason, bytes, "CGX_CPU_LANES", text, "32 or 64");
        s->lanes = (int)value;
    }
    if ((text = getenv("CGX_CPU_ISA")) && *text && (s->level = level_of(text)) < 0)
        return refuse(reason, bytes, "CGX_CPU_ISA", text, "base, v2, v3 or v4");
    if ((text = getenv("CGX_CPU_ASYNC")) && *text) {
        if (!strcmp(text, "late"))
            s->async = CGX__ASYNC_LATE;
        else if (!strcmp(text, "random"))
            s->async = CGX__ASYNC_RANDOM;
        else if (strcmp(text, "early"))
            return refuse(reason, bytes, "CGX_CPU_ASYNC", text, "early, late or random");
    }
    if ((text = getenv("CGX_CPU_SCHEDULE")) && *text) {
        if (strncmp(text, "seed:", 5) || !number(text + 5, 0, UINT64_MAX, &s->seed))
            return refuse(reason, bytes, "CGX_CPU_SCHEDULE", text, "seed:N");
    }
    if ((text = getenv("CGX_CPU_ENGINE")) && *text) {
        if (!strcmp(text, "fiber"))
            s->engine = ENGINE_FIBER;
        else if (!strcmp(text, "compiled"))
            s->engine = ENGINE_COMPILED;
        else if (strcmp(text, "auto"))
            return refuse(reason, bytes, "CGX_CPU_ENGINE", text, "auto, fiber or compiled");
    }
    if ((text = getenv("CGX_CPU_STACK")) && *text) {
        if (!number(text, MIN_STACK, MAX_STACK, &value))
            return refuse(reason, bytes, "CGX_CPU_STACK", text, "bytes, 16384 to 1073741824");
        s->stack = (size_t)value;
    }
    if ((text = getenv("CGX_CPU_COOPERATIVE")) && *text) {
        if (!strcmp(text, "software"))
            s->grid = CGX_CAN_SOFTWARE_GRID;
        else if (!strcmp(text, "no"))
            s->grid = 0;
        else if (strcmp(text, "yes"))
            return refuse(reason, bytes, "CGX_CPU_COOPERATIVE", text, "yes, software or no");
    }
    return CGX_OK;
}
