#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isa.sh ROOT WORK [--table]
#
# Compiles primitives.c, a primitive a kernel, for every AMD processor and looks for the instructions that each must have
# become and for those that it must not have. --table prints instead how many instructions each kernel has beyond an empty
# one, beside ROCm's cooperative groups (rocm.hip; rocm.txt has what they were) where their headers are installed. Exit status 77 without the compiler.
set -u
root=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
chips=(gfx906 gfx90a gfx942 gfx1030 gfx1100 gfx1200)

clang=$(command -v clang-19) || { echo "no clang-19 here"; exit 77; }
objdump=$(command -v llvm-objdump-19) || { echo "no llvm-objdump-19 here"; exit 77; }
command -v ld.lld-19 >/dev/null || command -v ld.lld >/dev/null || { echo "no ld.lld here"; exit 77; }

includes=(-I"$root/api" -I"$root/backends/gpu/include" -I"$root/backends/hip/include")
hip=(-x hip --offload-device-only --no-gpu-bundle-output -std=c++17 -O3)
own=(-nogpulib -nogpuinc -nostdinc++ -mcode-object-version=5 -DCGX__CODE_OBJECT=5) # as cgxcc has them

# disassemble OBJECT TEXT: instructions only, one a line, behind a line with the kernel's name
disassemble() {
    "$objdump" -d --no-show-raw-insn --no-leading-addr "$1" | sed -n 's/^<\(.*\)>:$/== \1/p; s/^[0-9a-f]* <\(.*\)>:$/== \1/p; /^\t/s/ *\/\/.*//p' >"$2"
}
# kernel NAME TEXT: up to its last s_endpgm
kernel() { awk -v name="== $1" '/^== /{ on = $0 == name; next } on' "$2" | awk '{ t = t $0 "\n" } /s_endpgm/ { k = t } END { printf "%s", k }'; }
count() { kernel "$1" "$2" | grep -cv 's_nop\|s_code_end'; }

