/* SPDX-License-Identifier: MIT */
#define QUOTE 2
