#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compare.sh PROGRAM: what it prints with compiled kernels is what it prints with fibers, at every level and warp width.
set -euo pipefail
program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for lanes in 32 64; do
    CGX_CPU_ENGINE=fiber CGX_CPU_LANES=$lanes "$program" >"$dir/fiber"
    [[ $(wc -l <"$dir/fiber") -gt 50 ]]
    for level in base v2 v3 v4; do
        CGX_CPU_ENGINE=compiled CGX_CPU_ISA=$level CGX_CPU_LANES=$lanes "$program" --expect >"$dir/compiled"
        diff "$dir/fiber" "$dir/compiled" || {
            echo "the engines differ at level $level with $lanes lanes"
            exit 1
        }
    done
done
