/* SPDX-License-Identifier: MIT */
/* Headers that only a device pass read join the host compiler's dependency file. */
#ifndef CGXCC_DEPFILE_H
#define CGXCC_DEPFILE_H
#include "backend.h"

void depfile_merge(const char *path, const struct options *o, const struct passes *passes, const char *source);
#endif
