# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts of this folder: where the tree is, configuring a build folder, quiet steps.

set -euo pipefail

export root
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Where nvcc may be besides: the toolkit's usual place, and what setup.sh --full has fetched.
readonly own_cuda=$root/build-nvcc/cuda
PATH=$PATH:/usr/local/cuda/bin:$own_cuda/bin

say() { printf '%s\n' "$@"; }
warn() { printf '%s\n' "$@" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# version_ge A B: is version A at least B? Dotted numbers; a suffix such as .rc1 is ignored.
version_ge() {
    local -a a b
    local i x y
    IFS=. read -r -a a <<<"$1"
    IFS=. read -r -a b <<<"$2"
    for i in 0 1 2; do
        x=${a[i]:-0} y=${b[i]:-0}
        x=${x%%[!0-9]*} y=${y%%[!0-9]*}
        ((10#${x:-0} > 10#${y:-0})) && return 0
        ((10#${x:-0} < 10#${y:-0})) && return 1
    done
    return 0
}

# python_with MODULE: a Python that has it. The distribution's packages are those of /usr/bin's.
python_with() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import $1" >/dev/null 2>&1; then
            printf '%s\n' "$python"
            return 0
        fi
    done
    return 1
}

# quietly LOG CMD...: output goes to LOG; when CMD fails the end of LOG is shown and its status returned.
quietly() {
    local log=$1 status=0 part
    shift
    part=$(mktemp)
    "$@" >"$part" 2>&1 || status=$?
    mkdir -p "$(dirname "$log")"
    mv -- "$part" "$log"
    if ((status)); then
        warn "failed with status $status: $*"
        tail -n 40 "$log" | sed 's/^/    /' >&2
        warn "the whole log: $log"
    fi
    return "$status"
}

# configure DIR [meson options...]: run meson setup unless DIR was configured the same way before. A folder that came
# from another place, another meson, other compilers or other options is wiped and configured anew; one that somebody
# configured by hand is used as it is.
configure() {
    local dir=$1 stamp=$1/.cgx-configured want
    local -a mode=()
    shift
    want="$root | meson $(meson --version) | ${CC-} ${CXX-} | ${CFLAGS-} ${CXXFLAGS-} ${LDFLAGS-} | $*"
    if [[ -f $dir/build.ninja ]]; then
        [[ -f $stamp ]] || return 0
        [[ $(<"$stamp") != "$want" ]] || return 0
        mode=(--wipe)
    fi
    say "configuring $(basename "$dir")/ ..."
    quietly "$dir/setup.log" meson setup "${mode[@]}" "$dir" "$root" "$@" || return
    printf '%s\n' "$want" >"$stamp"
}

# Some distributions call it ninja-build.
run_ninja() {
    if have ninja; then ninja "$@"; else ninja-build "$@"; fi
}

# compile DIR [ninja targets...]: quiet unless it fails.
compile() {
    local dir=$1
    shift
    if run_ninja -C "$dir" -n "$@" 2>/dev/null | grep -q 'no work to do'; then
        return 0
    fi
    say "compiling in $(basename "$dir")/ ..."
    quietly "$dir/compile.log" run_ninja -C "$dir" "$@"
}
