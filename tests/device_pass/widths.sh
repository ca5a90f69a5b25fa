#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# widths.sh ROOT
#
# The device code that all GPUs share, backends/gpu/include, has no wave width and no mask of lanes written down: what a width means there has a name,
# and the wave's is CGX__WAVE. Numbers that are widths elsewhere may stand in the definition of a name (`enum { NAME = 32 }`), as distances
# of a shift (`<< (31 - bit)` brings a bit to the top of a word), in a list of block sizes (candidates[]) or as a float's bits.
set -u
root=$(cd "$1" && pwd)
export LC_ALL=C
# found FILE...: its lines with such a constant, without comments and texts
found() {
    local f
    for f; do
        sed -E 's/"([^"\\]|\\.)*"/""/g' "$f" | awk -v name="${f##*/}" '
            { # comments go, and lines stay
                out = ""
                while (length($0)) {
                    if (inside) {
                        if (!(at = index($0, "*/"))) { $0 = ""; break }
                        $0 = substr($0, at + 2); inside = 0
                    } else {
                        if (!(at = index($0, "/*"))) { out = out $0; $0 = ""; break }
                        out = out substr($0, 1, at - 1); $0 = substr($0, at + 2); inside = 1
                    }
                }
                sub(/\/\/.*/, "", out)
                print name ":_" NR "_:" out
            }' | sed -E 's/enum \{[^}]*\}//g; s/(<<|>>) *[0-9]+//g; s/<< *\(31 - //g; s/candidates\[\] = \{[^}]*\}//; s/cgx__bits_float\(0x[0-9a-f]+u\)//' |
            grep -iE '[^0-9a-z_.](31|32|63|64)u?l*([^0-9a-z_.]|$)|0x[0-9a-f]*f{4}|0x0*(1f|3f|20|40)u?l*([^0-9a-f]|$)'
    done
}
# It finds what it is there to find.
trap 'rm -f "$sample"' EXIT
sample=$(mktemp)
printf '%s\n' 'int lane = rank & 31;' 'if (size <= 32)' 'mask = 0xffffffffu;' 'mask = ~0ull >> (64 - n);' '/* 64 */ v >> 32;' \
    'enum { A = 32 };' >"$sample"
[[ $(found "$sample" | wc -l) == 4 ]] || { echo "FAIL widths.sh finds in its sample:"; found "$sample"; exit 1; }
mapfile -t files < <(find "$root/backends/gpu/include" -name '*.h' | sort)
((${#files[@]} >= 7)) || { echo "FAIL ${#files[@]} headers in backends/gpu"; exit 1; }
what=$(found "${files[@]}")
if [[ $what ]]; then
    printf '%s\n' "$what"
    echo "FAIL these have a width, or a mask of lanes, of their own"
    exit 1
fi
echo "${#files[@]} headers: no width and no mask"
