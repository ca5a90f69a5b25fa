/* SPDX-License-Identifier: MIT */
#define SYSTEM 1
