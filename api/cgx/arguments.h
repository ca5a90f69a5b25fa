/* SPDX-License-Identifier: MIT */
/* Maps over argument lists, 0 to 16 entries. CGX__MAP(F, c, name, p1, p2, ...) is F(c, p1) F(c, p2) ...; the name only
 * keeps the list from being empty. */
#ifndef CGX_ARGUMENTS_H
#define CGX_ARGUMENTS_H

#define CGX__CAT(a, b) CGX__CAT_(a, b)
#define CGX__CAT_(a, b) a##b
#define CGX__FIRST(...) CGX__FIRST_(__VA_ARGS__, ~)
#define CGX__FIRST_(a, ...) a
#define CGX__UNPACK(...) __VA_ARGS__

/* Number of arguments behind the first; TOO_MANY makes the error readable. */
#define CGX__COUNT(...) \
    CGX__COUNT_(__VA_ARGS__, TOO_MANY_KERNEL_ARGUMENTS, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ~)
#define CGX__COUNT_(name, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, n, ...) n

#define CGX__MAP(F, c, ...) CGX__CAT(CGX__MAP_, CGX__COUNT(__VA_ARGS__))(F, c, __VA_ARGS__)
#define CGX__MAP_0(F, c, name)
#define CGX__MAP_1(F, c, name, p1) F(c, p1)
#define CGX__MAP_2(F, c, name, p1, p2) F(c, p1) F(c, p2)
#define CGX__MAP_3(F, c, name, p1, p2, p3) F(c, p1) F(c, p2) F(c, p3)
#define CGX__MAP_4(F, c, name, p1, p2, p3, p4) F(c, p1) F(c, p2) F(c, p3) F(c, p4)
#define CGX__MAP_5(F, c, name, p1, p2, p3, p4, p5) F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5)
#define CGX__MAP_6(F, c, name, p1, p2, p3, p4, p5, p6) F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6)
#define CGX__MAP_7(F, c, name, p1, p2, p3, p4, p5, p6, p7) \
    F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7)
#define CGX__MAP_8(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8) \
    F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8)
#define CGX__MAP_9(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9) \
    F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9)
#define CGX__MAP_10(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10) \
    F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9) F(c, p10)
#define CGX__MAP_11(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11) \
    F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9) F(c, p10) F(c, p11)
#define CGX__MAP_12(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12) \
    F(c, p1) F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9) F(c, p10) F(c, p11) F(c, p12)
#define CGX__MAP_13(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13) \
    F(c, p1)                                                                            \
    F(c, p2) F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9) F(c, p10) F(c, p11) F(c, p12) F(c, p13)
#define CGX__MAP_14(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14) \
    F(c, p1)                                                                                 \
    F(c, p2)                                                                                 \
    F(c, p3) F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9) F(c, p10) F(c, p11) F(c, p12) F(c, p13) F(c, p14)
#define CGX__MAP_15(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15) \
    F(c, p1)                                                                                      \
    F(c, p2)                                                                                      \
    F(c, p3)                                                                                      \
    F(c, p4) F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9) F(c, p10) F(c, p11) F(c, p12) F(c, p13) F(c, p14) F(c, p15)
#define CGX__MAP_16(F, c, name, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16) \
    F(c, p1)                                                                                           \
    F(c, p2)                                                                                           \
    F(c, p3)                                                                                           \
    F(c, p4)                                                                                           \
    F(c, p5) F(c, p6) F(c, p7) F(c, p8) F(c, p9) F(c, p10) F(c, p11) F(c, p12) F(c, p13) F(c, p14) F(c, p15) F(c, p16)
#endif