build() { # CHIP
    "$clang" "${hip[@]}" "${own[@]}" --offload-arch="$1" "${includes[@]}" -c "$here/primitives.c" -o "$work/$1.o" &&
        disassemble "$work/$1.o" "$work/$1.s"
}
running=()
for chip in "${chips[@]}"; do
    build "$chip" &
    running+=($!)
    ((${#running[@]} % 2)) || wait "${running[@]}" || exit 1
done
wait "${running[@]}" || { echo "FAIL primitives.c does not compile"; exit 1; }

# ---- the table ----

if [[ ${3-} == --table ]]; then
    # ROCm's own, for the processors that its headers and Debian's device library know.
    headers=${HIP_HEADERS:-${ROCM_PATH:-/usr}/include} # the folder above hip/
    libraries=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
    [[ ! ${ROCM_PATH-} ]] || libraries=$ROCM_PATH/amdgcn/bitcode
    rocm=()
    for chip in gfx906 gfx90a gfx1030; do
        "$clang" "${hip[@]}" -w -D__HIP_PLATFORM_AMD__ --offload-arch="$chip" -I"$headers" --rocm-path="${ROCM_PATH:-/usr}" \
            --rocm-device-lib-path="$libraries" -c "$here/rocm.hip" -o "$work/rocm.$chip.o" 2>"$work/rocm.$chip.log" &&
            disassemble "$work/rocm.$chip.o" "$work/rocm.$chip.s" && rocm+=("$chip")
    done
    printf '| kernel |'
    for chip in "${chips[@]}"; do printf ' %s |' "$chip"; done
    printf '\n|---|'
    for chip in "${chips[@]}"; do printf -- '---|'; done
    printf '\n'
    sed -n 's/^CGX_KERNEL[A-Z_]*(\([a-z0-9_]*\),.*/\1/p; s/^FENCE(\([a-z]*\),.*/fence_\1/p' "$here/primitives.c" |
        grep -v '^fence_$\|^nothing$\|^no_thread$' | while read -r name; do
        printf '| %s |' "$name"
        empty=nothing
        case $name in fence_* | add_* | load_* | store_*) empty=no_thread ;; esac
        for chip in "${chips[@]}"; do
            n=$(($(count "${name}__device" "$work/$chip.s") - $(count "${empty}__device" "$work/$chip.s")))
            theirs=
            if [[ " ${rocm[*]} " == *" $chip "* && $(kernel "$name" "$work/rocm.$chip.s") ]]; then
                theirs=$(($(count "$name" "$work/rocm.$chip.s") - $(count nothing "$work/rocm.$chip.s")))
            fi
            printf ' %s |' "$n${theirs:+ / $theirs}"
        done
        printf '\n'
    done
    exit 0
fi

# ---- the checks ----

failed=0
fail() {
    printf 'FAIL %s\n' "$*"
    failed=$((failed + 1))
}
# has CHIPS KERNEL PATTERN...: in this order; lacks CHIPS KERNEL PATTERN...
has() {
    local chip text pattern
    for chip in ${1//,/ }; do
        text=$(kernel "$2__device" "$work/$chip.s")
        [[ $text ]] || fail "$chip: no $2"
        for pattern in "${@:3}"; do
            if grep -qE -e "$pattern" <<<"$text"; then
                text=$(sed -E "0,/${pattern//\//\\/}/d" <<<"$text")
            else
                fail "$chip: $2 has no $pattern, or not there"
            fi
        done
    done
}
lacks() {
    local chip pattern
    for chip in ${1//,/ }; do
        for pattern in "${@:3}"; do
            ! kernel "$2__device" "$work/$chip.s" | grep -qE -e "$pattern" || fail "$chip: $2 has $pattern"
        done
    done
}
all=gfx906,gfx90a,gfx942,gfx1030,gfx1100,gfx1200
gfx9=gfx906,gfx90a,gfx942 gfx10=gfx1030 gfx11=gfx1100 gfx12=gfx1200

# The whole block's barrier is the hardware's, after what was written has landed in LDS.
has "$gfx9,$gfx10,$gfx11" block_sync 'ds_(write|store)_b32' 's_waitcnt.*lgkmcnt\(0\)' '^\s*s_barrier' 'ds_(read|load)_b32'
has "$gfx12" block_sync 'ds_store_b32' 's_wait_dscnt 0x0' 's_barrier_signal -1' 's_barrier_wait (-1|0xffff)' 'ds_load_b32'
# A tile waits for nobody else: in a wave for nothing at all, above it by a word in LDS.
lacks "$all" tile_sync s_barrier s_sleep
has "$all" tile128_sync 'ds_add(_rtn)?_(u32|u64)' s_sleep
lacks "$all" tile128_sync s_barrier
# Half of a block's barrier is nothing, the other half all of it.
has "$all" split_sync s_barrier
lacks "$all" split_sync s_sleep
# An mbarrier is an atomic in LDS; who waits sleeps between two looks.
has "$all" mbarrier_round 'ds_add_rtn_u64' s_sleep
# The grid's barrier is on atomics in device memory and never the chips' ds_gws, which some lack.
has "$all" grid_sync 'global_atomic_add|flat_atomic_add' s_sleep
lacks "$all" grid_sync ds_gws
# Lanes exchange by ds_bpermute; neighbours by DPP where that is what the compiler makes of it.
has "$all" shuffle ds_bpermute_b32
lacks "$all" shuffle s_barrier
has "$all" shuffle_xor 'ds_bpermute_b32|_dpp|ds_swizzle'
has "$all" tile_reduce 'ds_bpermute_b32|_dpp'
has "$all" ballot 'v_cmp'
has "$all" coalesced_rank v_mbcnt_lo_u32_b32
has gfx906,gfx90a,gfx942 coalesced_rank v_mbcnt_hi_u32_b32
has "$all" block_reduce 'ds_bpermute_b32|_dpp' 's_barrier'
# LDS DMA where there is one, and all of it has landed before anybody is told.
has gfx942 group_copy 's_mov_b32 m0' 'global_load_lds_dword' 's_waitcnt vmcnt\(0\)' s_barrier 'ds_read'
has gfx906,gfx90a,gfx1030 group_copy 's_mov_b32 m0' 'global_load_dword .* lds' 's_waitcnt vmcnt\(0\)' s_barrier
lacks gfx1100,gfx1200 group_copy ' lds$'
has gfx1100,gfx1200 group_copy 'global_load_b128|flat_load_b128|global_load_b32|flat_load_b32' 'ds_store|flat_store'
# Fences: a block's needs no cache; the device's and the system's write back and invalidate what they must.
lacks "$all" fence_block buffer_inv buffer_wbl2 buffer_wbinvl1 'global_wb .*SCOPE_(DEV|SYS)'
has gfx906 fence_device 's_waitcnt vmcnt\(0\)' buffer_wbinvl1_vol
has gfx90a fence_device 's_waitcnt vmcnt\(0\)' buffer_wbinvl1_vol
has gfx90a fence_system buffer_wbl2 'buffer_invl2'
has gfx942 fence_device 'buffer_wbl2 sc1' 's_waitcnt vmcnt\(0\)' 'buffer_inv sc1'
has gfx942 fence_system 'buffer_wbl2 sc0 sc1' 's_waitcnt vmcnt\(0\)' 'buffer_inv sc0 sc1'
has gfx1030 fence_device 's_waitcnt.*vscnt|s_waitcnt_vscnt' buffer_gl1_inv buffer_gl0_inv
has gfx1100 fence_device 's_waitcnt_vscnt' buffer_gl1_inv buffer_gl0_inv
has gfx1200 fence_device 's_wait_storecnt 0x0' 'global_inv scope:SCOPE_DEV'
has gfx1200 fence_system 'global_inv scope:SCOPE_SYS'
# Atomics: relaxed ones touch no cache; acquire and release do, on the right side.
has "$all" add_relaxed 'global_atomic_add|flat_atomic_add|global_atomic_add_u32'
lacks "$all" add_relaxed buffer_inv buffer_wb buffer_gl global_inv global_wb
has "$gfx9" load_acquire '(global|flat)_load_dword' 's_waitcnt vmcnt\(0\)' 'buffer_(inv|wbinvl1)' 'load_dword'
has gfx1030,gfx1100 load_acquire '(global|flat)_load' 's_waitcnt vmcnt\(0\)' 'buffer_gl(0|1)_inv'
has gfx1200 load_acquire '(global|flat)_load' 's_wait_loadcnt' 'global_inv scope:SCOPE_DEV'
has gfx942 store_release '(global|flat)_store_dword' 'buffer_wbl2 sc1' 's_waitcnt vmcnt\(0\)' '(global|flat)_store_dword.*sc1'

# gfx12 has a barrier in two halves. Both are in the wait: lanes of a wave that arrive in different branches would signal twice.
has "$gfx12" split_sync 's_barrier_signal -1' 's_barrier_wait (-1|0xffff)'

# No more instructions than ROCm's own cooperative groups have.
known=(gfx906 gfx90a gfx1030)
compared=0
while read -r name a b c more _; do
    [[ $name && $name != \#* ]] || continue
    theirs=("$a" "$b" "$c")
    for i in 0 1 2; do
        chip=${known[i]}
        ours=$(($(count "${name}__device" "$work/$chip.s") - $(count nothing__device "$work/$chip.s")))
        ((ours > 0 && ours <= theirs[i] + more)) || fail "$chip: $name has $ours instructions, ROCm's has ${theirs[i]}, $more more are allowed"
        compared=$((compared + 1))
    done
done <"$here/rocm.txt"
((compared == 21)) || fail "rocm.txt has $compared counts"

echo "isa: $failed failed"
((failed == 0))
