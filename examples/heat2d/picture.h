/* SPDX-License-Identifier: MIT */
/* Pictures of a field of numbers, as PNG files. */
#ifndef EXAMPLES_PICTURE_H
#define EXAMPLES_PICTURE_H

/*
 * Writes height rows of width cells to the file `path`, 0 as black, 1 as bright yellow; what lies outside is
 * cut. Returns 0, or -1 with the reason on stderr.
 */
int picture_write(const char *path, const float *cells, int width, int height);

/* Makes the folder and those above it where they are missing. Returns 0, or -1 with the reason on stderr. */
int picture_folder(const char *path);

#endif
