#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# toolchain.sh CGXCC INCLUDES LIBCGX CGXINFO CASE: toolchain.c compiled with options that users look for faults with, or have anyway.
#   levels      -O0 to -O3 and -Os give the fibers' results; big frames among them
#   debug       a debugger finds a thread's variables in compiled entries
#   sanitizers  an access beyond shared or global memory, and an overflow, are reported with their lines
#   refusals    what is left to the fibers, each with one remark that says why; who asks which engine a kernel has is told
#   absence     a plug-in that is not there; options for remarks beside a gcc
#   strides     loops of kernels read nothing behind an array, by a clang without the plug-in
#   openmp      in the host code of the same file, with the clang that has its library; by gcc the file runs on fibers
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cgxcc=$(readlink -f "$1") lib=$(readlink -f "$3") cgxinfo=$(readlink -f "$4")
IFS=: read -ra folders <<<"$2"
flags=(-std=c11 -Wall -Wextra --backends=cpu --cpu-engine=compiled)
for f in "${folders[@]}"; do flags+=("-I$(readlink -f "$f")"); done
link=("$lib" "-Wl,-rpath,${lib%/*}")
export CGXCC_TREE=1 CGX_DEVICE=cpu LC_ALL=C
unset CGX_CPU_ENGINE ASAN_OPTIONS UBSAN_OPTIONS # newer mesons have tests end at the first overflow
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cp "$here"/toolchain*.c .

fail() { echo "$*"; exit 1; }
skip() { echo "$*"; exit 77; }
line() { grep -n "/\* $1 \*/" toolchain.c | cut -d: -f1; }
build() { local program=$1; shift; timeout 120 "$cgxcc" "${flags[@]}" "$@" toolchain.c -o "$program" "${link[@]}"; }
# result ENGINE PROGRAM KERNEL [N]
result() { local engine=$1; shift; CGX_CPU_ENGINE=$engine timeout 60 "$@"; }
# The kernel runs compiled, and its results are the fibers'.
same() {
    local fibers compiled
    fibers=$(result fiber "$@") compiled=$(result compiled "$@")
    [[ $compiled == *" compiled "* ]] || fail "not compiled: $compiled"
    [[ ${fibers/ fibers / compiled } == "$compiled" ]] || fail "$fibers; $compiled"
}

test_levels() {
    local level kernel
    for level in -O0 -Os -O1 -O2 -O3; do
        build program $level --portable-fp --cpu-arch=base
        for kernel in locals parted beyond_shared into_next beyond_global overflow big_frame; do same ./program $kernel; done
    done
}

# at LINE CONDITION VARIABLE=VALUE...: where a debugger stops in the compiled engine
at() {
    local where=$1 condition=$2 kernel=$3 pair log
    shift 3
    log=$(CGX_CPU_ENGINE=compiled timeout 60 gdb -q -batch -ex 'set debuginfod enabled off' -ex "break toolchain.c:$where if $condition" \
        -ex "run $kernel" -ex bt -ex 'info locals' ./program 2>&1 </dev/null) || true
    if grep -q 'ptrace: Operation not permitted' <<<"$log"; then skip "gdb may not trace here"; fi
    grep -q "in cgx__compiled_\|cgx__compiled_base" <<<"$log" || fail "no stop in a compiled entry: $log"
    for pair; do grep -qxF "${pair/=/ = }" <<<"$log" || fail "not $pair: $log"; done
}
test_debug() {
    command -v gdb >/dev/null || skip "no gdb here"
    local level
    for level in -O0 -Og; do
        build program $level -g --cpu-arch=base
        at "$(line 'in a loop')" 't == 5 && round == 1' locals t=5 size=256 other=250.25 round=1 v=7.75 'mine={251.75, 252.75, 5}'
        at "$(line 'behind it')" 't == 200' locals t=200 size=256 other=55.25 v=459.5
        at "$(line 'some threads')" 't == 26' parted t=26 r=133
    done
    # In optimised code what is kept from region to region; in a loop that is vectorised, only what its threads have in common.
    build program -O2 -g --cpu-arch=base
    at "$(line 'some threads')" 't == 26' parted t=26 r=133
    at "$(line 'in a loop')" '1' locals size=256
    same ./program locals
    same ./program parted
}

test_sanitizers() {
    local host level engine said tried=''
    for host in gcc clang-19; do
        echo 'int main(void) { return 0; }' >empty.c
        $host -fsanitize=address,undefined empty.c -o empty 2>/dev/null || continue # not here, or not its library
        for level in -O0 -O2; do
            [[ $host == gcc && $level == -O0 ]] && continue # once will do
            CGXCC_HOST=$host build program -g $level --cpu-arch=base -fsanitize=address,undefined
            same ./program beyond_shared
            same ./program parted
            same ./program into_next
            for engine in compiled fiber; do
                said=$(result $engine ./program beyond_shared 1 2>&1) && fail "beyond_shared: $said"
                grep -q "AddressSanitizer: use-after-poison" <<<"$said" || fail "$said"
                grep -q "#0 .*toolchain.c:$(line shared)" <<<"$said" || fail "$said"
                said=$(result $engine ./program into_next 1 2>&1) && fail "into_next: $said"
                grep -q "AddressSanitizer: use-after-poison" <<<"$said" || fail "$said"
                grep -q "#0 .*toolchain.c:$(line first)" <<<"$said" || fail "$said"
            done
            said=$(result compiled ./program beyond_global 1 2>&1) && fail "beyond_global: $said"
            grep -q "#0 .*toolchain.c:$(line global)" <<<"$said" || fail "$said"
            said=$(result compiled ./program overflow 2147483600 2>&1)
            grep -q "toolchain.c:$(line signed):[0-9]*: runtime error: signed integer overflow" <<<"$said" || fail "$said"
            grep -q " compiled " <<<"$said" || fail "$said"
        done
        tried+="$host "
    done
    [[ $tried ]] || skip "neither gcc nor clang-19 here with a sanitizer's library"
}

