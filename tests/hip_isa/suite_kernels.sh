#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# suite_kernels.sh ROOT CGXCC WORK
#
# Kernel files of the shared suite as cgxcc compiles them for AMD: for every processor of its default list, for gfx950 where the compiler
# knows it, and by clang 15 for those that it knows. A plain build has no AMD code; this compiles what stands for all of it. A word is
# a failure. Exit status 77 without the compiler.
set -u
root=$(cd "$1" && pwd)
cgxcc=$2
mkdir -p "$3"
work=$(cd "$3" && pwd)
export LC_ALL=C
chips=gfx906,gfx90a,gfx942,gfx1030,gfx1100,gfx1200
clang=${CGXCC_HIP:-clang-19}
command -v "$clang" >/dev/null || { echo "no $clang here"; exit 77; }
command -v ld.lld-19 >/dev/null || command -v ld.lld >/dev/null || { echo "no ld.lld here"; exit 77; }

flags=(--backends=hip --cpu-engine=fiber --cpu-arch=base -std=c11 -Wall -Wextra -O2)
for folder in api backends/{cpu,gpu,hip}/include tests/common tests/device tests/guide; do flags+=(-I"$root/$folder"); done
failed=0
# compiles COMPILER CHIPS FILE [OPTION...]: says nothing, and there is an image for each
compiles() {
    local said chip out=$work/kernels.o
    if ! said=$(CGXCC_HIP=$1 "$cgxcc" "${flags[@]}" --hip-arch="$2" "${@:4}" -c "$root/$3" -o "$out" 2>&1) || [[ $said ]]; then
        printf 'FAIL %s, %s, %s\n%s\n' "$3" "$1" "$2" "$said" | head -n 30
        failed=$((failed + 1))
        return
    fi
    for chip in ${2//,/ }; do
        grep -aqE -e "amdgcn-amd-amdhsa--$chip([^0-9a-f]|$)" "$out" || { echo "FAIL no $chip in $3, $1"; failed=$((failed + 1)); }
    done
    echo "ok   $3, $1, $2"
}

if "$clang" -x hip --offload-device-only --offload-arch=gfx950 -nogpulib -nogpuinc -fsyntax-only /dev/null 2>/dev/null; then
    chips+=,gfx950
else
    echo "$clang does not know gfx950"
fi
compiles "$clang" "$chips" tests/guide/guide_kernels.c
compiles "$clang" "$chips" tests/children/children_kernels.c
if command -v clang-15 >/dev/null; then
    compiles clang-15 gfx906,gfx90a,gfx1030,gfx1100 tests/guide/guide_kernels.c -Xhip=-mcode-object-version=4
else
    echo "not here: clang-15"
fi
((failed == 0))
