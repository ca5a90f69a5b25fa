#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/check.sh [--fix]: checks of the tree itself, no build needed. One line a check, then N passed, N failed, N
# skipped. --fix formats the C files first.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"
if (($# > 1)) || [[ ${1---fix} != --fix ]]; then
    warn "usage: scripts/check.sh [--fix]"
    exit 2
fi
fix=$#

passed=0 failed=0 skipped=0
pass() {
    say "ok    $1"
    passed=$((passed + 1))
}
skip() {
    say "skip  $1: $2"
    skipped=$((skipped + 1))
}
# verdict NAME ADVICE [finding...]: no finding is a pass.
verdict() {
    local name=$1 advice=$2
    shift 2
    if (($# == 0)); then
        pass "$name"
        return
    fi
    say "FAIL  $name: $advice"
    printf '      %s\n' "${@:1:25}"
    (($# <= 25)) || say "      ... and $(($# - 25)) more"
    failed=$((failed + 1))
}

# files PATTERN...: what git tracks, and what it would if added now; never build output.
files() {
    local file
    git ls-files --cached --others --exclude-standard --deduplicate -- "$@" | while IFS= read -r file; do
        [[ ! -f $file ]] || printf '%s\n' "$file"
    done
}

check_format() {
    local tool=${CLANG_FORMAT-} version before
    local -a bad=() all
    if [[ -z $tool ]]; then
        if have clang-format-14; then tool=clang-format-14; else tool=clang-format; fi
    fi
    have "$tool" || { skip format "clang-format 14 is not installed" && return; }
    version=$("$tool" --version)
    [[ $version == *"version 14."* ]] || { skip format "needs clang-format 14, this is: $version" && return; }
    mapfile -t all < <(files '*.c' '*.h' 'backends/cpu/pass/*.cpp')
    # Until nothing changes: clang-format breaks a long macro with several calls a line one line a pass.
    while ((fix)); do
        before=$(cksum -- "${all[@]}")
        printf '%s\0' "${all[@]}" | xargs -0 -r "$tool" --style=file -i
        [[ $(cksum -- "${all[@]}") != "$before" ]] || break
    done
    mapfile -t bad < <(printf '%s\0' "${all[@]}" | xargs -0 -r "$tool" --style=file --dry-run 2>&1 |
        sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: .*clang-format-violations.*/\1/p' | sort -u)
    verdict format "scripts/check.sh --fix changes these:" "${bad[@]}"
}

check_spdx() {
    local file
    local -a bad=() all
    mapfile -t all < <(files '*.c' '*.h' '*.cc' '*.cpp' '*.cu' '*.cuh' '*.S' '*.sh' '*.py' '.ci/run' \
        '*meson.build' '*meson.options' '*meson_options.txt')
    for file in "${all[@]}"; do
        head -n 3 -- "$file" | grep -q 'SPDX-License-Identifier: MIT' || bad+=("$file")
    done
    verdict spdx "no SPDX-License-Identifier: MIT in the first three lines of" "${bad[@]}"
}

check_paths() {
    local -a bad=() all
    mapfile -t all < <(files)
    # A folder of the machine that built it, at the start of a path: not /usr/src/work/, not ${x}/home/.
    mapfile -t bad < <(printf '%s\0' "${all[@]}" |
        xargs -0 -r grep -InE '(^|[^[:alnum:]_.~/})>-]|-[IL])/(work|home|root)/' -- /dev/null | cut -c 1-160)
    verdict paths "paths of one machine in" "${bad[@]}"
}

# A test counts when a meson.build names it, or a script, Makefile or CMakeLists.txt beside it that is part of a test
# does; scripts count when a meson.build names them.
check_tests_named() {
    local file name stem builds beside
    local -a bad=() all
    builds=$(files '*meson.build' | tr '\n' '\0' | xargs -0 -r cat)
    mapfile -t all < <(files 'tests/*.c' 'tests/*.sh')
    ((${#all[@]})) || { skip tests "there are no tests" && return; }
    for file in "${all[@]}"; do
        name=$(basename "$file")
        stem=${name%.*}
        grep -qE "['/]$stem\.(c|sh)'|'$stem'" <<<"$builds" && continue
        beside=$(find "$(dirname "$file")" -maxdepth 1 '(' -name '*.sh' -o -name Makefile -o -name CMakeLists.txt ')' \
            ! -name "$name" -exec cat {} +)
        [[ $name == *.c ]] && grep -qE "(^|[^[:alnum:]_])$stem\.[co]([^[:alnum:]_]|$)" <<<"$beside" && continue
        bad+=("$file")
    done
    verdict tests "no build file names" "${bad[@]}"
}

# The text of CHANGELOG's section Unreleased, without blank lines and headings.
unreleased() {
    awk '/^## /{on = ($0 ~ /Unreleased/); next} on && NF && !/^#/' CHANGELOG.md
}

check_changelog() {
    local tag text header words
    local -a bad=() changed
    text=$(unreleased)
    tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || tag=
    if [[ -z $tag ]]; then
        [[ -n $text ]] || bad=("the section is empty")
        verdict changelog "CHANGELOG.md, Unreleased:" "${bad[@]}"
        return
    fi
    mapfile -t changed < <(git diff --name-only "$tag" -- 'api/*.h')
    for header in "${changed[@]}"; do
        # The header's name, or any public name of a changed line, must stand in the section.
        words=$(git diff -U0 "$tag" -- "$header" | grep -E '^[-+][^-+]' | grep -oE '\<(cgx_|CGX_)[A-Za-z0-9_]+' | sort -u) || true
        grep -qwF -f <(printf '%s\n' "$(basename "$header")" "$words" | sed '/^$/d') <<<"$text" || bad+=("$header")
    done
    verdict changelog "changed since $tag without a line in CHANGELOG.md, Unreleased:" "${bad[@]}"
}

check_shell() {
    local out
    local -a all bad=()
    mapfile -t all < <(files 'scripts/*.sh' '.ci/run')
    have shellcheck || { skip shell "shellcheck is not installed" && return; }
    out=$(shellcheck -x -S warning -f gcc "${all[@]}") || mapfile -t bad <<<"$out"
    verdict shell "shellcheck says" "${bad[@]}"
}

if git rev-parse --git-dir >/dev/null 2>&1; then
    check_format
    check_spdx
    check_paths
    check_tests_named
    check_changelog
    check_shell
else
    for name in format spdx paths tests changelog shell; do
        skip "$name" "not a git checkout"
    done
fi

say "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
