/* SPDX-License-Identifier: MIT */
/* Messages of device compilers in the form that editors and people know from the host compiler. */
#ifndef CGXCC_DIAGNOSTICS_H
#define CGXCC_DIAGNOSTICS_H
#include <stdio.h>

/* "k.c(12): error: text" and "k.c:12:3: error: text" become "k.c:12: error: [tag] text"; other lines stay. */
void diagnostics_print(FILE *to, const char *text, const char *tag);
#endif
