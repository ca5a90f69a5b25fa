#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bitwise.sh PROGRAM: test_bitwise with warps of 32 and of 64 lanes, with the lowest instruction set and with the best, with
# one worker and under a random schedule: all results, byte for byte, are the same.
set -euo pipefail
program=$1
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT
export CGX_TEST_SEED=20240229
settings=("CGX_CPU_LANES=32" "CGX_CPU_LANES=64" "CGX_CPU_ISA=0" "CGX_CPU_ISA=3 CGX_CPU_LANES=64" "CGX_CPU_WORKERS=1"
    "CGX_CPU_SCHEDULE=seed:11 CGX_CPU_WORKERS=3")
for i in "${!settings[@]}"; do
    read -ra words <<<"${settings[i]}"
    status=0
    env "${words[@]}" "$program" "$dir/$i" >"$dir/log" 2>&1 || status=$?
    if ((status)); then
        echo "${settings[i]}: status $status"
        cat "$dir/log"
        exit "$status"
    fi
    echo "${settings[i]}: $(grep -h digest "$dir/log"), $(stat -c %s "$dir/$i") bytes"
    cmp "$dir/0" "$dir/$i"
    ((i == 0)) || rm "$dir/$i"
done
