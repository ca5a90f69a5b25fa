#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/bench.sh [NAME...]: build and run the benchmarks bench/bench_NAME (all when none is named). Each prints a
# table; its rows {bench, case, value, unit, rival, rival_value, ratio} go to build/bench/NAME.json. A ratio above 1
# means that cgx is faster. A benchmark with a bench/plot_NAME.py has a plot too, build/bench/NAME.svg.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/setup.sh" --bench
build=$root/build
configure "$build" -Dbuildtype=release

compile "$build" build.ninja # meson runs again where a meson.build has changed
mapfile -t known < <(run_ninja -C "$build" -t targets all |
    sed -n 's,^bench/bench_\([A-Za-z0-9_-]*\): .*,\1,p' | sort -u)
if ((${#known[@]} == 0)); then
    warn "this tree has no benchmarks"
    exit 1
fi

names=("$@")
((${#names[@]})) || names=("${known[@]}")
for name in "${names[@]}"; do
    if [[ " ${known[*]} " != *" $name "* ]]; then
        warn "no benchmark named $name; there are: ${known[*]}"
        exit 2
    fi
done

compile "$build" "${names[@]/#/bench/bench_}"

status=0
for name in "${names[@]}"; do
    say "== $name"
    json=$build/bench/$name.json
    rm -f -- "$json"
    if ! "$build/bench/bench_$name" --json "$json" </dev/null; then
        warn "bench_$name failed"
        status=1
    elif [[ ! -s $json ]]; then
        warn "bench_$name wrote no $json"
        status=1
    else
        say "rows: $json"
        plot=$root/bench/plot_$name.py
        if [[ -f $plot ]]; then
            if ! python=$(python_with matplotlib); then
                warn "no plot: matplotlib is not here (Debian: python3-matplotlib)"
            elif ! "$python" "$plot" "$json" "${json%.json}.svg"; then
                status=1
            fi
        fi
    fi
    say ""
done
exit "$status"