test_refusals() {
    local said kernel
    said=$(build program -O2 -DREFUSED -Rpass-missed=cgx toolchain_elsewhere.c 2>&1)
    [[ $(grep -c 'remark: ' <<<"$said") == 3 ]] || fail "not one remark for each: $said"
    # kernel, and why
    while read -r kernel why; do
        grep -q "kernel $kernel: fibers: $why" <<<"$said" || fail "$kernel: $said"
        [[ $(result compiled ./program "$kernel" 4) == "$(result fiber ./program "$kernel" 4)" ]] || fail "$kernel: results differ"
        grep -q " fibers " < <(result compiled ./program "$kernel") || fail "$kernel is not said to run on fibers"
    done <<END
variable_length an array of variable length (line $(line 'variable length'))
by_pointer hands its thread to a function through a pointer (line $(line pointer))
elsewhere hands its thread to waits_elsewhere, which is not inlined (line $(line elsewhere))
END
    same ./program only_computes
    # engine, kernel, and what the launch and cgxinfo say of it
    while read -r engine kernel words; do
        said=$(CGX_EXPLAIN=1 result "$engine" ./program "$kernel" 2>&1 >/dev/null)
        grep -q "^$kernel  *cpu:0 .*; $words" <<<"$said" || fail "$engine: $kernel is not explained by '$words': $said"
    done <<END
compiled locals compiled: uniform, [0-9]* loops over the threads, [0-9]* bytes a thread
compiled parted compiled: threads on their own ways
compiled variable_length fibers: an array of variable length
auto locals compiled: uniform
fiber locals fibers
END
    said=$(CGX_CPU_ENGINE=compiled "$cgxinfo")
    grep -q '^cpu:0 .* compiled where kernels are, else fibers,' <<<"$said" || fail "$said"
    said=$(CGX_CPU_ENGINE=fiber "$cgxinfo")
    grep -q '^cpu:0 .*  fibers,' <<<"$said" || fail "$said"
}

# Whoever has lost the plug-in is told, once a file; whoever asks for remarks is told by a gcc, too.
test_absence() {
    local said bin=installed/bin
    mkdir -p $bin installed/include
    cp "$cgxcc" $bin
    touch installed/include/cgx.h # found in the tree's folders first
    flags=("${flags[@]/--cpu-engine=compiled/--cpu-engine=auto}")
    said=$(env -u CGXCC_TREE timeout 120 $bin/cgxcc "${flags[@]}" -O1 -c toolchain.c -o toolchain.o 2>&1)
    [[ $said == *"remark: toolchain.c: its kernels run on fibers alone: its plug-in for clang is not there"* ]] || fail "$said"
    [[ $(wc -l <<<"$said") == 1 ]] || fail "$said"
    said=$(env -u CGXCC_TREE timeout 120 $bin/cgxcc "${flags[@]}" --cpu-engine=fiber -O1 -c toolchain.c -o toolchain.o 2>&1)
    [[ ! $said ]] || fail "$said"
    command -v gcc >/dev/null || return 0
    said=$(CGXCC_HOST=gcc build program -O1 --cpu-arch=base -Rpass=cgx toolchain_elsewhere.c 2>&1)
    grep -q 'remark: kernel locals: compiled: uniform' <<<"$said" || fail "$said"
    grep -q "unrecognized" <<<"$said" && fail "$said"
    same ./program locals
}

test_openmp() {
    local said
    if command -v clang-19 >/dev/null && CGXCC_HOST=clang-19 build program -O2 -fopenmp 2>log; then
        same ./program locals
    else
        grep -q 'omp' log || fail "$(cat log)"
    fi
    command -v gcc >/dev/null || skip "no gcc here"
    export CGXCC_HOST=gcc
    said=$(build program -O2 -fopenmp 2>&1) && fail "gcc's library was taken for clang's: $said"
    grep -q -- '--cpu-engine=compiled: -fopenmp is for the host compiler' <<<"$said" || fail "$said"
    flags=("${flags[@]/--cpu-engine=compiled/--cpu-engine=auto}")
    said=$(build program -O2 -fopenmp 2>&1)
    [[ $(grep -c 'remark: toolchain.c: its kernels run on fibers alone: -fopenmp' <<<"$said") == 1 ]] || fail "$said"
    grep -q ' fibers ' < <(result compiled ./program locals)
}

# Without the plug-in, by each clang that is here: what loops in kernels read.
test_strides() {
    local host said tried=''
    flags=("${flags[@]/--cpu-engine=compiled/--cpu-engine=fiber}")
    for host in clang-{14..22}; do
        command -v $host >/dev/null || continue
        CGXCC_HOST=$host build program -O2 --cpu-arch=base
        said=$(result fiber ./program strides)
        [[ $said == "strides fibers 0" ]] || fail "$host: $said"
        tried=1
    done
    [[ $tried ]] || skip "no clang here"
}

declare -F "test_$5" >/dev/null || fail "no case $5"
"test_$5"
