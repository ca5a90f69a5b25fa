#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh cuda|hip ROOT WORK
#
# Compiles the kernel files of this folder, and the examples, with a device compiler. Any word of it is a failure. Looks for
# the instructions that the code must have, and that wrong code does not compile. Exit status 77 without the compiler.
set -u
me=$1
root=$(cd "$2" && pwd)
work=$3
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
mkdir -p "$work"
work=$(cd "$work" && pwd)

includes=(-I"$here")
for folder in api backends/gpu/include "backends/$me/include"; do includes+=(-I"$root/$folder"); done
real=("$here/kernels.c" "$root/examples/saxpy/saxpy.c" "$root/examples/heat2d/heat_kernels.c")
failed=0
fail() {
    printf 'FAIL %s\n' "$*"
    failed=$((failed + 1))
}
# silent WHAT COMMAND...
silent() {
    local what=$1 said
    shift
    if ! said=$("$@" 2>&1 </dev/null) || [[ -n $said ]]; then
        fail "$what"
        printf '  %s\n%s\n' "$*" "$said" | head -n 30
        return 1
    fi
    echo "ok   $what"
}
# kernel NAME FILE: the text of one kernel of an assembly file, the reader of each backend
has() { # NAME FILE PATTERN...
    local name=$1 file=$2 text pattern
    shift 2
    text=$(kernel "$name" "$file")
    [[ $text ]] || fail "$name is not in ${file##*/}"
    for pattern; do grep -qE -e "$pattern" <<<"$text" || fail "$name in ${file##*/} has no $pattern"; done
}
lacks() {
    local name=$1 file=$2 pattern
    shift 2
    for pattern; do ! kernel "$name" "$file" | grep -E -e "$pattern" || fail "$name in ${file##*/} has $pattern"; done
}

# ---- the compilers: full compiles to the end, so that an unresolved reference fails; to_text to assembly ----
case $me in
cuda)
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    [[ -x $nvcc ]] || { echo "no nvcc here"; exit 77; }
    chips=(sm_80 sm_90)
    compile() { "$nvcc" -x cu -std=c++17 -arch="$1" -Xcompiler -Wall,-Wextra "${includes[@]}" "${@:2}"; }
    to_text() { compile "$1" -ptx "${@:2:$#-2}" -o "${@:$#}"; }
    to_image() { compile "$1" -cubin "$2" -o "$3"; }
    kernel() { sed -n "/^\.visible \.entry $1__device(/,/^}/p" "$2"; }
    ;;
hip)
    clang=$(command -v clang-19 || command -v clang-20 || command -v clang-21) || { echo "no clang-19 here"; exit 77; }
    chips=(gfx90a gfx942 gfx1100)
    compile() {
        "$clang" -x hip --offload-device-only --no-gpu-bundle-output --offload-arch="$1" -nogpulib -nogpuinc -nostdinc++ -std=c++17 \
            -O3 -Wall -Wextra -pedantic "${includes[@]}" "${@:2}"
    }
    to_text() { compile "$1" -S "${@:2:$#-2}" -o "${@:$#}"; }
    to_image() { compile "$1" -c "$2" -o "$3"; }
    kernel() { sed -n "/^$1__device:/,/\.end_amdhsa_kernel/p" "$2"; }
    command -v ld.lld-19 >/dev/null || command -v ld.lld >/dev/null || { echo "no ld.lld here"; exit 77; }
    ;;
*)
    echo "usage: run.sh cuda|hip ROOT WORK"
    exit 2
    ;;
esac

# ---- the shared layer knows no make of GPU: no instruction (widths.sh looks for widths and masks) ----
if grep -rnE 'warpSize|WAVEFRONT_SIZE|threadIdx|__builtin_amdgcn|\basm\b' "$root/backends/gpu/include"; then
    fail "backends/gpu has an instruction of one make of GPU"
fi

# ---- right code ----
for chip in "${chips[@]}"; do
    silent "kernels.c $chip" to_text "$chip" "$here/kernels.c" "$work/$chip.s"
    silent "wide.c $chip" to_text "$chip" "$here/wide.c" "$work/wide.$chip.s"
    silent "wide.c $chip without overlays" to_text "$chip" -DCGX_NO_OVERLAYS "$here/wide.c" "$work/plain.$chip.s"
done
# What cgxcc -g adds: checks that say what was wrong.
compile_checked() { compile "$1" -DCGX__CHECKS=1 "${@:2}"; }
case $me in
cuda) silent "kernels.c with checks" compile_checked "${chips[1]}" -ptx "$here/kernels.c" -o "$work/checked.s" ;;
hip) silent "kernels.c with checks" compile_checked "${chips[1]}" -S "$here/kernels.c" -o "$work/checked.s" ;;
esac
for kernel in barriers copies; do
    has $kernel "$work/checked.s" '__assertfail|s_trap'
    lacks $kernel "$work/${chips[1]}.s" '__assertfail|s_trap'
