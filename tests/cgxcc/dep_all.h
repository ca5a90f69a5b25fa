/* SPDX-License-Identifier: MIT */
#define DEP 1
