#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/setup.sh [--full] [--bench] [--retry]: see that what the build needs is there, and install what is missing where
# that is allowed (root, or sudo without a password; Debian 12 and 13, Ubuntu 24.04 and their kin). When something
# required cannot be installed, prints the one command that does it and exits with status 1.
#   --full   also what only the whole test run uses: a second compiler, cmake, gdb, nvcc from PyPI (in build-nvcc/) where there is
#            none, ...; never fatal when missing
#   --bench  also what benchmarks compare with and draw their plots by; never fatal when missing
#   --retry  try again to install extras that could not be installed before

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly min_meson=1.0.1
full=0 bench=0 retry=0
for arg in "$@"; do
    case $arg in
    --full) full=1 ;;
    --bench) bench=1 ;;
    --retry) full=1 retry=1 ;;
    *)
        warn "usage: scripts/setup.sh [--full] [--bench] [--retry]"
        exit 2
        ;;
    esac
done

has_header() { printf '#include <%s>\n' "$1" | gcc -E -x c - >/dev/null 2>&1; }
has_module() { pkg-config --exists "$1" 2>/dev/null; }
has_package() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
has_openmp() { has_package libomp-19-dev || compgen -G '/usr/lib*/llvm-19/lib/libomp.so' >/dev/null; }
have_llvm_headers() { compgen -G "/usr/lib/llvm-1[89]/include/llvm/Passes/PassPlugin.h" >/dev/null; }
has_sanitizers() { compgen -G '/usr/lib/llvm-19/lib/clang/*/lib/*/libclang_rt.asan*.a' >/dev/null; }
has_device_library() { compgen -G '/usr/lib/*/amdgcn/bitcode/ocml.bc' >/dev/null || [[ -f /opt/rocm/amdgcn/bitcode/ocml.bc ]]; }
has_venv() { have nvcc || python3 -c 'import ensurepip' >/dev/null 2>&1; }
has_meson() { have meson && version_ge "$(meson --version 2>/dev/null)" "$min_meson"; }
has_ninja() { have ninja || have ninja-build; }

# Each check names the package that answers it; with a|b the first one that the distribution has is taken.
missing=()
need() {
    local package=$1
    shift
    "$@" || missing+=("$package")
}
check_required() {
    missing=()
    need gcc have gcc
    need libc6-dev has_header stdio.h
    need g++ have g++
    need meson has_meson
    need ninja-build has_ninja
    need pkgconf have pkg-config
    need libcmocka-dev has_module cmocka
    need libpng-dev has_module libpng
    need python3 have python3
}
has_matplotlib() { python_with matplotlib >/dev/null; }
check_extras() {
    missing=()
    if ((bench)); then
        need opencl-headers has_header CL/cl.h
        need ocl-icd-opencl-dev has_module OpenCL
        need pocl-opencl-icd has_package pocl-opencl-icd
        need python3-matplotlib has_matplotlib
    fi
    ((full)) || return 0
    need git have git
    need "clang-19|clang" have clang-19
    need "llvm-19-dev|llvm-18-dev" have_llvm_headers
    need "libomp-19-dev|libomp-dev" has_openmp
    need libclang-rt-19-dev has_sanitizers
    need "lld-19|lld" have ld.lld-19
    need "llvm-19|llvm" have llvm-objdump-19
    need clang-15 have clang-15
    need rocm-device-libs has_device_library
    need python3-venv has_venv
    need cmake have cmake
    need gdb have gdb
    need clang-format-14 have clang-format-14
    need shellcheck have shellcheck
}

