/* SPDX-License-Identifier: MIT */
#ifndef BENCH_ENGINES_RIVALS_H
#define BENCH_ENGINES_RIVALS_H
#include <stddef.h>

void by_hand_triad(float *a, const float *b, const float *c, float s, int n);
void by_hand_sgemm(const float *a, const float *b, float *c, int n);
void by_hand_reduce(const float *in, float *out, int blocks, int size);
void by_hand_scan(const float *in, float *out, int blocks, int size);
void by_hand_shuffle(const float *in, float *out, int blocks, int size);
void by_hand_stencil(const float *in, float *out, int n);
void fission_triad(float *a, const float *b, const float *c, float s, int n, int size);
void fission_sgemm(const float *a, const float *b, float *c, int n, int nx, int ny);
void fission_reduce(const float *in, float *out, int blocks, int size);
void fission_scan(const float *in, float *out, int blocks, int size);
void fission_shuffle(const float *in, float *out, int blocks, int size);
void fission_stencil(const float *in, float *out, int n, int nx, int ny);
#endif
