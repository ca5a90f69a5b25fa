/* SPDX-License-Identifier: MIT */
/* only HIP reads this */
