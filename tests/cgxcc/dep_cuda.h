/* SPDX-License-Identifier: MIT */
/* only CUDA reads this */
