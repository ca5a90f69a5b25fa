#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/parity.sh [BACKEND]: rows of tests/parity_rows.txt that no test of BACKEND (cpu; cpu-compiled, cuda, hip) names in a comment
# `rows: B06 B08`. Prints them and exits 1 if there are any. Which test runs where is the meson suite of its folder.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
backend=${1:-cpu}
case $backend in
cpu | cpu-compiled | cuda | hip) ;;
*)
    echo "usage: scripts/parity.sh [cpu|cpu-compiled|cuda|hip]" >&2
    exit 2
    ;;
esac

# Folders with a test in the backend's suite.
declare -a folders=()
while IFS= read -r build; do
    if grep -qE "suite: *(\[[^]]*)?'$backend'" "$build" ||
        { [[ $backend == cpu-compiled ]] && grep -qE 'foreach [a-z]+, env : compiled_runs' "$build"; } ||
        { [[ $backend != cpu* ]] && grep -q 'foreach gpu, env : gpu_suites' "$build"; }; then
        folders+=("$(dirname "$build")")
    fi
done < <(find "$root/tests" -name meson.build | sort)
if ((${#folders[@]} == 0)); then
    echo "no test has the suite '$backend'" >&2
    exit 1
fi

# A comment may go over several lines: from "rows:" the row ids that follow one another, over line ends too.
named=$(find "${folders[@]}" -maxdepth 1 -type f -regex '.*\.\(c\|h\|cc\|sh\)' -print0 |
    xargs -0 cat | tr '\n' ' ' | grep -oE 'rows:([ *#]+[A-Z][0-9]{2})+' | grep -oE '[A-Z][0-9]{2}' | sort -u || true)

missing=0
while read -r row text; do
    if ! grep -qx "$row" <<<"$named"; then
        echo "$row $text"
        missing=$((missing + 1))
    fi
done < <(grep -E '^[A-Z][0-9]{2} ' "$root/tests/parity_rows.txt")

known=$(grep -oE '^[A-Z][0-9]{2} ' "$root/tests/parity_rows.txt" | tr -d ' ')
for row in $named; do # a slip of the pen is a row nobody has
    if ! grep -qx "$row" <<<"$known"; then
        echo "$row is named by a test and is no row"
        missing=$((missing + 1))
    fi
done
if ((missing)); then
    echo "$missing rows have no test on $backend" >&2
    exit 1
fi
echo "every row has a test on $backend"
