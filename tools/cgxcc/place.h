/* SPDX-License-Identifier: MIT */
/* Where cgxcc itself lies, and what follows from it. */
#ifndef CGXCC_PLACE_H
#define CGXCC_PLACE_H
#include "util.h"

/* The host compiler, in words. */
struct strings place_host(void);
/* Folders of an installed libcgx beside cgxcc. NULL where it has to be named by hand, in a build tree or with
 * the variable CGXCC_TREE set, and where compiler or linker look anyway. */
const char *place_include(void);
const char *place_library(void);
/* The plug-in of the compiled CPU engine and the clang it was built for; *clang is NULL where there never was one. NULL, or
 * why it cannot be used. */
const char *place_plugin(const char **plugin, const char **clang);
#endif
