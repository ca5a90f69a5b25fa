#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# flat.sh OBJECT: the kernels of ranks_kernels.c that ask for nothing but grid ranks have got the loop over ranks, and the others have not:
# the compiler has found out which is which (CGX__RUN_FLAT in cpu.h).
set -euo pipefail
status=0
expect() { # TYPE of the symbol, kernels: w is undefined and so never needed, W defined
    local type=$1 name
    shift
    for name in "$@"; do
        if ! grep -q " $type cgx__needs_block_$name\$" <<<"$symbols"; then
            echo "$name: no symbol of type $type in $object"
            status=1
        fi
    done
}
object=$1
symbols=$(nm "$object")
expect w below_i64 below_i32 below_u32 below_u64 scaled from_bound both_sides strided early sized
expect W with_block with_rank with_index with_shared sometimes
exit $status
