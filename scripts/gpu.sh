#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/gpu.sh [options] [-- options of meson test...]: on a machine with an NVIDIA GPU, build, run the shared suite on it,
# and the benchmarks. No network is needed. The last line is the sum: N passed, N failed, N skipped.
#   --packages DIR   Debian packages to use besides what is installed: .deb files, or their unpacked content (CMocka, say)
#   --build DIR      where to build (default: build-gpu in the tree); DIR-plain and DIR/bench come beside and below it
#   --no-suite --no-plain --no-sanitizer --no-bench    leave that part out
#   --sanitizer-tests REGEX   which programs compute-sanitizer runs (default: all of the suite)
# Parts: the suite with overlays, the suite without (CGX_NO_OVERLAYS), compute-sanitizer's memcheck, racecheck and synccheck on
# the suite where it is installed, the benchmarks.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages='' build=$root/build-gpu suite=1 plain=1 sanitizer=1 bench=1 sanitizer_tests=.
while (($#)); do
    case $1 in
    --packages) packages=$(cd "$2" && pwd) && shift ;;
    --build) build=$2 && shift ;;
    --no-suite) suite=0 ;;
    --no-plain) plain=0 ;;
    --no-sanitizer) sanitizer=0 ;;
    --no-bench) bench=0 ;;
    --sanitizer-tests) sanitizer_tests=$2 && shift ;;
    --)
        shift
        break
        ;;
    *)
        sed -n '3,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 2
        ;;
    esac
    shift
done
args=("$@")

PATH=$PATH:/usr/local/cuda/bin
have nvcc || { warn "nvcc is not installed" && exit 77; }
have nvidia-smi || { warn "no NVIDIA driver: nvidia-smi is not there" && exit 77; }
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -uV | tr -d . | paste -sd,) || true
[[ $arch =~ ^[0-9,]+$ ]] || { warn "nvidia-smi finds no GPU" && exit 77; }
nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader

# ---- packages that are not installed ----
if [[ $packages ]]; then
    unpacked=$build-packages
    mkdir -p "$unpacked"
    if compgen -G "$packages/*.deb" >/dev/null; then
        for deb in "$packages"/*.deb; do dpkg -x "$deb" "$unpacked"; done
    else
        unpacked=$packages
    fi
    # Their .pc files say /usr, with a prefix or without; PKG_CONFIG_SYSROOT_DIR would move those of installed packages too.
    mkdir -p "$build-packages/pc"
    while IFS= read -r pc; do
        sed "s,\\(=\\|-I\\|-L\\)/usr\\>,\\1$unpacked/usr,g" "$pc" >"$build-packages/pc/${pc##*/}"
        libraries=$(dirname "$(dirname "$pc")")
        export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done < <(find "$unpacked/usr" -name '*.pc')
    export PKG_CONFIG_PATH=$build-packages/pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
fi

passed=0 failed=0 skipped=0
ran=()

# result NAME TESTLOG STATUS: adds the results of a run; names what failed and what was skipped.
result() {
    local name=$1 log=$2 status=$3 sum p f s
    sum=$(python3 - "$log" <<'PY'
import json, sys
rows = {"ok": [], "failed": [], "skipped": []}
try:
    lines = open(sys.argv[1], encoding="utf-8", errors="replace").readlines()
except OSError:
    lines = []
for line in lines:
    try:
        r = json.loads(line)
    except ValueError:
        continue
    kind = {"OK": "ok", "EXPECTEDFAIL": "ok", "SKIP": "skipped", "IGNORED": "skipped"}.get(r["result"], "failed")
    rows[kind].append(r["name"].split(":")[-1].split("/")[-1].strip() + ("" if kind != "failed" else " (" + r["result"] + ")"))
print(len(rows["ok"]), len(rows["failed"]), len(rows["skipped"]))
for kind in ("failed", "skipped"):
    if rows[kind]:
        print(kind + ":", ", ".join(rows[kind]))
PY
    )
    read -r p f s <<<"${sum%%$'\n'*}"
    if ((status != 0 && f == 0)) || ((p + f + s == 0)); then f=$((f + 1)); fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    ran+=("$name: $p passed, $f failed, $s skipped$([[ $sum == *$'\n'* ]] && printf '\n    %s' "${sum#*$'\n'}")")
}

# programs DIR REGEX: names of tests of the suite cuda, one a line; of those that were built.
programs() {
    meson introspect --tests "$1" | python3 -c '
import json, os, re, sys
for test in json.load(sys.stdin):
    if any(s.split(":")[-1] == "cuda" for s in test["suite"]) and re.search(sys.argv[1], test["name"]) and os.path.exists(test["cmd"][0]):
        print(test["name"])
' "$2"
}

# tests NAME DIR [meson test arguments...]
tests() {
    local name=$1 dir=$2 log status=0
    log=${name//[^a-z]/-}
    shift 2
    say "" "== $name"
    rm -f -- "$dir/meson-logs/testlog-$log.json"
    meson test -C "$dir" --no-rebuild --print-errorlogs --logbase "testlog-$log" "$@" </dev/null || status=$?
    result "$name" "$dir/meson-logs/testlog-$log.json" "$status"
}

# built DIR [meson options...]: builds all that can be built, so that one file's failure does not hide the rest.
built() {
    local dir=$1
    shift
    if configure "$dir" -Dbuildtype=release -Dcuda=enabled -Dhip=disabled "-Dkernels_cuda_arch=$arch" "$@" &&
        quietly "$dir/compile.log" run_ninja -C "$dir" -k 0 all meson-test-prereq meson-benchmark-prereq; then
        return 0
    fi
    failed=$((failed + 1))
    ran+=("$(basename "$dir"): does not build: $(grep '^FAILED:' "$dir/compile.log" 2>/dev/null | sed 's/FAILED: //' | paste -sd' ')")
    [[ -f $dir/build.ninja ]]
}

built "$build" -Dexamples=enabled || exit 1
"$build/tools/cgxinfo/cgxinfo"
if ((suite)); then
    mapfile -t names < <(programs "$build" .)
    tests "suite" "$build" "${args[@]}" "${names[@]}"
fi
if ((plain)) && built "$build-plain" -Dc_args=-DCGX_NO_OVERLAYS -Dbench=disabled -Dexamples=disabled; then
    mapfile -t names < <(programs "$build-plain" .)
    tests "suite without overlays" "$build-plain" "${args[@]}" "${names[@]}"
fi
if ((sanitizer)); then
    if have compute-sanitizer; then
        # Programs that mean to fail are none of it: those are API errors, which the suite checks itself.
        mapfile -t names < <(programs "$build" "$sanitizer_tests")
        export CGX_TEST_SMALL=1
        for tool in memcheck racecheck synccheck; do
            tests "$tool" "$build" -t 5 "${names[@]}" \
                --wrapper "compute-sanitizer --tool $tool --report-api-errors no --target-processes all --error-exitcode 86"
        done
        unset CGX_TEST_SMALL
    else
        say "" "compute-sanitizer is not installed: memcheck, racecheck and synccheck are left out"
    fi
fi
if ((bench)); then
    for program in "$build"/bench/cuda/bench_cuda_*; do
        [[ -x $program && -f $program ]] || continue
        name=${program##*/bench_}
        say "" "== $name"
        if "$program" --json "$build/bench/$name.json" </dev/null; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            ran+=("$name: failed")
        fi
    done
fi

say ""
for row in "${ran[@]}"; do say "$row"; done
say "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
