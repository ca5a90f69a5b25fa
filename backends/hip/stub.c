/* SPDX-License-Identifier: MIT */
#include "../stub.h"

CGX_STUB(hip);