done
# Without overlays there is the software form everywhere.
if [[ $me == cuda ]]; then
    silent "kernels.c without overlays" compile "${chips[1]}" -DCGX_NO_OVERLAYS=1 -ptx "$here/kernels.c" -o "$work/plain.s"
    lacks barriers "$work/plain.s" 'mbarrier\.'
    lacks copies "$work/plain.s" 'cp\.async\.bulk'
fi
for file in "${real[@]}"; do
    silent "${file##*/} to an image" to_image "${chips[0]}" "$file" "$work/image"
done
silent "cg_kernels.c" to_text "${chips[1]}" "$root/examples/conjugate_gradient/cg_kernels.c" "$work/cg.s"
silent "wide.c to an image" to_image "${chips[0]}" "$here/wide.c" "$work/image"

# A second opinion on the processors that it knows.
if [[ $me == hip ]] && command -v clang-15 >/dev/null; then
    for chip in gfx906 gfx90a gfx1030 gfx1100; do
        silent "kernels.c $chip by clang 15" clang-15 -x hip --offload-device-only --no-gpu-bundle-output \
            --offload-arch="$chip" -nogpulib -nogpuinc -nostdinc++ -std=c++17 -O3 -Wall -Wextra "${includes[@]}" \
            -S "$here/kernels.c" -o "$work/15.s"
    done
fi

# ---- instructions ----
for chip in "${chips[@]}"; do
    s=$work/$chip.s
    case $me in
    cuda)
        for n in {0..16}; do
            params=$(kernel "p$n" "$s" | grep -c '^\s*\.param')
            [[ $params == "$((n + 1))" ]] || fail "p$n has $params parameters" # the last one is hidden
        done
        has reverse "$s" 'bar\.sync\s+0;' '%tid\.x' '%tid\.y' '%ntid\.x' 'ld\.shared' 'st\.shared'
        has ranks "$s" '%ctaid\.z' '%nctaid\.x'
        has coalesced "$s" activemask 'redux\.sync'
        if [[ $chip == sm_90 ]]; then has cluster_ranks "$s" '%cluster_ctaid\.x'; fi
        has at_most_320 "$s" '\.maxntid 320'
        has exactly_96 "$s" '\.maxntid 96'
        has p1 "$s" '\.maxntid 1024' # what any block may have
        has clocks "$s" clock64 globaltimer
        has wave "$s" 'shfl\.sync' 'vote\.sync\.ballot' 'bar\.warp\.sync'
        lacks wave "$s" 'bar\.sync' # a tile waits for no other warp
        has block_reduce "$s" 'bar\.sync' 'add\.rn\.f32'
        for order in 'ld\.acquire\.gpu\.b32' 'st\.release\.sys\.b32' 'atom\.acq_rel\.cta\.cas\.b32' 'fence\.sc\.gpu' \
            'atom\.relaxed\.gpu\.xor\.b64'; do
            has atomics "$s" "$order"
        done
        has copies "$s" 'cp\.async\.cg.* 16;' 'cp\.async\.wait_group' 'cp\.async\.wait_all'
        for bytes in 4 8; do # in a function of its own
            grep -qE "cp\.async\.ca\..* $bytes;" "$s" || fail "no copies of $bytes bytes in ${s##*/}"
        done
        if [[ $chip == sm_90 ]]; then
            has barriers "$s" mbarrier.{init,arrive,arrive_drop,arrive.expect_tx,test_wait,try_wait.parity,inval}'\.'
            has copies "$s" 'cp\.async\.bulk\..*complete_tx' 'cp\.async\.bulk\.global' 'fence\.proxy\.async'
            lacks barriers "$s" 'atom\.'
        else
            has barriers "$s" 'atom\.acq_rel\.cta\.add\.u64'
        fi
        has wide "$work/wide.$chip.s" 'barrier(\.cta)?\.sync'
        lacks wide "$work/plain.$chip.s" 'barrier(\.cta)?\.sync\s+%r'
        has wide "$work/plain.$chip.s" 'atom(\.relaxed)?(\.cta)?\.shared(\.cta)?\.add'
        has grid "$work/wide.$chip.s" 'atom\.add\.release\.gpu' 'ld\.acquire\.gpu' 'exit;'
        if [[ $chip == sm_90 ]]; then
            has clusters "$work/wide.$chip.s" 'barrier\.cluster\.arrive\.release' 'barrier\.cluster\.arrive\.relaxed' \
                'barrier\.cluster\.wait\.acquire' 'mapa\.u64' getctarank
        fi
        has announced "$s" '\.param \.align 8 \.b8 .*\[24\]'
        grep -qE '^\.extern \.shared \.align 128' "$s" || fail "dynamic shared memory is not aligned"
        grep -qE '^\.global .*\bcounter = 3' "$s" || fail "no variable counter"
        grep -qE '^\.const .*\bconstants\[16\]' "$s" || fail "no constant"
        ;;
    hip)
        has reverse "$s" s_barrier 'ds_(write|store)' 'ds_(read|load)' 's_waitcnt lgkmcnt\(0\)|lgkmcnt'
        [[ $(kernel reverse "$s" | grep -c s_barrier) == 1 ]] || fail "reverse has not one barrier"
        has wave "$s" ds_bpermute
        lacks wave "$s" s_barrier # a tile waits for no other wave
        has block_reduce "$s" s_barrier v_add_f32
        has atomics "$s" 'atomic_cmpswap' 'atomic_add(_x2|_u64)' 'atomic_xor(_x2|_b64)'
        has barriers "$s" '(ds|flat)_(atomic_)?add'
        has clocks "$s" 's_memrealtime|GET_REALTIME'
        has p16 "$s" 'amdhsa_kernarg_size'
        for n in "at_most_320 320" "exactly_96 96" "p1 1024"; do
            grep -A1 -E "\.max_flat_workgroup_size: *${n#* }\$" "$s" | grep -qE "\.name: *${n% *}__device" ||
                fail "${n% *}: not ${n#* } threads"
        done
        grep -qE '^\s*\.globl\s+counter\b' "$s" || fail "no variable counter"
        grep -qE '^\s*\.globl\s+constants\b' "$s" || fail "no constant"
        ;;
    esac
    [[ ! $(kernel elsewhere "$s") ]] || fail "elsewhere is only declared, and is in ${s##*/}"
