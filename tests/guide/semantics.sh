#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# semantics.sh ROOT
#
# Every rule of docs/semantics.md names a test, [folder/file:function] below tests/, and every test named exists. A test
# of CMocka has to be in the list of its main() too.
set -euo pipefail
export LC_ALL=C
root=$1 document=$1/docs/semantics.md
failed=0 rules=0 named=0
fail() {
    failed=$((failed + 1))
    echo "FAIL $1"
}

# A rule a line: continuation lines are joined to the bullet before them.
while IFS= read -r rule; do
    number=${rule#- \*\*} number=${number%%\*\**}
    rules=$((rules + 1))
    [[ $rule =~ \[[a-z_0-9]+/[a-z_0-9]+\.[a-z]+:[a-z_0-9]+\] ]] || fail "rule $number names no test"
    ((${#number} == 0)) || numbers+="$number"$'\n'
done < <(awk '/^- \*\*[0-9]/ { if (line) print line; line = $0; next }
              line && /^  / { line = line " " $0; next }
              line { print line; line = "" }
              END { if (line) print line }' "$document")
[[ -z $(uniq -d <<<"$(sort <<<"$numbers")") ]] || fail "a number of a rule is there twice"

while IFS= read -r name; do
    file=$root/tests/${name%:*} function=${name#*:}
    named=$((named + 1))
    if [[ ! -f $file ]]; then
        fail "[$name]: no file tests/${name%:*}"
    elif [[ $file == */test_*.c ]]; then
        grep -qE "^static void $function\(void \*\*" "$file" || fail "[$name]: no test function $function"
        grep -qE "cmocka_unit_test[a-z_]*\($function\b" "$file" || fail "[$name]: $function is not run"
    else
        grep -qw "$function" "$file" || fail "[$name]: no $function"
    fi
done < <(grep -oE '\[[a-z_0-9]+/[a-z_0-9]+\.[a-z]+:[a-z_0-9]+\]' "$document" | tr -d '[]' | sort -u)

# What looks like the name of a test and is none.
while IFS= read -r odd; do
    fail "$odd: not of the form [folder/file:function]"
done < <(grep -oE '\[[^]]*:[^]]*\]' "$document" | grep -vE '^\[[a-z_0-9]+/[a-z_0-9]+\.[a-z]+:[a-z_0-9]+\]$' || true)

echo "docs/semantics.md: $rules rules, $named tests, $failed failed"
((failed == 0 && rules > 50))
