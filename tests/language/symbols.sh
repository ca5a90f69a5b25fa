#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh LIBCGX_SO LIBCGX_A HEADERS...
#
# The shared library exports cgx_ names and nothing else, and all that the headers promise; the static one has no global
# name that could collide with a user's. (The library's own kernels would show here too.)
set -u
so=$1 archive=$2
shift 2
command -v nm >/dev/null || exit 77
failed=0
fail() { failed=1; printf '%s\n' "$@"; }

# What sanitizers add is theirs.
foreign='__asan|__ubsan|__odr_asan|__start_|__stop_|^_(init|fini)$'
exported=$(nm -D --defined-only "$so" | awk '{ print $NF }' | sed 's/@.*//' | grep -vE "$foreign" | sort -u)
bad=$(grep -v '^cgx_' <<<"$exported")
[[ -z $bad ]] || fail "exported beside cgx_*:" "$bad"
inner=$(grep -E '^cgx_backend_(cpu|cuda|hip)' <<<"$exported")
[[ -z $inner ]] || fail "exported, but no function for users:" "$inner"

# Every function that a header declares with CGX_API is there.
declared=$(cat "$@" | tr '\n' ' ' | grep -oE '(CGX_API|CGX__RUNTIME) [^;{(]*\(' | grep -oE 'cgx_[a-z0-9_]+ *\($' | tr -d ' (' | sort -u)
(($(wc -l <<<"$declared") > 40)) || fail "found only $(wc -l <<<"$declared") declarations"
missing=$(comm -23 <(printf '%s\n' "$declared") <(printf '%s\n' "$exported"))
[[ -z $missing ]] || fail "declared, not exported:" "$missing"
undeclared=$(comm -13 <(printf '%s\n' "$declared") <(printf '%s\n' "$exported"))
[[ -z $undeclared ]] || fail "exported, not declared in a public header:" "$undeclared"

# Names of the front end's and the backends' files are shared inside the library only, but in an archive they are in the
# user's program too.
bad=$(nm -g --defined-only "$archive" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -vE "$foreign|^cgx_|^DW\.ref" | sort -u)
[[ -z $bad ]] || fail "the archive defines global names that are not cgx_*:" "$bad"

((failed)) || echo "$(wc -l <<<"$exported") exported, $(wc -l <<<"$declared") declared"
exit "$failed"