as_root=()
updated=0
may_install() {
    have apt-get || return 1
    ((EUID != 0)) || return 0
    sudo -n true 2>/dev/null || return 1
    as_root=(sudo -n)
}
apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" </dev/null
}
update_once() {
    ((updated == 0)) || return 0
    updated=1
    apt_get update >/dev/null 2>&1 || warn "apt-get update failed (offline?); going on with the lists that are there"
}
# command_for PACKAGE...: the one command for a person to run.
command_for() {
    local sudo="sudo "
    ((EUID != 0)) || sudo=
    printf '%s\n' "${sudo}apt-get update && ${sudo}apt-get install -y $*"
}
# candidates A|B ...: of each entry the first package that the distribution has, one a line.
candidates() {
    local entry package
    have apt-cache || return 0
    for entry in "$@"; do
        for package in ${entry//|/ }; do
            if [[ $(apt-cache policy "$package" 2>/dev/null) == *"Candidate: "[0-9]* ]]; then
                printf '%s\n' "$package"
                break
            fi
        done
    done
}
install_packages() {
    local log
    log=$(mktemp)
    if apt_get install --no-install-recommends --no-remove "$@" >"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    tail -n 15 "$log" | sed 's/^/    /' >&2
    rm -f "$log"
    return 1
}

# Required: all or nothing.
check_required
if ((${#missing[@]})); then
    if may_install; then
        say "installing ${missing[*]} ..."
        update_once
        install_packages "${missing[@]}" || warn "apt-get could not install all of: ${missing[*]}"
        check_required
    fi
    if ((${#missing[@]})); then
        warn "cgx needs, and does not find: ${missing[*]}"
        if [[ " ${missing[*]} " == *" meson "* ]] && have meson; then
            warn "meson $(meson --version) at $(command -v meson) is too old: $min_meson or newer is needed"
        fi
        if have apt-get; then
            warn "This command installs it:"
            warn "    $(command_for "${missing[@]}")"
        else
            warn "These are Debian's names; install the packages that your distribution has for them."
        fi
        exit 1
    fi
fi
((full || bench)) || exit 0

# nvcc of the version that the suite is known to pass with, in a folder of the tree's own; compilers alone, no driver.
readonly cuda=13.0
fetch_nvcc() {
    local venv=$root/build-nvcc log=$root/build-nvcc.log at
    [[ $(uname -m) == x86_64 ]] && has_venv || return 1
    say "fetching nvcc $cuda from PyPI ..."
    rm -rf -- "$venv"
    python3 -m venv "$venv" >"$log" 2>&1 && "$venv/bin/pip" install -q --disable-pip-version-check --no-cache-dir \
        "nvidia-"{cuda-nvcc,nvvm,cuda-crt,cuda-runtime,cuda-cccl}"==$cuda.*" >>"$log" 2>&1 || return 1
    at=$(find "$venv" -path '*/bin/nvcc' -type f -perm -u+x | head -n 1)
    [[ $at ]] || return 1
    at=${at%/bin/nvcc}
    ln -s lib "$at/lib64" # where nvcc looks
    ln -s "$at" "$own_cuda"
    rm -f "$log"
}
nvcc_if_possible() {
    local note=$root/.setup-tried-nvcc
    have nvcc && return
    ((retry)) || [[ ! -f $note ]] || return 0
    fetch_nvcc || {
        warn "going on without nvcc: the CUDA backend is left out"
        rm -rf -- "$root/build-nvcc"
        date >"$note"
    }
}

# Extras: whatever can be had. What could not be had is remembered, so that the next run does not ask again.
install_extras() {
    local tried=$root/.setup-tried package
    local -a new=() wanted
    ((full)) || tried+=-bench
    check_extras
    ((${#missing[@]})) || return 0
    ((retry)) || [[ ! -f $tried || $(<"$tried") != "${missing[*]}" ]] || return 0
    if may_install; then
        update_once
        mapfile -t wanted < <(candidates "${missing[@]}")
        for package in "${wanted[@]}"; do
            has_package "$package" || new+=("$package")
        done
        if ((${#new[@]})); then
            say "installing extras: ${new[*]} ..."
            if ! install_packages "${new[@]}"; then
                for package in "${new[@]}"; do
                    { ((${#new[@]} > 1)) && install_packages "$package"; } || warn "going on without $package"
                done
            fi
        fi
        check_extras
    else
        say "Some tests or comparisons will be left out; they use ${missing[*]%%|*} (Debian's names)."
        mapfile -t wanted < <(candidates "${missing[@]}")
        if ((${#wanted[@]})); then
            say "This command installs what can be had:"
            say "    $(command_for "${wanted[@]}")"
        fi
    fi
    printf '%s\n' "${missing[*]}" >"$tried"
}

install_extras
((full)) && nvcc_if_possible
exit 0
