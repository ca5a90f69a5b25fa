#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# aarch64.sh SOURCE WORK: builds library and solver for aarch64 and runs them on qemu's user emulation, with the assembly
# switch and with ucontext, which other processors use. Skipped (77) where the cross compiler or qemu is not installed.
set -euo pipefail
source=$1 work=$2
cc=aarch64-linux-gnu-gcc
for tool in $cc qemu-aarch64; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
flags=(-std=c11 -D_GNU_SOURCE -O2 -fopenmp -ffp-contract=off -I"$source/api" -I"$source/backends/cpu/include"
       -I"$source/examples/common")
for switch in assembly ucontext; do
    extra=()
    [[ $switch == ucontext ]] && extra=(-DCGX__UCONTEXT)
    mkdir -p "$work/$switch"
    objects=()
    for file in "$source"/api/*.c "$source"/backends/cpu/*.c "$source"/backends/order.c "$source"/backends/{cuda,hip}/stub.c \
                "$source"/examples/conjugate_gradient/*.c "$source"/examples/common/*.c; do
        object=$work/$switch/$(basename "$(dirname "$file")")-$(basename "$file" .c).o
        "$cc" "${flags[@]}" "${extra[@]+"${extra[@]}"}" -Wall -Wextra -Werror -c "$file" -o "$object"
        objects+=("$object")
    done
    "$cc" -fopenmp -static "${objects[@]}" -lm -o "$work/$switch/solver" 2>"$work/$switch/link.log" ||
        { cat "$work/$switch/link.log"; exit 1; }
    qemu-aarch64 "$work/$switch/solver" "$source/examples/data/lund_a.mtx"
done
