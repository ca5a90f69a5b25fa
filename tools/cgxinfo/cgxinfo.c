/* SPDX-License-Identifier: MIT */
/* cgxinfo: what backends and devices there are, and why others are not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cgx/host.h>

typedef struct {
    uint32_t bit;
    const char *word, *text;
} capability;
static const capability capabilities[] = {
#define ROW(name, bit, word, text) { name, word, text },
    CGX_FOREACH_CAPABILITY(ROW)
#undef ROW
};
enum { CAPABILITIES = sizeof capabilities / sizeof capabilities[0] };

static int fail(const char *what)
{
    fprintf(stderr, "cgxinfo: %s: %s\n", what, cgx_last_error());
    return 1;
}

/* Strings come from drivers and from the system: anything may be in them. */
static void json_string(const char *s)
{
    putchar('"');
    for (; s && *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void json_device(const cgx_device_info *d)
{
    printf("{\"name\": ");
    json_string(d->name);
    printf(", \"description\": ");
    json_string(d->description);
    printf(
        ", \"units\": %d, \"lanes\": %d, \"max_threads_per_block\": %d, \"max_threads_per_unit\": %d, \"threads_at_once\": %d",
        d->units, d->lanes, d->max_threads_per_block, d->max_threads_per_unit, d->threads_at_once);
    printf(", \"max_block\": [%d, %d, %d], \"max_grid\": [%d, %d, %d], \"max_cluster_blocks\": %d", d->max_block.x,
           d->max_block.y, d->max_block.z, d->max_grid.x, d->max_grid.y, d->max_grid.z, d->max_cluster_blocks);
    printf(
        ", \"shared_bytes_per_block\": %zu, \"shared_bytes_per_unit\": %zu, \"memory_bytes\": %zu, \"max_argument_bytes\": %zu",
        d->shared_bytes_per_block, d->shared_bytes_per_unit, d->memory_bytes, d->max_argument_bytes);
    printf(", \"engine\": ");
    json_string(d->engine);
    printf(", \"async_copy\": ");
    json_string(d->async_copy);
    printf(", \"capabilities\": [");
    const char *separator = "";
    for (int i = 0; i < CAPABILITIES; i++)
        if (d->capabilities & capabilities[i].bit) {
            printf("%s\"%s\"", separator, capabilities[i].word);
            separator = ", ";
        }
    printf("]}");
}

static void text_device(const cgx_device_info *d)
{
    printf("%-8s %-32s %4d units  %d lanes  %zu KiB shared  cluster %d  %s  async: %s\n", d->name, d->description,
           d->units, d->lanes, d->shared_bytes_per_block / 1024, d->max_cluster_blocks, d->engine, d->async_copy);
    printf("         %zu MiB memory, blocks to %d threads (%d x %d x %d), grids to %d x %d x %d\n",
           d->memory_bytes >> 20, d->max_threads_per_block, d->max_block.x, d->max_block.y, d->max_block.z,
           d->max_grid.x, d->max_grid.y, d->max_grid.z);
    printf("         can:");
    for (int i = 0; i < CAPABILITIES; i++)
        if (d->capabilities & capabilities[i].bit)
            printf(" %s", capabilities[i].word);
    printf("; cannot:");
    for (int i = 0; i < CAPABILITIES; i++)
        if (!(d->capabilities & capabilities[i].bit))
            printf(" %s", capabilities[i].word);
    putchar('\n');
}

int main(int argc, char **argv)
{
    int json = argc == 2 && !strcmp(argv[1], "--json");
    if (argc > 1 && !json) {
        int help = argc == 2 && !strcmp(argv[1], "--help");
        fprintf(help ? stdout : stderr,
                "usage: cgxinfo [--json]\nLists backends, devices, their limits and capabilities.\n");
        return help ? 0 : 2;
    }
    if (json)
        printf("{\"version\": \"%s\", \"backends\": [", cgx_version());
    for (int b = 0; b < cgx_backend_count(); b++) {
        cgx_backend_info info = CGX_BACKEND_INFO_INIT;
        if (cgx_backend_get_info(b, &info))
            return fail("backend");
        if (json) {
            printf("%s\n {\"name\": \"%s\", \"status\": \"%s\", \"reason\": ", b ? "," : "", info.name,
                   info.status ? cgx_status_name(info.status) : "ok");
            json_string(info.reason);
            printf(", \"devices\": [");
        } else if (info.status) {
            printf("%-8s not available: %s\n", info.name, info.reason);
        }
        for (int i = 0; i < info.device_count; i++) {
            cgx_device *device;
            cgx_device_info d = CGX_DEVICE_INFO_INIT;
            if (cgx_device_get(info.name, i, &device) || cgx_device_get_info(device, &d))
                return fail(info.name);
            if (json) {
                printf("%s\n  ", i ? "," : "");
                json_device(&d);
            } else {
                text_device(&d);
            }
        }
        if (json)
            printf("]}");
    }
    if (json)
        printf("\n]}\n");
    return 0;
}
