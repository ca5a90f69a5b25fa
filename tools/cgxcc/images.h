/* SPDX-License-Identifier: MIT */
/* Device passes are run here and their images become the content of the image section. */
#ifndef CGXCC_IMAGES_H
#define CGXCC_IMAGES_H
#include "backend.h"

/* Runs all passes and prints what they say. False if one failed. */
bool images_build(struct passes *passes, const char *source);
struct buffer images_collect(const struct passes *passes);
#endif
