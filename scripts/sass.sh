#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/sass.sh [--chips LIST] [--build DIR] [KERNEL...]: compile tests/sass/*_kernels.c, and the representative file of
# the language tests, with cgxcc for every CUDA chip; print which instructions each primitive became, and fail when one that
# tests/sass/instructions.txt names is not there. No GPU is needed. Exit status 77 without nvcc, or where the disassemblers are
# not installed and cannot be fetched.
#   --chips LIST   75,80,... (default: all that cgxcc builds for)
#   --build DIR    a configured build folder (default: build-test, else build)
#   --source FILE --bytes FILE  other files, of the same names
#   KERNEL         print the whole code of these kernels instead

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly tool_version=13.2.78 # of nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm
chips='' build='' source=$root/tests/sass/sass_kernels.c bytes=$root/tests/sass/bytes_kernels.c
while (($#)); do
    case $1 in
    --chips) chips=$2 && shift ;;
    --build) build=$2 && shift ;;
    --source) source=$2 && shift ;;
    --bytes) bytes=$2 && shift ;;
    -*)
        sed -n '3,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 2
        ;;
    *) break ;;
    esac
    shift
done

have nvcc || { say "no nvcc here" && exit 77; }
if [[ -z $build ]]; then
    build=$root/build-test
    [[ -f $build/build.ninja ]] || build=$root/build
    configure "$build" -Dbuildtype=release
fi
cgxcc=$build/tools/cgxcc/cgxcc
[[ -x $cgxcc ]] || compile "$build" tools/cgxcc/cgxcc

# ---- the disassemblers: from the toolkit, or in a virtual environment of this script's ----
if ! have cuobjdump || ! have nvdisasm; then
    tools=$root/build-sass-tools
    bin=$tools/bin-$tool_version
    if [[ ! -x $bin/cuobjdump || ! -x $bin/nvdisasm ]]; then
        rm -rf -- "$tools"
        mkdir -p "$bin"
        if ! python3 -m venv "$tools/venv" >"$tools/log" 2>&1 ||
            ! "$tools/venv/bin/pip" install -q --disable-pip-version-check "nvidia-cuda-cuobjdump==$tool_version" \
                "nvidia-cuda-nvdisasm==$tool_version" >>"$tools/log" 2>&1; then
            tail -n 3 "$tools/log" >&2
            say "cuobjdump and nvdisasm are not installed, and PyPI has not given them"
            exit 77
        fi
        for tool in cuobjdump nvdisasm; do
            ln -s "$(find "$tools/venv" -type f -name "$tool" -perm -u+x | head -n 1)" "$bin/$tool"
        done
    fi
    PATH=$bin:$PATH
fi

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
includes=()
for folder in api backends/cpu/include backends/gpu/include backends/cuda/include; do includes+=("-I$root/$folder"); done
arch=()
[[ -z $chips ]] || arch=("--cuda-arch=$chips")
for file in "$source" "$bytes" "$root/tests/language/representative.c"; do
    name=$(basename "$file" .c)
    "$cgxcc" --backends=cpu,cuda "${arch[@]}" --cpu-arch=base -std=c11 -O2 -Wall -Wextra -pedantic -Werror "${includes[@]}" \
        -c "$file" -o "$work/$name.o" || { say "$file does not compile" && exit 1; }
done
python3 "$root/tests/sass/sass.py" "$work" "$root/tests/sass/instructions.txt" "$@"
