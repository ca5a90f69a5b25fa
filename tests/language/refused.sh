#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# refused.sh ROOT CGXCC
#
# What is wrong does not compile, and the compiler's first words about it can be understood: each case of refused.c is
# compiled, must fail, and what is said must hold the words beside it. Warnings count as errors, as users build.
# rows: G04 G07 K09 R01 R06 H05
set -u
root=$(cd "$1" && pwd)
cgxcc=$2
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
failed=0 checked=0

# CASE, and an extended expression for what C compilers say; C++ compilers are asked only to refuse.
cases=(
    '1 kernel too_full: more than 4096 bytes of arguments'
    '2 TOO_MANY_KERNEL_ARGUMENTS'
    '3 conflicting types|incompatible|redefinition'
    '4 operator first_large: a value has at most 32 bytes'
    '10 a_bitwise_operator_needs_an_integer'
    '11 a_builtin_operator_needs_an_integer_or_float'
    '12 a_bitwise_operator_needs_an_integer'
    '13 a_bitwise_operator_needs_an_integer'
    '14 cgx__tiled_24'
    '15 a value has at most 32 bytes'
    '16 a value has at most 32 bytes'
    '17 cgx_tile_128'
    '19 cgx__tiled_2048'
    "20 'float'"
    '21 cgx__dim_threads'
    '30 incompatible.*pointer|from incompatible'
    '31 too few arguments'
    '32 too many arguments'
    '33 incompatible.*pointer'
    '34 incompatible type'
    '35 incompatible type'
    '36 incompatible type'
    '37 discards'
    '38 makes integer from pointer|incompatible pointer to integer|int-conversion'
)

fail() {
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1"
    head -n 15 <<<"$2"
}

flags=(-Wall -Wextra -Werror -Wno-unused-but-set-variable -I"$root/api" -I"$root/backends/cpu/include" -fsyntax-only)
for compiler in gcc clang-19 clang-14; do
    command -v "$compiler" >/dev/null || { echo "not here: $compiler"; continue; }
    said=$("$compiler" -std=c11 "${flags[@]}" -DCASE=0 "$here/refused.c" 2>&1) || fail "$compiler: nothing wrong" "$said"
    for row in "${cases[@]}"; do
        checked=$((checked + 1))
        if said=$("$compiler" -std=c11 "${flags[@]}" -DCASE="${row%% *}" "$here/refused.c" 2>&1); then
            fail "$compiler accepts case ${row%% *}" ""
        elif ! grep -qE -- "${row#* }" <<<"$said"; then
            fail "$compiler, case ${row%% *}, does not say '${row#* }'" "$said"
        fi
    done
    [[ $compiler == gcc ]] || break # one clang is enough
done

# In C++ the words are the compiler's own, but it refuses all the same.
if command -v g++ >/dev/null; then
    said=$(g++ -x c++ -std=c++17 "${flags[@]}" -DCASE=0 "$here/refused.c" 2>&1) || fail "g++: nothing wrong" "$said"
    for row in "${cases[@]}"; do
        checked=$((checked + 1))
        g++ -x c++ -std=c++17 "${flags[@]}" -DCASE="${row%% *}" "$here/refused.c" >/dev/null 2>&1 &&
            fail "g++ accepts case ${row%% *}" ""
    done
fi

# And through cgxcc, which hands on the compiler's words and its exit status.
said=$("$cgxcc" --backends=cpu -std=c11 "${flags[@]}" -DCASE=14 "$here/refused.c" 2>&1) && fail "cgxcc accepts case 14" ""
grep -q cgx__tiled_24 <<<"$said" || fail "cgxcc, case 14" "$said"

echo "$checked cases, $failed failed"
((failed == 0))
