#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/test.sh [--quick] [[--] meson test arguments...]: set up, build and run every test, run the same suites
# under AddressSanitizer and UndefinedBehaviorSanitizer, and check the tree itself (scripts/check.sh). The last line
# is the sum: N passed, N failed, N skipped. A build that fails counts as one failed test.
#   --quick  only the first build
# Example: scripts/test.sh --quick -- --suite cpu barrier

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

quick=0
while (($#)); do
    case $1 in
    -h | --help)
        sed -n '3,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    --quick) quick=1 ;;
    --)
        shift
        break
        ;;
    *) break ;;
    esac
    shift
done
args=("$@")
patience=() # before args, so that a -t of the caller wins

passed=0 failed=0 skipped=0
ran=()

# run_suites DIR: meson test in DIR; its results are added to the sums.
run_suites() {
    local dir=$1 status=0 p f s
    rm -f -- "$dir"/meson-logs/testlog*.json
    meson test -C "$dir" --no-rebuild --print-errorlogs "${patience[@]}" "${args[@]}" </dev/null || status=$?
    # One JSON object a line; a run that was broken off may leave half a line.
    read -r p f s < <(python3 - "$dir"/meson-logs/testlog*.json <<'PY'
import json
import sys

passed = failed = skipped = 0
for name in sys.argv[1:]:
    try:
        lines = open(name, encoding="utf-8", errors="replace").readlines()
    except OSError:
        continue
    for line in lines:
        try:
            result = json.loads(line)["result"]
        except (ValueError, KeyError):
            failed += 1
            continue
        if result in ("OK", "EXPECTEDFAIL"):
            passed += 1
        elif result in ("SKIP", "IGNORED"):
            skipped += 1
        else:
            failed += 1
print(passed, failed, skipped)
PY
    )
    # meson's own word counts too: no test may fail without a line in the log.
    if ((status != 0 && f == 0)); then
        warn "meson test ended with status $status"
        f=1
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    ran+=("$(basename "$dir"): $p passed, $f failed, $s skipped")
}

# build_and_run DIR [meson options...]
build_and_run() {
    local dir=$1
    shift
    say "" "== $(basename "$dir")"
    if configure "$dir" "$@" && compile "$dir" all meson-test-prereq; then
        run_suites "$dir"
    else
        failed=$((failed + 1))
        ran+=("$(basename "$dir"): does not build")
    fi
}

"$root/scripts/setup.sh" --full

# The kernels of the suite at the levels that run here; a few files have all. Where there is no GPU, meson has
# device code compiled in haste.
build_and_run "$root/build-test" -Dbuildtype=debugoptimized -Dkernels_cpu_arch=native

if ((!quick)); then
    # Fibers leave a stack and come back to it: the fake stacks of use-after-return do not follow them.
    export ASAN_OPTIONS="halt_on_error=1:abort_on_error=1:print_summary=1:detect_stack_use_after_return=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
    export UBSAN_OPTIONS="halt_on_error=1:abort_on_error=1:print_summary=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
    # Kernels that are not optimised, with what the sanitizers add, need more than the 64 KiB of a thread's stack.
    export CGX_CPU_STACK=${CGX_CPU_STACK:-131072}
    patience=(-t 4)
    export CGX_TEST_PATIENCE=4 # the programs' own alarms
    # -O1: gcc takes five times as long to optimise what sanitizers add. The host side of CUDA alone would be left of it.
    build_and_run "$root/build-asan" -Doptimization=1 -Ddebug=true -Dcuda=disabled -Db_sanitize=address,undefined -Db_lundef=false

    say "" "== checks"
    report=$("$root/scripts/check.sh" </dev/null) || true
    sum=${report##*$'\n'}
    if [[ $sum =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        say "${report%$'\n'*}"
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
        ran+=("checks: $sum")
    else
        say "$report"
        failed=$((failed + 1))
        ran+=("checks: broken off")
    fi
fi

say ""
for row in "${ran[@]}"; do
    say "$row"
done
if ((passed + failed == 0)); then
    warn "no test ran"
    failed=1
fi
say "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
