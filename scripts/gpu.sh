#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/gpu.sh [options]: on a machine with an NVIDIA GPU, build, run the shared suite on it, and the benchmarks. No network
# is needed. The last line is the sum: N passed, N failed, N skipped.
#   --packages DIR   Debian packages to use besides what is installed: .deb files, or their unpacked content (CMocka, say)
#   --build DIR      where to build (default: build-gpu in the tree); DIR-plain and DIR-older come beside it
#   --only REGEX     these tests only
#   --no-suite --no-plain --no-older --no-sanitizer --no-bench    leave that part out
#   --sanitizer-only REGEX   these tests only under compute-sanitizer
#   --pack FILE      build only, and put the programs into an archive; no GPU is needed for that. With --arch LIST
#   --unpack FILE    use the programs of such an archive instead of building
# Parts: the suite with overlays, the suite without (CGX_NO_OVERLAYS), barriers and copies by the code for sm_80 (a newer GPU runs
# its PTX), the benchmarks, and where it is installed compute-sanitizer's memcheck, racecheck and synccheck on the suite: nothing may be
# reported but what tests/cuda/sanitizer.txt has, which is proved by programs without cgx.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages='' build=$root/build-gpu suite=1 plain=1 older=1 sanitizer=1 bench=1 only=. sanitizer_only=. pack='' unpack='' arch=''
while (($#)); do
    case $1 in
    --packages) packages=$(cd "$2" && pwd) && shift ;;
    --build) build=$(realpath -m "$2") && shift ;;
    --only) only=$2 && shift ;;
    --no-suite) suite=0 ;;
    --no-plain) plain=0 ;;
    --no-older) older=0 ;;
    --no-sanitizer) sanitizer=0 ;;
    --no-bench) bench=0 ;;
    --sanitizer-only) sanitizer_only=$2 && shift ;;
    --pack) pack=$(realpath -m "$2") && shift ;;
    --unpack) unpack=$(realpath "$2") && shift ;;
    --arch) arch=$2 && shift ;;
    *)
        sed -n '3,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 2
        ;;
    esac
    shift
done

[[ $unpack ]] || have nvcc || { warn "nvcc is not installed" && exit 77; }
if [[ ! $pack ]]; then
    have nvidia-smi || { warn "no NVIDIA driver: nvidia-smi is not there" && exit 77; }
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -uV | tr -d . | paste -sd,) || true
    [[ $arch =~ ^[0-9,]+$ ]] || { warn "nvidia-smi finds no GPU" && exit 77; }
    nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader
fi

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
    done < <(find "$unpacked/usr" -name '*.pc')
    while IFS= read -r libraries; do # for programs that were built elsewhere, there is no more than this
        export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done < <(find "$unpacked/usr" -name 'lib*.so.*' -printf '%h\n' | sort -u)
    export PKG_CONFIG_PATH=$build-packages/pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
fi

passed=0 failed=0 skipped=0
ran=()

targets=(all meson-test-prereq meson-benchmark-prereq)
# built DIR [meson options...]: builds all that can be built, so that one file's failure does not hide the rest.
built() {
    local dir=$1
    shift
    [[ ! $unpack ]] || return 0
    if configure "$dir" -Dbuildtype=release -Dcuda=enabled -Dhip=disabled "-Dkernels_cuda_arch=${arch:-90}" \
        -Dkernels_cpu_arch=base -Dpass=disabled "$@" &&
        quietly "$dir/compile.log" run_ninja -C "$dir" -k 0 "${targets[@]}"; then
        return 0
    fi
    failed=$((failed + 1))
    ran+=("$(basename "$dir"): does not build: $(grep '^FAILED:' "$dir/compile.log" 2>/dev/null | sed 's/FAILED: //' | paste -sd' ')")
    [[ -f $dir/build.ninja ]]
}

