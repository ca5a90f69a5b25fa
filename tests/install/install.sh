#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh BUILD PREFIX LIBDIR WORK
#
# Installs what BUILD holds into a folder of its own, moves it (a tree must not depend on where it was built), and uses
# it from outside: pkg-config and cgxcc in plain commands, with static linking, from C++, and in a meson project; and the
# installed cgxinfo. rows: H01
set -u
build=$1 prefix=$2 libdir=$3 work=$4
here=$(cd "$(dirname "$0")" && pwd)
unset CC CXX CFLAGS CXXFLAGS LDFLAGS CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH DESTDIR MAKEFLAGS CGXCC_TREE
export LC_ALL=C
command -v pkg-config >/dev/null || { echo "no pkg-config here"; exit 77; }
fail() { echo "FAIL: $*"; exit 1; }

rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
logged() { "$@" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; fail "$*"; }; }
logged meson install -C "$build" --no-rebuild --destdir "$work/stage"
root="$work/moved tree" # with a blank, which a home folder may have
mv "$work/stage$prefix" "$root" || fail "nothing under $prefix"
# What pkg-config answers has to be split by the shell: the blank goes through a link.
ln -s "$root" "$work/cgx"
root=$work/cgx

# What is there: public headers, both libraries, the tools, the pkg-config file.
for f in include/cgx.h include/cgx/host.h include/cgx/kernel.h include/cgx/cpu.h "$libdir/libcgx.so" "$libdir/libcgx.a" \
    bin/cgxcc bin/cgxinfo "$libdir/pkgconfig/cgx.pc"; do
    [[ -e $root/$f ]] || fail "$f is not installed"
done
[[ ! -e $root/include/internal.h && ! -e $root/include/cgx/backend.h ]] || fail "private headers are installed"
grep -rlF -- "$build" "$root/include" "$root/$libdir/pkgconfig" && fail "the build folder stands in what is installed"

export PKG_CONFIG_PATH=$root/$libdir/pkgconfig
pc() { pkg-config --define-variable=prefix="$root" "$@" cgx; }
version=$(pc --modversion) || fail "pkg-config does not find cgx"
cgxcc=$(pc --variable=cgxcc)
[[ -x $cgxcc ]] || fail "the variable cgxcc of cgx.pc is '$cgxcc'"
read -ra cflags <<<"$(pc --cflags)"
read -ra libs <<<"$(pc --libs)"
read -ra static_libs <<<"$(pc --static --libs)"

# Commands as a Makefile has them: kernels with cgxcc, the rest with any compiler.
mkdir "$work/plain"
cp "$here"/consumer/*.[ch] "$work/plain"
cd "$work/plain" || exit 1
flags=(-std=c11 -Wall -Wextra -pedantic -Werror -O1)
runs() { said=$("$@" 2>&1) && [[ $said == "cgx $version, 0 wrong" ]] || fail "$* says '${said-}'"; }
"$cgxcc" "${flags[@]}" "${cflags[@]}" -c scale.c -o scale.o || fail "cgxcc -c"
cc "${flags[@]}" "${cflags[@]}" -c main.c -o main.o || fail "cc -c main.c"
cc main.o scale.o "${libs[@]}" -Wl,-rpath,"$root/$libdir" -o plain || fail "link with cc"
runs ./plain
# cgxcc needs no flags for its own headers and library, at compilation or at link.
"$cgxcc" "${flags[@]}" main.c scale.c -o alone -lcgx || fail "cgxcc alone"
runs ./alone
others=() # what the archive needs beside itself
for l in "${static_libs[@]}"; do [[ $l == -lcgx ]] || others+=("$l"); done
cc main.o scale.o "$root/$libdir/libcgx.a" "${others[@]}" -fopenmp -lm -lpthread -o static || fail "static link"
runs ./static
if command -v g++ >/dev/null; then
    g++ -x c++ -std=c++17 -Wall -Wextra -pedantic -Werror "${cflags[@]}" -c main.c -o main_cxx.o || fail "g++ -c main.c"
    g++ main_cxx.o scale.o "${libs[@]}" -Wl,-rpath,"$root/$libdir" -o cxx || fail "link with g++"
    runs ./cxx
fi

# A meson project that asks for the dependency. It takes prefix from cgx.pc, so that file is made to say where it is now.
sed -i "s|^prefix=.*|prefix=$root|" "$PKG_CONFIG_PATH/cgx.pc"
cp -r "$here/consumer" "$work/project"
logged meson setup "$work/project/build" "$work/project"
logged meson compile -C "$work/project/build"
runs "$work/project/build/consumer"

# The installed cgxinfo, and that its JSON is JSON.
said=$("$root/bin/cgxinfo") || fail "cgxinfo: $said"
grep -q '^cpu:0' <<<"$said" || fail "cgxinfo knows no cpu:0: $said"
if command -v python3 >/dev/null; then
    "$root/bin/cgxinfo" --json | python3 -m json.tool >/dev/null || fail "cgxinfo --json is no JSON"
fi
echo "installed $version, used by cgxcc, cc, g++, meson"
