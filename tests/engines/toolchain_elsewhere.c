/* SPDX-License-Identifier: MIT */
/* The other translation unit of toolchain.c. */
#include <cgx.h>

float waits_elsewhere(cgx_block b, float v);
float waits_elsewhere(cgx_block b, float v)
{
    cgx_sync(b);
    return v + 2.0f;
}

float computes_elsewhere(float v);
float computes_elsewhere(float v)
{
    return v * 0.5f + 1.0f;
}
