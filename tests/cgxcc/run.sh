#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh --list
# run.sh CGXCC INCLUDES LIBCGX WORK [CASE...]
#
# Tests cgxcc as its users meet it: under make, CMake, meson, an MPI wrapper, with archives, link-time
# optimisation, sanitizers, debuggers. INCLUDES is a list of folders with colons, LIBCGX the shared library; a
# static one of the same name beside it is used where there is one. Prints a line a case. Exit status: 1 if one
# failed, 77 if all were skipped.
#
# Device compilers are stand-ins (fake-device), so that the machinery is tested where none is installed; the
# case real-device uses those that are there. Every case works on its own copy of this folder.
set -u

cases=(
    plain-host basic no-new-symbols image-table archive user-ld-r gc-sections
    lto-gcc lto-clang lto-plain-gcc lto-plain-clang shared-hidden shared-default dlclose-1000
    cxx-consumer cxx-kernels gdb sanitizers determinism make-j depfile depfile-names
    cmake cmake-lto meson meson-lto mpi-wrapper one-command one-command-mixed plain-file header-only
    errors flags device-options launching levels cpu-arch cpu-engine portable-fp statics cf-protection link-modes linkers probes
    response-file long-command many-sources preprocessed mismatch host-clang
    own-options missing-compiler signals installed real-device hip-processors
)
if [[ ${1:-} == --list ]]; then
    printf '%s\n' "${cases[@]}"
    exit 0
