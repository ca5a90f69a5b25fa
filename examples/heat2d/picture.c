/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* strdup, mkdir */
#include "picture.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Black, violet, red, orange, yellow: equal steps look equally bright, also in grey. */
static void fill_palette(png_color palette[256])
{
    static const unsigned char point[][3] = {
        { 0, 0, 4 },     { 40, 11, 84 },   { 101, 21, 110 }, { 159, 42, 99 },
        { 212, 72, 66 }, { 245, 125, 21 }, { 250, 193, 39 }, { 252, 255, 164 },
    };
    const int pieces = (int)(sizeof point / sizeof point[0]) - 1;

    for (int i = 0; i < 256; i++) {
        int piece = i * pieces / 256;
        const unsigned char *from = point[piece], *to = point[piece + 1];
        float t = (float)(i * pieces) / 255 - (float)piece;
        palette[i].red = (png_byte)((float)from[0] + t * (float)(to[0] - from[0]));
        palette[i].green = (png_byte)((float)from[1] + t * (float)(to[1] - from[1]));
        palette[i].blue = (png_byte)((float)from[2] + t * (float)(to[2] - from[2]));
    }
}

static png_byte colour_of(float cell)
{
    float scaled = cell * 255 + 0.5f;
    return scaled >= 255 ? 255 : scaled > 0 ? (png_byte)scaled : 0; /* a NaN becomes 0 */
}

/* All that libpng may leave by longjmp. Nothing that is used later changes here, so nothing is volatile. */
static int write_png(png_struct *png, png_info *info, FILE *file, png_byte *row, const float *cells, int width,
                     int height)
{
    png_color palette[256];

    if (setjmp(png_jmpbuf(png)))
        return -1;
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    fill_palette(palette);
    png_set_PLTE(png, info, palette, 256);
    png_write_info(png, info);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            row[x] = colour_of(cells[(size_t)y * (size_t)width + (size_t)x]);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    return 0;
}

int picture_write(const char *path, const float *cells, int width, int height)
{
    FILE *file = fopen(path, "wb");
    png_struct *png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_info *info = png ? png_create_info_struct(png) : NULL;
    png_byte *row = malloc((size_t)width);
    int result = -1;

    if (!file)
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    else if (!info || !row)
        fprintf(stderr, "%s: not enough memory\n", path);
    else
        result = write_png(png, info, file, row, cells, width, height); /* libpng itself says why it failed */
    if (file && fclose(file) != 0 && result == 0) {                     /* where a full disk shows */
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
        result = -1;
    }
    png_destroy_write_struct(&png, &info);
    free(row);
    return result;
}

int picture_folder(const char *path)
{
    char *part = strdup(path);
    struct stat found;
    int reason = part ? 0 : ENOMEM;

    for (char *end = part; end && *end && !reason;) {
        end = strchr(end + 1, '/');
        if (end)
            *end = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            reason = errno;
        if (end)
            *end = '/';
    }
    free(part);
    if (!reason && stat(path, &found) != 0)
        reason = errno;
    if (!reason && !S_ISDIR(found.st_mode))
        reason = ENOTDIR;
    if (reason)
        fprintf(stderr, "%s: cannot be made a folder: %s\n", path, strerror(reason));
    return reason ? -1 : 0;
}
