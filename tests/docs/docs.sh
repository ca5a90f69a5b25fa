#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs.sh --list ROOT
# docs.sh ROOT CGXCC LIBRARY WORK DOCUMENT
#
# Compiles the complete code blocks of a document with cgxcc, warnings being errors, runs those that have a main() and
# compares what they print. A block is
#   ```c        complete if its first line is #include <cgx...>: compiled, and run if it has a main(). Where it has
#               comments "error: TEXT", those lines must be refused, and the compiler must print each TEXT;
#   ```c        whose first line is a comment that begins with a file name, as in saxpy.h: that file. Sources are linked
#               with the next one that has a main();
#   ```fortran  a main program, linked with the sources before it; left out where there is no gfortran;
#   ```output   what the program before it prints, standard error included.
# Other blocks, and C with a line that is "...", are for people alone.
set -euo pipefail
export LC_ALL=C

if [[ $1 == --list ]]; then
    cd "$2"
    ls README.md docs/*.md
    exit
fi
root=$(cd "$1" && pwd) cgxcc=$(realpath "$2") library=$(cd "$(dirname "$3")" && pwd) work=$4/${5//\//_} document=$5
rm -rf "$work"
mkdir -p "$work"
cd "$work"
while IFS= read -r name; do unset "$name"; done < <(compgen -e | grep -E '^CGX_')
export CGX_DEVICE=cpu

# A file a block, named by the line of the document and the language.
awk '/^```/ { if (open) { close(file); open = 0 }
              else if ($0 != "```") { file = sprintf("block-%05d.%s", NR + 1, substr($0, 4)); open = 1; printf "" > file }
              next }
     open { print > file }' "$root/$document"

flags=(-std=c11 -Wall -Wextra -pedantic -Werror -O2 -I.)
headers=(-I"$root/api" -I"$root/backends/cpu/include")
link=(-L"$library" "-Wl,-rpath,$library" -lcgx -lm)
failed=0 compiled=0 ran=0 compared=0
fail() {
    failed=$((failed + 1))
    echo "FAIL $document:$line: $1"
    [[ ! -s log ]] || head -n 20 log
}
run_program() {
    ran=$((ran + 1))
    if timeout 60 ./"$1" >printed 2>&1; then
        [[ ! $printed_is_error ]] || { cp printed log; fail "ended well, though its output is an error's"; }
    elif [[ ! $printed_is_error ]]; then
        cp printed log
        fail "did not end well"
    fi
    have_printed=1
}
# compile NAME.c: complete files are called example.c, which is what error texts show.
compile() {
    local refused=()
    mapfile -t refused < <(sed -n 's,.*/\* error: \(.*\) \*/.*,\1,p' "$1")
    if ((${#refused[@]})); then
        compiled=$((compiled + 1))
        # Without the comments, which compilers would quote; and as with installed headers, which are the system's.
        sed 's,/\* error: .* \*/,,' "$1" >refused.c
        ! "$cgxcc" --backends=cpu "${flags[@]}" "${headers[@]/#-I/-isystem}" -c refused.c -o refused.o >log 2>&1 || fail "compiles, and should not"
        for text in "${refused[@]}"; do
            at=$(grep -nF "/* error: $text */" "$1")
            grep -qE "^refused\.c:${at%%:*}:.*error" log && grep -qF -- "$text" log ||
                fail "line ${at%%:*} of the block: the compiler does not say \"$text\""
        done
        return
    fi
    if ! "$cgxcc" --backends=cpu "${flags[@]}" "${headers[@]}" -c "$1" -o "${1%.c}.o" >log 2>&1 || [[ -s log ]]; then
        fail "does not compile"
        return
    fi
    compiled=$((compiled + 1))
    if ! grep -qE '^int main\(' "$1"; then
        [[ $1 == example.c ]] || objects+=("${1%.c}.o")
        return
    fi
    if ! "$cgxcc" "${1%.c}.o" "${objects[@]+"${objects[@]}"}" "${link[@]}" -o program >log 2>&1; then
        fail "does not link"
    else
        run_program program
    fi
    objects=()
}

objects=() have_printed=
for block in block-*; do
    [[ -f $block ]] || continue
    line=$((10#${block:6:5})) language=${block#*.} first=$(head -n 1 "$block")
    # A program whose output is said to be an error's may fail: only CGX_TRY's text has this form.
    next=$(printf '%s\n' block-* | sed -n "/^$block\$/{n;p}")
    printed_is_error=
    [[ $next != *.output ]] || ! grep -qE '\(CGX_ERROR_[A-Z_]+, ' "$next" || printed_is_error=1
    case $language in
    c)
        have_printed=
        if grep -qE '^ *\.\.\.$' "$block"; then
            continue
        elif [[ $first =~ ^'#include <cgx' ]]; then
            cp "$block" example.c
            compile example.c
        elif [[ $first =~ ^'/* '([a-z0-9_]+\.[ch])[^a-z0-9_] ]]; then
            name=${BASH_REMATCH[1]}
            cp "$block" "$name"
            [[ $name == *.h ]] || compile "$name"
        fi
        ;;
    fortran)
        have_printed=
        if ! command -v gfortran >/dev/null; then
            echo "left out, no gfortran: $document:$line"
        elif ! gfortran -std=f2008 -Wall -Werror -O2 -ffree-form -x f95 "$block" -x none "${objects[@]}" "${link[@]}" \
            -o program >log 2>&1; then
            fail "does not compile"
        else
            compiled=$((compiled + 1))
            run_program program
        fi
        objects=()
        ;;
    output)
        [[ $have_printed ]] || continue
        compared=$((compared + 1))
        diff -u "$block" printed >log 2>&1 || fail "prints something else"
        ;;
    esac
done
echo "$document: $compiled compiled, $ran run, $compared compared, $failed failed"
((failed == 0))