# count NAME LOG: the log's last line is a sum.
count() {
    local name=$1 log=$2 p f s
    if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[3]}
    else
        p=0 f=1 s=0
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    ran+=("$name: $p passed, $f failed, $s skipped$(sed -n 's/^failed: /\n    failed: /p' "$log")")
}
# tests NAME DIR [arguments of run_suite.py...]
tests() {
    local name=$1 dir=$2 log=$2/$1.log
    shift 2
    say "" "== $name"
    python3 "$root/scripts/run_suite.py" "$dir" cuda "$@" | tee "$log" || true
    count "$name" "$log"
}

if [[ $unpack ]]; then
    mkdir -p "$build" "$build-plain"
    tar -xf "$unpack" -C "$(dirname "$build")" --transform "s,^gpu,$(basename "$build"),"
    [[ -d $build-plain/meson-info ]] || plain=0
    [[ -d $build-older/meson-info ]] || older=0
fi
built "$build" -Dexamples=enabled || exit 1
if ((plain)); then built "$build-plain" -Dc_args=-DCGX_NO_OVERLAYS -Dbench=disabled -Dexamples=disabled || plain=0; fi

# Programs that launch no clusters, which that code does not have, and no kernels from kernels, of which there is no PTX.
older_tests='^cuda-(async|mbarrier|northstar|memory-phases|memory-polling)$|^cuda$'
if ((older)); then
    targets=(tests/device/test_{async,mbarrier,northstar} tests/memory/test_memory_{phases,polling} tests/cuda/test_cuda)
    built "$build-older" -Dkernels_cuda_arch=80 -Dbench=disabled -Dexamples=disabled || older=0
fi

if [[ $pack ]]; then
    work=$(mktemp -d)
    for part in '' -plain -older; do
        [[ -d $build$part/meson-info ]] || continue
        mkdir -p "$work/gpu$part/meson-info"
        cp "$build$part"/meson-info/{meson-info,intro-tests}.json "$work/gpu$part/meson-info"
        (cd "$build$part" && find . -path '*.p' -prune -o '(' -perm -u+x -o -name 'lib*.so*' ')' -type f -print |
            grep -E '^\./(lib|tests/|bench/|examples/|tools/)' | tar -cf - -T -) | tar -xf - -C "$work/gpu$part"
        find "$work/gpu$part" -type f ! -name '*.json' -exec strip --strip-debug {} + 2>/dev/null || true
        (cd "$build$part" && for so in lib*.so lib*.so.?; do [[ ! -L $so ]] || cp -P "$so" "$work/gpu$part/"; done)
    done
    tar -C "$work" -caf "$pack" .  --transform 's,^\./,,'
    rm -rf -- "$work"
    for row in "${ran[@]}"; do say "$row"; done
    ls -l "$pack"
    exit 0
fi

"$build/tools/cgxinfo/cgxinfo"
if ((suite)); then tests suite "$build" --only "$only"; fi
if ((plain)); then tests plain "$build-plain" --only "$only"; fi
if ((older)); then tests older "$build-older" --only "$older_tests"; fi
if ((bench)); then
    for program in "$build"/bench/cuda/bench_cuda_*; do
        [[ -x $program && -f $program ]] || continue
        name=${program##*/bench_}
        say "" "== $name"
        status=0
        "$program" --json "$build/bench/$name.json" </dev/null || status=$?
        case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *)
            failed=$((failed + 1))
            ran+=("$name: failed")
            ;;
        esac
    done
fi
if ((sanitizer)); then
    if have compute-sanitizer; then
        say "" "== compute-sanitizer"
        proof=()
        if [[ -x $build/tests/cuda/sanitizer_limits ]]; then proof=(--limits "$build/tests/cuda/sanitizer_limits"); fi
        python3 "$root/scripts/run_sanitizer.py" "$build" cuda "$root/tests/cuda/sanitizer.txt" --only "$sanitizer_only" \
            --logs "$build/sanitizer" "${proof[@]}" | tee "$build/sanitizer.log" || true
        count sanitizer "$build/sanitizer.log"
    else
        say "" "compute-sanitizer is not installed: memcheck, racecheck and synccheck are left out"
    fi
fi

say ""
for row in "${ran[@]}"; do say "$row"; done
say "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