done

# ---- wrong code ----
# refused NAME TEXT: does not compile
refused() {
    printf '#include <cgx.h>\n%s\n' "$2" >"$work/$1.c"
    if to_text "${chips[0]}" "$work/$1.c" "$work/refused.s" >"$work/$1.log" 2>&1; then
        fail "$1 compiles"
    elif [[ ${3-} ]] && ! grep -qE "$3" "$work/$1.log"; then
        fail "$1: not for the reason $3"
        head -n 5 "$work/$1.log"
    else
        echo "ok   $1 is refused"
    fi
}
refused ballot_of_128 'CGX_KERNEL(k, (uint64_t *, o)) { *o = cgx_ballot(cgx_tiled_partition(cgx_this_block(), 128), 1); }' \
    'cannot be referenced|deleted|no matching'
refused bits_of_a_float 'CGX_KERNEL(k, (float *, o)) { *o = cgx_reduce(cgx_this_block(), *o, CGX_BIT_AND); }' \
    'a bitwise operator needs an integer'
refused sum_of_a_struct 'CGX_KERNEL(k, (cgx_float4 *, o)) { *o = cgx_reduce(cgx_this_block(), *o, CGX_PLUS); }'
refused value_of_40_bytes 'typedef struct { double v[5]; } big;
CGX_KERNEL(k, (big *, o)) { *o = cgx_shfl(cgx_tiled_partition(cgx_this_block(), 4), *o, 0); }' 'at most 32 bytes'
refused another_signature 'CGX_KERNEL_DECLARE(k, (int, n)) CGX_KERNEL_EXTERN(k, (float, n)) { (void)n; }'
refused wrong_argument 'CGX_KERNEL(k, (float *, x)) { *x = 1; }
cgx_status f(cgx_queue *q, double *x) { return k_launch(q, cgx_config_1d(1, 1), x); }'
refused sync_of_a_number 'CGX_KERNEL(k, (int, n)) { cgx_sync(n); }'
refused arguments_17 'CGX_KERNEL(k, (int, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i),
(int, j), (int, l), (int, m), (int, n), (int, o), (int, p), (int, q), (int, r)) {}'

# The umbrella header survives inclusion inside extern "C".
printf 'extern "C" {\n#include <cgx.h>\n}\nCGX_KERNEL(k, (int *, o)) { *o = cgx_reduce(cgx_this_block(), 1, CGX_PLUS); }\n' \
    >"$work/inside.c"
silent 'inside extern "C"' to_text "${chips[0]}" "$work/inside.c" "$work/inside.s"

echo "$me: $failed failed"
((failed == 0))
