#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/demo.sh [FILE.mtx]: set up, build, then solve a linear system and compute a heat map on every device here.
# FILE.mtx: a symmetric positive definite matrix in Matrix Market form; default examples/data/lund_a.mtx.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if (($# > 1)) || [[ ${1-} == -* ]]; then
    warn "usage: scripts/demo.sh [FILE.mtx]"
    exit 2
fi
matrix=${1:-$root/examples/data/lund_a.mtx}
if [[ -d $matrix || ! -r $matrix ]]; then
    warn "$matrix: no such file, or not readable"
    exit 1
fi

"$root/scripts/setup.sh"
build=$root/build
configure "$build" -Dbuildtype=release
compile "$build" tools/cgxinfo/cgxinfo examples/conjugate_gradient/conjugate_gradient examples/heat2d/heat2d

info=$build/tools/cgxinfo/cgxinfo
solver=$build/examples/conjugate_gradient/conjugate_gradient
heat=$build/examples/heat2d/heat2d

say "== devices"
"$info"

# Device names, from {"backends": [{"name", "status", "reason", "devices": [{"name", ...}]}]}.
devices=$("$info" --json | python3 -c '
import json, sys
for backend in json.load(sys.stdin)["backends"]:
    if backend["status"] == "ok":
        for device in backend.get("devices", []):
            print(device["name"])
')
if [[ -z $devices ]]; then
    warn "no device is available"
    exit 1
fi

failed=()
pictures=()
while IFS= read -r device; do
    say "" "== conjugate gradient on $device: $matrix"
    CGX_DEVICE=$device "$solver" "$matrix" </dev/null || failed+=("conjugate_gradient on $device")

    folder=$build/demo/${device//:/-}
    rm -rf -- "$folder"
    mkdir -p "$folder"
    say "" "== heat2d on $device"
    if CGX_DEVICE=$device "$heat" --size 256 "$folder" </dev/null && compgen -G "$folder/*.png" >/dev/null; then
        pictures+=("$folder")
    else
        failed+=("heat2d on $device")
    fi
done <<<"$devices"

say ""
for folder in "${pictures[@]}"; do
    files=("$folder"/*.png)
    say "pictures: $folder (${#files[@]} PNG files)"
done
if ((${#failed[@]})); then
    for what in "${failed[@]}"; do
        warn "failed: $what"
    done
    exit 1
fi
