#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh ROOT WORK
#
# Compiles every public header alone, and one kernel file that uses all of the kernel language, with every compiler
# that is here. A warning is a failure. Compilers that are missing are named and left out.
# rows: K04 K05 K06 K08
set -u
root=$(cd "$1" && pwd)
work=$2
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C

includes=(-I"$root/api" -I"$root/backends/cpu/include" -I"$here")
warnings=(-Wall -Wextra -pedantic -Werror)
mapfile -t headers < <(cd "$root/api" && ls cgx.h cgx/*.h; cd "$root/backends/cpu/include" && ls cgx/*.h)

# One file a header, and each once more inside extern "C".
rm -rf "$work"
mkdir "$work"
for h in "${headers[@]}"; do
    name=${h//\//_}
    printf '#include <%s>\nint use_%s;\n' "$h" "${name%.h}" >"$work/${name%.h}.c"
    printf 'extern "C" {\n#include <%s>\n}\nint use_%s;\n' "$h" "${name%.h}" >"$work/${name%.h}.cc"
done

# attempt NAME COMMAND...: silence is success. Warnings that -Werror does not catch count too.
attempt() {
    local what=$1 said
    shift
    echo >>"$work/attempts.$BASHPID"
    if ! said=$("$@" 2>&1 </dev/null) || [[ -n $said ]]; then
        echo >>"$work/failures.$BASHPID"
        printf 'FAIL %s\n  %s\n%s\n' "$what" "$*" "$said" | head -n 25
    fi
}

have() { command -v "$1" >/dev/null || { echo "not here: $1"; return 1; }; }

# An older clang has nothing to say about a single header that the newer one has not: the umbrella is enough for it.
files() { if [[ $1 == *-14 ]] && command -v "${1%14}19" >/dev/null; then echo "$work/cgx.c"; else printf '%s\n' "$work"/*.c; fi; }

# with_c COMPILER: the full set with C11, the kernels with C2x.
with_c() {
    local compiler=$1 f all
    have "$compiler" || return
    mapfile -t all < <(files "$compiler")
    for f in "${all[@]}"; do
        attempt "$compiler ${f##*/}" "$compiler" -std=c11 "${warnings[@]}" "${includes[@]}" -fsyntax-only "$f"
    done
    # Some warnings come from the optimiser.
    attempt "$compiler kernels" "$compiler" -std=c11 "${warnings[@]}" "${includes[@]}" -O2 \
        -c "$here/representative.c" -o "$work/$compiler.o"
    attempt "$compiler -O0 kernels" "$compiler" -std=c11 "${warnings[@]}" "${includes[@]}" -O0 -fsyntax-only \
        "$here/representative.c"
    if "$compiler" -std=c2x -x c -fsyntax-only /dev/null >/dev/null 2>&1; then
        attempt "$compiler -std=c2x kernels" "$compiler" -std=c2x "${warnings[@]}" "${includes[@]}" -fsyntax-only \
            "$here/representative.c"
    else
        echo "$compiler does not know -std=c2x"
    fi
}

# with_cxx COMPILER
with_cxx() {
    local compiler=$1 f all
    have "$compiler" || return
    mapfile -t all < <(files "$compiler")
    for f in "${all[@]}" "$work/cgx.cc"; do
        attempt "$compiler ${f##*/}" "$compiler" -x c++ -std=c++17 "${warnings[@]}" "${includes[@]}" -fsyntax-only "$f"
    done
    attempt "$compiler kernels" "$compiler" -x c++ -std=c++17 "${warnings[@]}" "${includes[@]}" -O1 \
        -c "$here/representative.c" -o "$work/$compiler.o"
}

# Two at a time.
(with_c gcc; with_c clang-14; with_c clang-19) &
with_cxx g++
for f in "$work"/*.cc; do
    attempt "g++ extern \"C\" ${f##*/}" g++ -std=c++17 "${warnings[@]}" "${includes[@]}" -fsyntax-only "$f"
done
with_cxx clang++-14
with_cxx clang++-19
wait

# The device passes, once there are headers for them.
if [[ -f $root/backends/gpu/include/cgx/gpu_group.h ]]; then
    device=("${includes[@]}")
    for folder in "$root"/backends/{gpu,cuda,hip}/include; do
        [[ -d $folder ]] && device+=(-I"$folder")
    done
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    if [[ -x $nvcc ]]; then
        for f in "$work/cgx.c" "$here/representative.c"; do
            attempt "nvcc ${f##*/}" "$nvcc" -x cu -std=c++17 "${device[@]}" -ptx "$f" -o "$work/out.ptx"
        done
    else
        echo "not here: nvcc"
    fi
    if have clang-19; then
        for f in "$work/cgx.c" "$here/representative.c"; do
            attempt "HIP ${f##*/}" clang-19 -x hip -std=c++17 "${warnings[@]}" "${device[@]}" -fsyntax-only \
                --offload-device-only --offload-arch=gfx90a -nogpulib -nogpuinc "$f"
        done
    fi
fi

lines() { cat "$work/$1".* 2>/dev/null | wc -l; }
failed=$(lines failures)
echo "${#headers[@]} headers, $(lines attempts) compilations, $failed failed"
((failed == 0))