fi
(($# >= 4)) || { echo "usage: run.sh CGXCC INCLUDES LIBCGX WORK [CASE...]" >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
cgxcc=$(readlink -f "$1")
IFS=: read -ra folders <<<"$2"
lib=$(readlink -f "$3")
mkdir -p "$4"
work=$(readlink -f "$4")
shift 4
(($#)) && cases=("$@")

libdir=${lib%/*}
archive=${lib%.so*}.a
libs=("$lib" "-Wl,-rpath,$libdir")
static_libs=("$archive" -fopenmp -lm -ldl -lpthread)
includes=(-I.)
for f in "${folders[@]}"; do includes+=("-I$(readlink -f "$f")"); done
host=${CGXCC_HOST:-gcc}
export CGXCC_HOST=$host CGXCC_TREE=1 CGX_DEVICE=cpu LC_ALL=C
export CGXCC_NVCC="$here/fake-device nvcc" CGXCC_HIP="$here/fake-device clang"
unset MAKEFLAGS MFLAGS CFLAGS CXXFLAGS LDFLAGS CC CXX CPATH
own=('--backends=cpu,cuda,hip' '--hip-arch=gfx90a,gfx1100' '--cpu-engine=fiber') # test_cpu-engine has the others
# How many images an object gets where nobody says for what: one for CUDA, one for each of HIP's default processors.
usual=0
[[ ,${CGXCC_TEST_BACKENDS-}, != *,cuda,* ]] || usual=$((usual + 1))
[[ ,${CGXCC_TEST_BACKENDS-}, != *,hip,* ]] || usual=$((usual + 6))
cc=("$cgxcc" "${own[@]}")
flags=(-std=gnu11 -Wall -Wextra "${includes[@]}" -O2)

# ---- helpers ----

skip() { echo "$*"; exit 77; }
fail() { echo "$*"; exit 1; }
need() { local t; for t; do command -v "$t" >/dev/null || skip "no $t here"; done; }
count() { grep -c "$@" || true; }
# objects FOLDER COMPILER...: the four files of the test program
objects() {
    local folder=$1 f
    shift
    mkdir -p "$folder"
    for f in k1 k2 user main; do "$@" "${flags[@]}" -c "$f.c" -o "$folder/$f.o"; done
}
four() { printf '%s\n' "$1"/{k1,k2,user,main}.o; }
# runs PROGRAM [PATTERN]: the program reports success, in a line that has PATTERN
runs() {
    local said
    said=$("$1")
    echo "$said"
    [[ $said == OK*${2:-}* ]]
}
# link PROGRAM LINKER... FILE...
link() { local out=$1; shift; "$@" "${libs[@]}" -o "$out"; }
image_bytes() { size -A "$1" | awk '/cgx_images/ { print $2 }'; }
section() { objcopy -O binary --only-section="$2" "$1" "$3"; }

# ---- cases ----

test_plain-host() { # a compiler that knows nothing of cgxcc
    objects o "$host"
    mapfile -t o < <(four o)
    link program "$host" "${o[@]}"
    runs ./program images=0,0
}

test_basic() {
    objects o "${cc[@]}"
    mapfile -t o < <(four o)
    link program "$host" "${o[@]}"
    runs ./program images=3,3
}

test_no-new-symbols() {
    "$host" "${flags[@]}" -c k1.c -o plain.o
    "${cc[@]}" "${flags[@]}" -c k1.c -o k1.o
    cmp <(nm plain.o | sort) <(nm k1.o | sort)
    cmp <(nm -S plain.o | grep -v cgx__placeholder) <(nm -S k1.o | grep -v cgx__placeholder)
    cmp <(objdump -dr plain.o | tail -n +4) <(objdump -dr k1.o | tail -n +4)
    "$cgxcc" --backends=cpu --cpu-engine=fiber "${flags[@]}" -c k1.c -o k1.o
    cmp plain.o k1.o
    echo "symbols and code as $host makes them; --backends=cpu changes no byte"
}

test_image-table() {
    need python3 objcopy
    "${cc[@]}" "${flags[@]}" -c k1.c -o k1.o
    section k1.o .rodata.cgx_images blob
    python3 - <<'P'
import struct
b = open('blob', 'rb').read()
magic, version, count, size = struct.unpack_from('<4sHHQ', b)
assert magic == b'CGXI' and version == 1 and count == 3 and size == len(b), (magic, version, count, size, len(b))
targets = []
for i in range(count):
    kind, flags, offset, n, target = struct.unpack_from('<IIQQ40s', b, 16 + 64 * i)
    assert offset % 64 == 0 and offset + n <= size and flags == 0
    assert b[offset:offset + 4] == (b'\x50\xed\x55\xba' if kind == 1 else b'\x7fELF')
    targets.append((kind, target.rstrip(b'\0').decode()))
assert targets == [(1, 'sm_75, 80, 86, 89, 90, 100, 120'), (2, 'gfx90a'), (2, 'gfx1100')], targets
print(targets)
P
    readelf -SW k1.o | grep cgx_images | grep -q ' 64$'
}

test_archive() {
    objects o "${cc[@]}"
    ar rcs libkernels.a o/k1.o o/k2.o o/user.o
    link program "$host" o/main.o libkernels.a
    runs ./program images=3,3
    need objcopy strip
    strip program
    runs ./program images=3,3
}

test_user-ld-r() {
    objects o "${cc[@]}"
    ld -r o/k1.o o/k2.o -o two.o
    link program "$host" two.o o/user.o o/main.o
    runs ./program images=3,3
}

# A file whose kernels nobody launches leaves no image in the program, although shared-memory sites can be listed.
test_gc-sections() {
    local linker extra images wanted said=''
    objects o "${cc[@]}" -ffunction-sections -fdata-sections
    "$host" "${flags[@]}" -c scale_only.c -o scale_only.o
    for linker in bfd gold lld; do
        command -v "ld.$linker" >/dev/null || { said+="no $linker; "; continue; }
        for extra in --gc-sections --no-gc-sections; do
            link program "$host" "-fuse-ld=$linker" "-Wl,$extra" scale_only.o o/k1.o o/k2.o o/user.o
            ./program
            section program .rodata rodata
            images=$(grep -a -o CGXI rodata | wc -l)
            wanted=1
            [[ $extra == --gc-sections ]] || wanted=2
            [[ $images == "$wanted" ]] || fail "$linker $extra: $images images, not $wanted"
        done
        said+="$linker "
    done
    echo "unused images dropped by: $said"
}

lto() { # HOST LINKFLAG...
    local h=$1
    shift
    need "$h"
    export CGXCC_HOST=$h
    objects o "${cc[@]}" -flto
    mapfile -t o < <(four o)
    link program "$h" -O2 -flto "$@" "${o[@]}"
    runs ./program images=3,3
    if [[ $h == gcc ]]; then
        (($(readelf -SW o/user.o | count gnu.lto) > 0))
        (($(readelf -SW o/k1.o | count gnu.lto) == 0))
    else
        [[ $(head -c 2 o/user.o) == BC ]]
        readelf -h o/k1.o >/dev/null
    fi
    "$cgxcc" --backends=cpu "${flags[@]}" -flto -c k1.c -o cpu.o
    [[ $(image_bytes cpu.o) == 16 ]] # machine code also where no device is asked for
}
test_lto-gcc() { lto gcc; }
test_lto-clang() { need ld.lld; lto clang-19 -fuse-ld=lld; }

lto_plain() {
    local h=$1
    shift
    need "$h"
    objects o "$h" -flto
    mapfile -t o < <(four o)
    link program "$h" -O2 -flto "$@" "${o[@]}"
    runs ./program images=0,0
}
test_lto-plain-gcc() { lto_plain gcc; }
test_lto-plain-clang() { need ld.lld; lto_plain clang-19 -fuse-ld=lld; }

test_shared-hidden() {
    objects o "${cc[@]}" -fPIC -fvisibility=hidden
    link libk.so "$host" -shared -Wl,-z,defs -Wl,-z,text o/k1.o o/k2.o o/user.o
    [[ ! $(nm -D --defined-only libk.so) ]]
    (($(readelf -lW libk.so | count 'GNU_STACK.*RW ') == 1))
    echo "nothing exported, no text relocations, stack not executable"
}

test_shared-default() {
    objects o "${cc[@]}" -fPIC
    link libd.so "$host" -shared -Wl,-z,defs -Wl,-z,text o/k1.o o/k2.o o/user.o
    (($(nm -D --defined-only libd.so | count cgx__) == 0))
    link program "$host" o/main.o libd.so "-Wl,-rpath,$PWD"
    runs ./program images=3,3
}

test_dlclose-1000() {
    "${cc[@]}" "${flags[@]}" -fPIC -fvisibility=hidden -c plug.c -o plug.o
    link plug.so "$host" -shared plug.o
    "$host" "${flags[@]}" load.c "${libs[@]}" -ldl -o load
    ./load ./plug.so
}

test_cxx-consumer() {
    need g++
    objects o "${cc[@]}"
    g++ -std=c++17 -Wall -Wextra -pedantic "${includes[@]}" -c user.cc -o o/user.o
    link program g++ o/k1.o o/k2.o o/user.o o/main.o
    runs ./program images=3,3
}

test_cxx-kernels() {
    local c done=''
    for c in g++ clang++-19; do
        command -v $c >/dev/null || continue
        objects "o-$c" "${cc[@]}"
        for f in k1 k2; do
            CGXCC_HOST=$c "${cc[@]}" -std=c++17 -Wall -Wextra "${includes[@]}" -O2 -x c++ -c $f.c -o "o-$c/$f.o"
        done
        # C linkage of the host functions comes from parts.h
        link "program-$c" "$c" "o-$c"/{k1,k2,user,main}.o
        runs "./program-$c" images=3,3
        done+="$c "
    done
    [[ $done ]] || skip "no C++ compiler"
    echo "k1.c and k2.c are C++17 for $done"
}

test_gdb() {
    need gdb
    local level line
    line=$(grep -n 'breakpoint \*/' k1.c | cut -d: -f1)
    for level in -O0 -O2; do
        flags=("${flags[@]/-O[02]/$level}")
        objects "o$level" "${cc[@]}" -g
        mapfile -t o < <(four "o$level")
        link program "$host" "${o[@]}"
        gdb -q -batch -ex "break k1.c:$line" -ex run -ex bt ./program >log 2>&1 </dev/null || true
        grep -q 'ptrace: Operation not permitted' log && skip "gdb may not trace here"
        grep -E "^#0 .*reduce__body.*k1.c:$line" log || { cat log; fail "no stop in the kernel"; }
    done
    grep -m 1 'Breakpoint 1 at' log
}

test_sanitizers() {
    local h done=''
    for h in gcc clang-19; do
        command -v $h >/dev/null || continue
        export CGXCC_HOST=$h
        objects "o-$h" "${cc[@]}" -g -fsanitize=address,undefined -fno-sanitize-recover=all
        mapfile -t o < <(four "o-$h")
        link "program-$h" "$h" -fsanitize=address,undefined "${o[@]}"
        runs "./program-$h" images=3,3
        done+="$h "
    done
    echo "address and undefined: $done"
}

test_determinism() {
    mkdir one two
    TMPDIR=$PWD/one "${cc[@]}" "${flags[@]}" -g -c k1.c -o k1.o
    mv k1.o first.o
    TMPDIR=$PWD/two "${cc[@]}" "${flags[@]}" -g -c k1.c -o k1.o
    cmp first.o k1.o
    rmdir one two || fail "something was left in TMPDIR"
    echo "same bytes in another TMPDIR, and nothing left in it"
}

test_make-j() {
    need make
    local m=(make -s -j2 "CC=${cc[*]}" "INCLUDES=${includes[*]}" "LIBS=${libs[*]}")
    "${m[@]}"
    runs ./program images=3,3
    "${m[@]}" -q
    local header
    for header in dep_hip.h dep_cuda.h "dep hip.h"; do
        sleep 0.01
        touch "$header"
        [[ $("${m[@]}" -n) == *dep.c* ]] || fail "$header, which only a device pass reads, does not rebuild dep.o"
        "${m[@]}"
        "${m[@]}" -q
    done
    # A failing device pass leaves no object behind
    sed -i 's/DEP;/DEP; \/\/ fake-nvcc fails/' dep.c
    ! "${m[@]}" || fail "make went on after an error"
    [[ ! -e dep.o ]]
    echo "headers of a single device pass rebuild; a failed pass leaves no object"
}

test_depfile() {
    "${cc[@]}" "${flags[@]}" -MD -MF dep.d -MT target.o -MP -c dep.c -o dep.o
    cat dep.d
    grep -q '^target.o:' dep.d
    local name
    for name in dep_cuda.h dep_hip.h 'dep\ hip.h'; do
        [[ $(grep -cF "$name" dep.d) == 2 ]] || fail "$name is not there twice"
    done
    (($(count macros.h <dep.d) == 0))
    need make
    printf 'target.o: ; touch $@\ninclude dep.d\n' >rules
    for name in dep_cuda.h 'dep hip.h'; do
        make -f rules target.o
        make -f rules -q target.o
        touch -d tomorrow "$name"
        ! make -f rules -q target.o || fail "make does not see a newer $name"
        touch "$name"
    done
    echo "headers of single device passes, one with a blank in its name"
}

test_depfile-names() {
    mkdir out
    "${cc[@]}" "${includes[@]}" -MMD -c dep.c -o out/dep.o
    grep -q dep_cuda.h out/dep.d
    "${cc[@]}" "${includes[@]}" -MMD -c dep.c
    grep -q '^dep.o:' dep.d
    grep -q dep_cuda.h dep.d
    "${cc[@]}" "${includes[@]}" -MMD -MFjoined.d -c dep.c
    grep -q dep_cuda.h joined.d
    "${cc[@]}" "${includes[@]}" -Wp,-MMD,wp.d -c dep.c
    grep -q dep_cuda.h wp.d
    "${cc[@]}" "${includes[@]}" -MMD -MF /dev/null -c dep.c
    # Compiling and linking at once: the rule names the program, as gcc and clang write it
    "${cc[@]}" "${includes[@]}" -MMD dep.c k1.c k2.c user.c main.c "${libs[@]}" -o out/program
    grep -q '^out/program:' out/program.d
    cat >single.c <<'C'
#include "dep.c"
int main(void) { return 0; }
C
    "${cc[@]}" "${includes[@]}" -MMD single.c "${libs[@]}" -o out/single
    grep -q '^out/single:.*' out/single.d
    grep -q 'dep_all.h' out/single.d
    echo "named after object, source, -MF, -Wp and program"
}

with_cmake() {
    need cmake
    local generator f
    for generator in "Unix Makefiles" Ninja; do
        [[ $generator != Ninja ]] || command -v ninja >/dev/null || continue
        rm -rf build
        cmake -G "$generator" -S cmake -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$cgxcc" \
            -DCMAKE_C_FLAGS="${own[*]}" -DINCLUDES="$(IFS=';'; echo "${folders[*]}")" \
            -DLIBS="$lib" "$@" >log || { cat log; exit 1; }
        cmake --build build -j2 >>log || { cat log; exit 1; }
        runs build/program images=3,3
        grep 'C compiler identification' log
        sleep 0.01
        touch parts.h
        (($(cmake --build build | count Building) >= 4)) || fail "$generator: a changed header does not rebuild"
    done
}
test_cmake() { with_cmake; }
test_cmake-lto() { with_cmake -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON; }

with_meson() {
    need meson ninja
    local list
    mkdir meson/part
    cp ./*.c ./*.cc ./*.h meson/part
    list=$(printf ",'%s'" "${libs[@]}")
    CC="${cc[*]}" CFLAGS="${includes[*]}" CXXFLAGS="${includes[*]}" \
        meson setup "-Dlibs=[${list:1}]" "$@" build meson >log 2>&1 || { cat log; exit 1; }
    meson compile -C build >>log 2>&1 || { cat log; exit 1; }
    meson test -C build >>log 2>&1 || { cat log; exit 1; }
    runs build/program images=3,3
    grep 'C compiler for the host' log
}
test_meson() { with_meson; }
test_meson-lto() { with_meson -Db_lto=true; }

test_mpi-wrapper() {
    cat >mpicc <<'W'
#!/bin/sh
# As Open MPI wraps: flags before and after, then exec.
exec $OMPI_CC -I/nowhere/include -pthread "$@" -L/nowhere/lib -Wl,-rpath -Wl,/nowhere/lib -lm
W
    chmod +x mpicc
    export OMPI_CC="${cc[*]}"
    objects o ./mpicc
    mapfile -t o < <(four o)
    link program ./mpicc "${o[@]}"
    runs ./program images=3,3
    ./mpicc "${includes[@]}" k1.c k2.c user.c main.c "${libs[@]}" -o program
    runs ./program images=3,3
}

test_one-command() {
    "${cc[@]}" "${flags[@]}" k1.c k2.c user.c main.c "${libs[@]}" -lm -o program
    runs ./program images=3,3
    "${cc[@]}" "${flags[@]}" -flto k1.c k2.c user.c main.c "${libs[@]}" -o program
    runs ./program images=3,3
    "$cgxcc" "${flags[@]}" -flto k1.c k2.c user.c main.c "${libs[@]}" -o program
    runs ./program "images=$usual,$usual"
    (cd / && "${cc[@]}" "${includes[@]}" "$OLDPWD"/{k1,k2,user,main}.c "${libs[@]}" -o "$OLDPWD/elsewhere")
    runs ./elsewhere images=3,3
    need clang-19
    CGXCC_HOST=clang-19 "${cc[@]}" "${flags[@]}" -Werror=unused-command-line-argument -MMD \
        k1.c k2.c user.c main.c "${libs[@]}" -rdynamic -s -o program
    runs ./program images=3,3
}

# Objects, assembler, -x and libraries in one command with kernel files.
test_one-command-mixed() {
    "$host" "${flags[@]}" -c main.c -o main.o
    "$host" "${flags[@]}" -S user.c -o user.s
    cp k2.c k2.kernel
    "${cc[@]}" "${flags[@]}" main.o user.s k1.c -x c k2.kernel -x none "${libs[@]}" -o program
    runs ./program images=3,3
    "${cc[@]}" "${flags[@]}" -x c k2.kernel k1.c -x none main.o user.s "${libs[@]}" -o program
    runs ./program images=3,3
    "${cc[@]}" "${flags[@]}" -fPIC -shared k1.c k2.c user.c "${libs[@]}" -o libone.so
    link program "$host" main.o ./libone.so
    runs ./program images=3,3
}

test_plain-file() {
    local i start cgxcc_ms host_ms
    "${cc[@]}" -O2 -g -c plain.c -o plain.o
    mv plain.o cgxcc.o
    "$host" -O2 -g -c plain.c -o plain.o
    cmp cgxcc.o plain.o
    "${cc[@]}" -O2 plain.c -o one
    "$host" -O2 plain.c -o two
    cmp one two
    start=$(date +%s%N)
    for i in 1 2 3 4 5 6 7 8 9 10; do "${cc[@]}" -O2 -c plain.c -o plain.o; done
    cgxcc_ms=$((($(date +%s%N) - start) / 1000000)) start=$(date +%s%N)
    for i in 1 2 3 4 5 6 7 8 9 10; do "$host" -O2 -c plain.c -o plain.o; done
    host_ms=$((($(date +%s%N) - start) / 1000000))
    echo "same bytes; ten files: cgxcc $cgxcc_ms ms, $host $host_ms ms"
}

test_header-only() {
    "${cc[@]}" "${flags[@]}" -show -c user.c -o user.o 2>log
    cat log
    [[ $(wc -l <log) == 1 ]] || fail "more than the host compiler ran"
    "${cc[@]}" "${flags[@]}" -c main.c -o main.o # uses the descriptors of kernels
    [[ ! $(image_bytes user.o) || $(image_bytes user.o) == 16 ]]
}

test_errors() {
    local said rc=0
    said=$("${cc[@]}" "${flags[@]}" -c broken.c -o broken.o 2>&1) || rc=$?
    echo "$said"
    ((rc == 1))
    [[ ! -e broken.o ]]
    grep -q '^broken.c:5: error: \[cuda\] ' <<<"$said"
    grep -q '^broken.c:5:5: error: \[hip gfx90a\] ' <<<"$said"
    grep -q '^broken.c:5:5: error: \[hip gfx1100\] ' <<<"$said"
    "$cgxcc" --backends=cpu "${flags[@]}" -c broken.c -o broken.o
    echo 'int f(void) { return no_such_name; }' >host.c
    rm broken.o
    ! "${cc[@]}" "${flags[@]}" -c host.c broken.c || fail "success with two bad files"
    [[ ! -e host.o && ! -e broken.o ]]
    rc=0
    "${cc[@]}" "${flags[@]}" broken.c k1.c -o program || rc=$?
    ((rc == 1))
    [[ ! -e program ]]
    echo "device errors at broken.c:5, nothing left; --backends=cpu builds"
}

test_flags() {
    "${cc[@]}" -std=c11 -Wall -fopenmp -march=native -fno-strict-aliasing -fno-math-errno -pthread -pipe \
        -Winvalid-pch -iquote quote -isystem "system folder" '-DNAME="a, b\"c"' -DPAIR='MAX(1,2)' \
        -D 'MAX(a,b)=((a)>(b)?(a):(b))' -D 'UNUSED(x)=((x)+1)' -DPLAIN "${includes[@]}" -O2 -g -c flags.c -o flags.o
    section flags.o .rodata.cgx_images blob
    # nvcc gets macros as a header, clang as they are
    grep -aqxF '#define NAME "a, b\"c"' blob
    grep -aqxF '#define MAX(a,b) ((a)>(b)?(a):(b))' blob
    grep -aqxF '#define PLAIN 1' blob
    grep -aqF 'NAME="a, b\"c"PAIR=MAX(1,2)' blob
    echo "quotes, commas and blanks arrive"
}

test_device-options() {
    local said
    said=$("${cc[@]}" "${flags[@]}" -Xcuda=--extra=1,2 '-Xhip=--extra=a b' -c k1.c -o k1.o 2>&1)
    [[ $said == *"nvcc got --extra=1,2"* && $said == *"clang got --extra=a b"* ]] || fail "$said"
    said=$("${cc[@]}" "${flags[@]}" --cuda-arch=75,sm_90,100a -show -c k1.c -o k1.o 2>&1)
    for wanted in arch=compute_75,code=sm_75 arch=compute_100a,code=sm_100a arch=compute_90,code=compute_90; do
        [[ $said == *$wanted* ]] || fail "no $wanted in $said"
    done
    said=$(grep fake-device <<<"$said")
    [[ $said != *code=compute_100a* && $said != *-Wall* && $said != *gnu11* ]] || fail "$said"
    said=$("$cgxcc" --backends=hip --hip-arch=gfx906:xnack+ "${flags[@]}" -show -c k1.c -o k1.o 2>&1)
    [[ $said == *--offload-arch=gfx906:xnack+* && $said != *nvcc* && $said == *-DCGX__CODE_OBJECT=5* ]]
    said=$("$cgxcc" --backends=hip --hip-arch=gfx906 -Xhip=-mcode-object-version=4 "${flags[@]}" -show -c k1.c -o k1.o 2>&1)
    [[ $said == *-DCGX__CODE_OBJECT=4* ]] # the headers take what the user's version of code objects has
    echo "architectures and extra options arrive"
}

# Only a file with a kernel that may launch is relocatable on CUDA; such an image has no PTX, which nobody could link.
test_launching() {
    local said
    printf '%s\n' '#include <cgx.h>' 'CGX_KERNEL(child, (int, n)) { (void)n; }' \
        'KIND(parent, (int, n)) { (void)n; }' 'cgx_status go(cgx_queue *);' \
        'cgx_status go(cgx_queue *q) { return parent_launch(q, cgx_config_1d(1, 1), 1); }' >launching.c
    said=$("${cc[@]}" "${flags[@]}" -DKIND=CGX_KERNEL_LAUNCHING --cuda-arch=90 -show -c launching.c -o l.o 2>&1)
    [[ $said == *-rdc=true*-dlink*-lcudadevrt* && $said != *code=compute_90* ]] || fail "$said"
    said=$("${cc[@]}" "${flags[@]}" -DKIND=CGX_KERNEL --cuda-arch=90 -show -c launching.c -o l.o 2>&1)
    [[ $said != *-rdc* && $said != *-dlink* && $said == *code=compute_90* ]] || fail "$said"
    # A file whose mbarriers count no bytes may have those of sm_80.
    [[ $said == *-DCGX__NO_BARRIER_BYTES=1* ]] || fail "$said"
    cat >counting.c <<'EOF'
#include <cgx.h>
CGX_KERNEL(counting, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, m);
    cgx_mbarrier_init(m, 1);
    cgx_mbarrier_arrive_expect_tx(m, 16);
    *out = 1;
}
cgx_status run(cgx_queue *q, int *out) { return counting_launch(q, cgx_config_1d(1, 1), out); }
EOF
    for level in -O0 -O2; do
        said=$("${cc[@]}" "${flags[@]}" $level --cuda-arch=90 -show -c counting.c -o c.o 2>&1)
        [[ $said == *-fatbin* && $said != *CGX__NO_BARRIER_BYTES* ]] || fail "$said"
    done
    echo "relocatable where kernels launch"
}

# Each entry uses the registers of its level and no more.
test_levels() {
    [[ $(uname -m) == x86_64 ]] || skip "levels are of x86-64"
    need objdump
    local h l done=''
    for h in gcc clang-19; do
        command -v $h >/dev/null || continue
        CGXCC_HOST=$h "${cc[@]}" "${flags[@]}" -O3 -c k1.c -o k1.o
        for l in base v3 v4; do
            objdump -d --disassemble="cgx__entry_${l}_add" k1.o >"$l.s"
            awk -v l=$l -v h=$h '/%ymm/ { y++ } /%zmm/ { z++ } /vfm/ { f++ }
                END { printf "%s %s: %d ymm, %d zmm, %d fma; ", h, l, y, z, f
                      if (l == "base") exit y + z + f > 0
                      exit !(f > 0 && y + z > 0 && (l == "v4" || z == 0)) }' "$l.s"
        done
        [[ $h != gcc ]] || grep -q '%zmm' v4.s
        echo
        done+="$h "
    done
    # The user's -march adds to every level
    objects o "${cc[@]}" -march=native -O3
    mapfile -t o < <(four o)
    link program "$host" "${o[@]}"
    runs ./program
    CGX_CPU_ISA=0 runs ./program target=baseline
    ! grep -q avx2 /proc/cpuinfo || CGX_CPU_ISA=3 runs ./program target=x86-64-v3
    ! grep -q avx512vl /proc/cpuinfo || runs ./program target=x86-64-v4
    echo "$done"
}

test_cpu-arch() {
    [[ $(uname -m) == x86_64 ]] || skip "levels are of x86-64"
    entries() { nm k1.o | sed -n 's/.* cgx__entry_\([a-z0-9]*\)_add$/\1/p' | sort | tr '\n' ' '; }
    "$cgxcc" "${flags[@]}" -c k1.c -o k1.o
    [[ $(entries) == "base v3 v4 " ]]
    "$cgxcc" --cpu-arch=base "${flags[@]}" -c k1.c -o k1.o
    [[ $(entries) == "base " ]]
    "$cgxcc" --cpu-arch=v2,v4 "${flags[@]}" -c k1.c -o k1.o
    [[ $(entries) == "base v2 v4 " ]]
    "$cgxcc" --cpu-arch=base,v2,v3 "${flags[@]}" k1.c k2.c user.c main.c "${libs[@]}" -o program
    runs ./program
    local said
    ! said=$("$cgxcc" --cpu-arch=v3,v5 "${flags[@]}" -c k1.c -o k1.o 2>&1)
    [[ $said == "cgxcc: error: unknown level 'v5' in --cpu-arch=; known are base, v2, v3, v4" ]] || fail "$said"
    # For this machine alone: one entry
    "$cgxcc" "${own[@]}" --cpu-arch=native "${flags[@]}" -c k1.c -o k1.o
    [[ $(entries) == "base " ]] || fail "$(entries)"
    "$cgxcc" --cpu-arch=native "${flags[@]}" k1.c k2.c user.c main.c "${libs[@]}" -o program
    runs ./program
    ! said=$("$cgxcc" --cpu-arch=v3,native "${flags[@]}" -c k1.c -o k1.o 2>&1)
    [[ $said == *"no level goes with it"* ]] || fail "$said"
}

test_cpu-engine() {
    local said
    said=$("$cgxcc" --help | head -n 30)
    grep -q -- --cpu-engine <<<"$said"
    said=$("$cgxcc" --cpu-engine=loops "${flags[@]}" -c k1.c -o k1.o 2>&1) && fail "an unknown engine was taken"
    grep -q "unknown engine 'loops'" <<<"$said"
    "$cgxcc" --cpu-engine=fiber "${flags[@]}" -c k1.c -o k1.o
    [[ $(nm k1.o | count cgx__compiled) == 0 ]]
    if ! "$cgxcc" --cpu-engine=compiled "${flags[@]}" -c k1.c -o k1.o 2>log; then
        grep -q 'cpu-engine=compiled: .*is not there' log || fail "$(cat log)"
        skip "no plug-in here"
    fi
    [[ $(nm k1.o | count 'cgx__mark') == 0 ]]
    # The whole program, one half of its kernels with compiled entries: what auto makes goes with what the host compiler makes.
    "$cgxcc" --backends=cpu "${flags[@]}" -c k1.c -o k1.o
    "$cgxcc" --backends=cpu --cpu-engine=fiber "${flags[@]}" -c k2.c -o k2.o
    "$cgxcc" --backends=cpu "${flags[@]}" -c user.c -o user.o
    "$cgxcc" --backends=cpu "${flags[@]}" -c main.c -o main.o
    link program "$host" k1.o k2.o user.o main.o
    ./program >fiber.out
    CGX_CPU_ENGINE=compiled ./program >compiled.out
    # What the plug-in's clang does not take is the host compiler's, with a remark.
    if [[ $host == gcc* ]]; then
        said=$("$cgxcc" --backends=cpu "${flags[@]}" -DGCC_ONLY -c engine.c -o engine.o 2>&1)
        grep -q 'remark: engine.c: .* run on fibers alone' <<<"$said"
    fi
    # Warnings are the host compiler's, and once; its -Werror counts.
    printf '#include <cgx.h>\nCGX_KERNEL(k, (int *, out))\n{\n    int unused = 1;\n    *out = 0;\n}\n' >warns.c
    printf 'const cgx_kernel *of(void);\nconst cgx_kernel *of(void)\n{\n    return CGX_KERNEL_OF(k);\n}\n' >>warns.c
    "$cgxcc" --backends=cpu "${flags[@]}" -Wall -c warns.c -o warns.o 2>log
    [[ $(grep -c 'warning: unused variable' log) == 1 ]] || fail "$(cat log)"
    if $host --version | grep -q 'Free Software'; then # clang does not say in which function
        grep -q 'In function' log || fail "$(cat log)"
    fi
    rm warns.o
    "$cgxcc" --backends=cpu "${flags[@]}" -Wall -Werror -c warns.c -o warns.o 2>log && fail "-Werror was not heeded"
    [[ ! -e warns.o ]] || fail "an object is there after an error"
    # Sanitizers and OpenMP bring runtime libraries that belong to the host compiler.
    "$cgxcc" --backends=cpu "${flags[@]}" -fopenmp -show -c k2.c -o k2.o 2>log
    [[ $(count CGX__CPU_PASS <log) == 0 ]]
    echo "compiled, fiber, auto"
}

test_portable-fp() {
    local said
    said=$("${cc[@]}" --portable-fp "${flags[@]}" -show -c k1.c -o k1.o 2>&1)
    echo "$said"
    [[ $(grep -c -- -ffp-contract=off <<<"$said") == 3 ]]
    [[ $(grep -c -- --fmad=false <<<"$said") == 1 ]]
    [[ $(uname -m) == x86_64 ]] || return 0
    "$cgxcc" "${flags[@]}" -c k1.c -o k1.o
    (($(objdump -d k1.o | count vfmadd) > 0))
    "$cgxcc" --portable-fp "${flags[@]}" -c k1.c -o k1.o
    (($(objdump -d k1.o | count vfmadd) == 0))
    echo "contraction is off in the host's and in every device pass"
    # nvcc has it for whole files alone: off for one that uses an operator of the user's, and no other.
    cat >operator.c <<'END'
#include <cgx.h>
CGX_OP(float, joined, a, b, a * 0.5f + b)
CGX_KERNEL_DECLARE(join, (float *, x))
CGX_KERNEL_EXTERN(join, (float *, x)) { *x = cgx_reduce_op(cgx_this_block(), *x, joined); }
END
    said=$("${cc[@]}" "${flags[@]}" -show -c operator.c -o operator.o 2>&1)
    [[ $(grep -c -- --fmad=false <<<"$said") == 1 ]]
    said=$("${cc[@]}" "${flags[@]}" -show -c k1.c -o k1.o 2>&1)
    [[ $(grep -c -- --fmad=false <<<"$said") == 0 ]]
}

test_statics() {
    local a
    for a in base v3 v3,v4; do
        "${cc[@]}" --cpu-arch=$a "${flags[@]}" -c statics.c -o statics.o
        (($(nm statics.o | count ' b calls$') == 1 && $(nm statics.o | count -E ' b times(\.[0-9]+)?$') == 1)) ||
            [[ $host != gcc* ]]
        link statics "$host" statics.o
        ./statics
    done
    echo "one copy, seen by every level"
}

test_cf-protection() {
    [[ $(uname -m) == x86_64 ]] || skip "control-flow protection of x86-64"
    objects o "${cc[@]}" -fcf-protection
    readelf -n o/k1.o | grep -m 1 'IBT, SHSTK'
    mapfile -t o < <(four o)
    link program "$host" "${o[@]}"
    runs ./program
}

test_link-modes() {
    local mode done=''
    objects pie "${cc[@]}" -fPIE
    mapfile -t o < <(four pie)
    for mode in -pie "-fuse-ld=lld -pie" "-fuse-ld=gold -pie" -static -static-pie; do
        [[ $mode != *lld* ]] || command -v ld.lld >/dev/null || continue
        [[ $mode != *gold* ]] || command -v ld.gold >/dev/null || continue
        if [[ $mode == -static* ]]; then
            [[ -f $archive ]] || continue
            # shellcheck disable=SC2086
            "$host" $mode "${o[@]}" "${static_libs[@]}" -o program
        else
            # shellcheck disable=SC2086
            link program "$host" $mode "${o[@]}"
        fi
        runs ./program images=3,3
        done+="${mode#-fuse-ld=}, "
    done
    objects nopie "${cc[@]}" -fno-pic
    mapfile -t o < <(four nopie)
    link program "$host" -no-pie "${o[@]}"
    runs ./program images=3,3
    objects split "${cc[@]}" -g -gsplit-dwarf -ffunction-sections
    mapfile -t o < <(four split)
    link program "$host" "${o[@]}"
    runs ./program images=3,3
    ls split/k1.dwo
    strip program
    runs ./program images=3,3
    [[ -f $archive ]] || done+="(no static libcgx) "
    echo "${done}no-pie, split debug information, strip"
}

test_linkers() {
    local l done=''
    objects o "${cc[@]}" -fPIC -ffunction-sections -fdata-sections
    mapfile -t o < <(four o)
    for l in bfd gold lld; do
        command -v "ld.$l" >/dev/null || continue
        link "lib$l.so" "$host" "-fuse-ld=$l" -shared -Wl,-z,defs -Wl,-z,text o/k1.o o/k2.o o/user.o
        link program "$host" o/main.o "./lib$l.so"
        runs ./program images=3,3
        done+="$l "
    done
    link program "$host" -Wl,--gc-sections -Wl,-z,start-stop-gc "${o[@]}"
    runs ./program images=3,3
    if command -v ld.lld >/dev/null; then
        link program "$host" -fuse-ld=lld -Wl,--gc-sections,--icf=all "${o[@]}"
        runs ./program images=3,3
    fi
    echo "$done"
}

test_probes() {
    local o
    for o in --version -dumpversion -dumpmachine -print-search-dirs -print-prog-name=ld -v '-E -dM -x c /dev/null' \
        '-E plain.c' '-M plain.c' '-MM plain.c' '-S plain.c -o -' -### '-Wl,--version' '' no-such-file.c '-c -o' \
        '-c plain.c k1.c -o two.o'; do
        # shellcheck disable=SC2086
        cmp <("${cc[@]}" $o 2>&1 | sed 's,/tmp/cc[^ ]*,,g') <("$host" $o 2>&1 | sed 's,/tmp/cc[^ ]*,,g') ||
            fail "$o: another answer than $host's"
    done
    echo 'int main(void) { return 0; }' | "${cc[@]}" -x c - -o stdin
    ./stdin
    (($("${cc[@]}" -E k1.c "${includes[@]}" | count cgx__entry_base_reduce) > 0))
    (($("${cc[@]}" -S k1.c "${includes[@]}" -o - | count cgx__entry_base_reduce) > 0))
    "${cc[@]}" -fsyntax-only k1.c "${includes[@]}"
    "${cc[@]}" -c k1.c "${includes[@]}" -o /dev/null
    "${cc[@]}" --help >help
    head -n 1 help | grep -q '^cgxcc'
    diff <("$host" --help) help | grep -q '^<' && fail "the host's help is not whole"
    echo "answers as $host"
}

test_response-file() {
    printf '%s\n' "-O2 ${includes[*]}" "-DNAME='a b' -DOTHER=\"c\\\"d\"" "@inner" >outer
    echo "-c k1.c" >inner
    "${cc[@]}" @outer -o k1.o
    (($(image_bytes k1.o) > 1000))
    echo "--backends=cuda" >own
    "$cgxcc" @own "${includes[@]}" -c k2.c
    (($(image_bytes k2.o) > 1000))
    ! "${cc[@]}" @no-such-file -c k1.c || fail "a missing response file was accepted"
    echo "nested, with quotes and with cgxcc's own options"
}

test_long-command() { # longer than the kernel lets a program be started with
    local i path
    ar rcs nothing_inside.a
    path=$(printf './%.0s' {1..1000})nothing_inside.a # few files and long names: the linker opens each
    for ((i = 0; i < 1400; i++)); do echo "$path"; done >long
    objects o "${cc[@]}"
    "$cgxcc" o/*.o @long "${libs[@]}" -o program
    runs ./program images=3,3
    "${cc[@]}" "${flags[@]}" k1.c o/k2.o o/user.o main.c @long "${libs[@]}" -o program
    runs ./program images=3,3
    echo "$(wc -c <long) bytes"
}

test_many-sources() {
    "${cc[@]}" "${flags[@]}" -c k1.c plain.c k2.c
    (($(image_bytes k1.o) > 1000 && $(image_bytes k2.o) > 1000))
    [[ -e plain.o && ! $(image_bytes plain.o) ]]
    echo "every source has its own object"
}

# What a distributed build hands over: device compilers cannot read it, and cgxcc says so.
test_preprocessed() {
    local said
    "$host" "${flags[@]}" -E k1.c -o k1.i
    said=$("${cc[@]}" -O2 -c k1.i -o k1.o 2>&1)
    echo "$said"
    [[ $said == *"warning: k1.i: its kernels run on the CPU only"* && $(image_bytes k1.o) == 16 ]]
    said=$("${cc[@]}" "${flags[@]}" -x c -c - -o k1.o <k1.c 2>&1)
    [[ $said == *"warning: -: its kernels run on the CPU only"* ]] || fail "$said"
}

test_mismatch() {
    cat >mm.c <<'C'
#include "parts.h"
CGX_KERNEL_EXTERN(scale, (float *, x), (int, n), (int, by)) { x[0] = (float)(by + n); }
C
    ! "${cc[@]}" "${flags[@]}" -c mm.c -o mm.o 2>log || fail "accepted in C"
    [[ ! -e mm.o ]]
    grep -qi conflicting log
    cat >wrong.c <<'C'
#include "parts.h"
int f(cgx_queue *q, double *x) { return scale_launch(q, cgx_config_1d(1, 1), x, 1, 2.0f); }
C
    ! "${cc[@]}" "${flags[@]}" -Werror=incompatible-pointer-types -c wrong.c -o wrong.o ||
        fail "wrong argument accepted"
    need g++
    ! CGXCC_HOST=g++ "${cc[@]}" -std=c++17 "${includes[@]}" -x c++ -c mm.c -o mm.o || fail "accepted in C++"
    echo "another signature than declared is an error, in C and in C++"
}

test_host-clang() {
    local h done=''
    for h in clang-14 clang-19; do
        command -v $h >/dev/null || continue
        export CGXCC_HOST=$h
        objects "o-$h" "${cc[@]}"
        mapfile -t o < <(four "o-$h")
        link "program-$h" "$h" "${o[@]}"
        runs "./program-$h" images=3,3
        done+="$h "
    done
    [[ $done ]] || skip "no clang"
    echo "$done"
}

test_own-options() {
    local said option
    for option in --backends=cpu,vulkan --backends= --cuda-arch=volta --cuda-arch= --hip-arch=sm_90 \
        --cpu-arch=v9; do
        ! said=$("$cgxcc" $option -c plain.c 2>&1) || fail "$option was accepted"
        [[ $said == "cgxcc: error: "* && ! -e plain.o ]] || fail "$said"
        echo "$said"
    done
    said=$("${cc[@]}" -show '-DQ="it'\''s"' -c plain.c 2>&1)
    [[ $said == '+ '"$host '-DQ=\"it'\\''s\"' -c plain.c" ]] || fail "$said"
    ln -s "$cgxcc" self
    ! said=$(CGXCC_HOST=$PWD/self "$cgxcc" -c plain.c 2>&1) || fail "compiled with itself"
    [[ $said == *"is cgxcc itself"* ]] || fail "$said"
    ! said=$(CGXCC_HOST=/no/such/compiler "$cgxcc" -c plain.c 2>&1) || fail "compiled with nothing"
    [[ $said == *"/no/such/compiler"* ]] || fail "$said"
    CGXCC_HOST="env $host" "$cgxcc" -c plain.c -o words.o
}

test_missing-compiler() {
    local said rc=0
    said=$(CGXCC_NVCC=/no/such/nvcc "${cc[@]}" "${flags[@]}" -c k1.c -o k1.o 2>&1) || rc=$?
    ((rc == 1)) && [[ ! -e k1.o && $said == *"CGXCC_NVCC names '/no/such/nvcc'"* ]] || fail "$rc $said"
    # Files without kernels never ask for it
    CGXCC_NVCC=/no/such/nvcc "${cc[@]}" -c plain.c
    echo "said, and only where there are kernels"
}

test_signals() {
    local i pid rc=0
    mkdir temporary
    FAKE_SECONDS=20 TMPDIR=$PWD/temporary "${cc[@]}" "${flags[@]}" -c k1.c -o k1.o &
    pid=$!
    for ((i = 0; i < 400; i++)); do
        [[ -e $(echo temporary/cgxcc-*/0.log) ]] && break # the first device pass runs
        sleep 0.05
    done
    [[ ! -e k1.o ]] || fail "the object is there before it is whole"
    kill -TERM $pid
    wait $pid || rc=$?
    ((rc == 143)) || fail "exit status $rc"
    [[ ! -e k1.o ]]
    rmdir temporary || fail "something was left in TMPDIR"
    echo "ended by the signal, nothing left"
}

test_installed() { # as the first page of the manual has it
    local to_include=${CGXCC_TEST_INCLUDEDIR:-../include} to_lib=${CGXCC_TEST_LIBDIR:-../lib} f
    [[ $to_include != /* && $to_lib != /* ]] || skip "configured for absolute folders"
    mkdir -p prefix/bin "prefix/bin/$to_include" "prefix/bin/$to_lib"
    cp "$cgxcc" prefix/bin/cgxcc
    for f in "${folders[@]}"; do cp -r "$f/." "prefix/bin/$to_include"; done
    find "$libdir" -maxdepth 1 -name "libcgx.so*" ! -type d -exec cp -d {} "prefix/bin/$to_lib" \;
    unset CGXCC_TREE
    mkdir user
    cp k1.c k2.c user.c main.c parts.h user
    cd user
    ../prefix/bin/cgxcc k1.c k2.c user.c main.c -o program -lcgx
    runs ./program "images=$usual,$usual"
    ../prefix/bin/cgxcc "${own[@]}" -c k1.c k2.c
    ../prefix/bin/cgxcc "${own[@]}" k1.o k2.o user.c main.c -o program -lcgx
    runs ./program images=3,3
    "$host" -S "${includes[@]}" user.c
    "$host" -E "${includes[@]}" user.c -o user.i
    for f in user.s user.i; do # nothing that such a file has no use for
        [[ $(../prefix/bin/cgxcc --cpu-arch=v3 -show -c $f -o user.o 2>&1) == "+ $host -c $f -o user.o" ]]
    done
    cd ..
    mv prefix moved
    cd user
    ../moved/bin/cgxcc -E k1.c >/dev/null
    ../moved/bin/cgxcc k1.c k2.c user.c main.c -o program -lcgx
    runs ./program "images=$usual,$usual"
    [[ $(CGXCC_TREE=1 ../moved/bin/cgxcc -show -c -x c /dev/null -o none.o 2>&1) != *idirafter* ]]
}

test_real-device() {
    local done='' c
    unset CGXCC_NVCC CGXCC_HIP
    if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then
        c=("$cgxcc" --backends=cuda --cuda-arch=75,90 -g '-DTIMES(a,b)=((a)*(b))' -MMD -c by_hand.c)
        "${c[@]}" -o cuda.o
        section cuda.o .rodata.cgx_images cuda.blob
        grep -aq twice__device cuda.blob
        cp cuda.o first.o
        TMPDIR=. "${c[@]}" -o cuda.o
        cmp first.o cuda.o
        ! grep -E 'cuda_runtime|macros.h' cuda.d || fail "the toolkit's headers are in the dependency file"
        done+="nvcc "
    fi
    if command -v clang-19 >/dev/null; then
        c=("$cgxcc" --backends=hip -g '-DTIMES(a,b)=((a)*(b))' -MMD -c by_hand.c)
        "${c[@]}" -o hip.o
        section hip.o .rodata.cgx_images hip.blob
        grep -aq twice__device hip.blob
        cp hip.o first.o
        TMPDIR=. "${c[@]}" -o hip.o
        cmp first.o hip.o
        done+="clang-19 "
    fi
    [[ $done ]] || skip "neither nvcc nor clang-19 here"
    echo "$done"
}

test_hip-processors() { # every one of the default list, and mathematics that comes from AMD's device library
    local launch='cgx_status f(cgx_queue *q, double *x) { return k_launch(q, cgx_config_1d(1, 1), x); }'
    local chips='gfx906 gfx90a gfx942 gfx1030 gfx1100 gfx1200' chip said
    unset CGXCC_HIP
    command -v clang-19 >/dev/null || skip "no clang-19 here"
    "$cgxcc" --backends=hip '-DTIMES(a,b)=((a)*(b))' -c by_hand.c -o hip.o
    section hip.o .rodata.cgx_images hip.blob
    for chip in $chips; do grep -aq "amdhsa--$chip" hip.blob; done
    printf '%s\n' '#include <cgx.h>' '#include <math.h>' \
        'CGX_KERNEL(k, (double *, x)) { x[1] = sin(x[0]) + pow(x[1], fabs(x[2])); }' "$launch" >uses_sin.c
    printf '%s\n' '#include <cgx.h>' '#include <math.h>' \
        'CGX_KERNEL(k, (double *, x)) { x[1] = sqrt(x[0]) + fma(x[1], floor(x[2]), 1); }' "$launch" >uses_sqrt.c
    # Without the library: an error at the caller's line that says what to install, and none where it is not needed.
    ! said=$("$cgxcc" --backends=hip --hip-arch=gfx942 -Xhip=-DCGX__NO_DEVICE_LIBRARY "${flags[@]}" -c uses_sin.c -o no.o 2>&1)
    grep -q "^uses_sin.c:3:.*error: .*'sin' is unavailable.*install rocm-device-libs" <<<"$said"
    "$cgxcc" --backends=hip --hip-arch=gfx942 -Xhip=-DCGX__NO_DEVICE_LIBRARY "${flags[@]}" -c uses_sqrt.c -o sqrt.o
    ! CGXCC_HIP_DEVICE_LIBRARY=/nowhere "$cgxcc" --backends=hip "${flags[@]}" -c uses_sqrt.c -o no.o 2>nowhere.log
    grep -q "names '/nowhere', where there is no ocml.bc" nowhere.log
    if said=$("$cgxcc" --backends=hip "${flags[@]}" -c uses_sin.c -o sin.o 2>&1); then
        echo "$chips, with the device library"
    else
        grep -q 'install rocm-device-libs' <<<"$said"
        echo "$chips; the device library is not here"
    fi
}

# ---- one line a case ----

passed=0 skipped=0 failed=0
for name in "${cases[@]}"; do
    [[ $(type -t -- "test_$name") == function ]] || { echo "no case $name" >&2; exit 2; }
    folder=$work/$name
    rm -rf "$folder"
    mkdir -p "$folder"
    cp -r "$here/." "$folder"
    (
        set -e
        set -o pipefail
        cd "$folder"
        "test_$name"
    ) >"$work/$name.log" 2>&1
    rc=$?
    last=$(tail -n 1 "$work/$name.log" | cut -c 1-110)
    case $rc in
    0)
        printf 'ok    %-18s %s\n' "$name" "$last"
        passed=$((passed + 1))
        rm -rf "$folder"
        ;;
    77)
        printf 'skip  %-18s %s\n' "$name" "$last"
        skipped=$((skipped + 1))
        ;;
    *)
        printf 'FAIL  %-18s (%s)\n' "$name" "$folder"
        tail -n 15 "$work/$name.log" | sed 's/^/      /'
        failed=$((failed + 1))
        ;;
    esac
done
echo "$passed passed, $skipped skipped, $failed failed"
((failed == 0)) || exit 1
((passed > 0)) || exit 77
