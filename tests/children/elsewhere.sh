#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# elsewhere.sh ROOT CGXCC [BACKENDS]: a launch across files is refused by every compiler, with the reason.
# rows: D01
set -u
root=$(cd "$1" && pwd)
cgxcc=$2
backends=${3:-cpu}
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 checked=0
flags=(-Wall -Wextra -Werror -c -o "$work/elsewhere.o")
for folder in api backends/cpu/include backends/gpu/include backends/cuda/include backends/hip/include; do
    flags+=(-I"$root/$folder")
done

# COMMAND...: compiles without CASE 1, and with it says why not.
check() {
    local said
    checked=$((checked + 1))
    if ! said=$("$@" "${flags[@]}" -DCASE=0 "$here/elsewhere.c" 2>&1); then
        failed=$((failed + 1))
        printf 'FAIL %s: nothing wrong\n%s\n' "$*" "$(head -n 20 <<<"$said")"
    elif said=$("$@" "${flags[@]}" -DCASE=1 "$here/elsewhere.c" 2>&1); then
        failed=$((failed + 1))
        printf 'FAIL %s accepts it\n' "$*"
    elif ! grep -q 'of_another_file is defined in another file: a kernel launches kernels of its own file' <<<"$said"; then
        failed=$((failed + 1))
        printf 'FAIL %s does not say why\n%s\n' "$*" "$(head -n 20 <<<"$said")"
    fi
}

for level in -O0 -O2; do
    for compiler in gcc clang-19 clang-15; do
        command -v "$compiler" >/dev/null && check "$compiler" -std=c11 "$level"
    done
    command -v g++ >/dev/null && check g++ -x c++ -std=c++17 "$level"
done
check "$cgxcc" -std=c11 -O2 --backends="$backends" --cuda-arch=90 --hip-arch=gfx942
# Everything of the device runtime, in the device passes too.
checked=$((checked + 1))
if ! said=$("$cgxcc" -std=c11 -O2 --backends="$backends" --cuda-arch=90 --hip-arch=gfx942 "${flags[@]}" "$here/children_kernels.c" 2>&1); then
    failed=$((failed + 1))
    printf 'FAIL children_kernels.c\n%s\n' "$(head -n 20 <<<"$said")"
fi
echo "$checked compilers, $failed failed"
((failed == 0))
