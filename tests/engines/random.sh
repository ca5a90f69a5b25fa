#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# random.sh CGXCC LIBCGX-FOLDER SOURCE-ROOT WORK FIRST-SEED COUNT [FLAG...]: random kernels on fibers and compiled. Prints the seeds
# of those that differ and reduces the first of them to few statements. CGX_TEST_KERNELS: how many kernels instead of COUNT.
set -euo pipefail
cgxcc=$(readlink -f "$1") lib=$(readlink -f "$2") root=$(readlink -f "$3") work=$4 first=$5
count=${CGX_TEST_KERNELS:-$6}
shift 6
flags=("$@")
here=$root/tests/engines
mkdir -p "$work"
cd "$work"
includes=()
for f in api backends/cpu/include backends/gpu/include tests/engines; do includes+=("-I$root/$f"); done
export CGXCC_TREE=1

# build SEED COUNT [--without=...]: program NAME in the folder
build() {
    python3 "$here/generate.py" "$1" "$2" kernels.c "${@:3}"
    "$cgxcc" --backends=cpu --cpu-engine=compiled --portable-fp -std=c11 "${flags[@]}" "${includes[@]}" -c kernels.c -o kernels.o
    [[ -e run.o ]] || gcc -std=c11 -O1 "${includes[@]}" -c "$here/run_random.c" -o run.o
    gcc run.o kernels.o -L"$lib" -lcgx -Wl,-rpath,"$lib" -o program
}
# differs: the seeds whose results are not the same
differs() {
    CGX_CPU_ENGINE=fiber timeout 120 ./program >fiber 2>/dev/null || echo "exit $?" >>fiber
    CGX_CPU_ENGINE=compiled timeout 120 ./program >compiled 2>engines || echo "exit $?" >>compiled
    diff fiber compiled | sed -n 's/^[<>] \([0-9]*\) .*/\1/p' | sort -un
    cmp -s fiber compiled || [[ $(tail -n 1 fiber) == $(tail -n 1 compiled) ]] || tail -n 1 compiled | sed -n 's/^exit/program: exit/p'
}

rm -f run.o
bad=() taken=0 done=0
while ((done < count)); do
    some=$((count - done < 40 ? count - done : 40))
    build $((first + done)) "$some"
    mapfile -t found < <(differs)
    bad+=("${found[@]}")
    taken=$((taken + $(grep -c compiled engines || true)))
    done=$((done + some))
done
echo "$count kernels from seed $first on, ${flags[*]}: $taken compiled, ${#bad[@]} differ${bad[*]:+: ${bad[*]}}"
((taken == count)) || { echo "not all were compiled: $(grep -v compiled engines | head -n 3 | tr '\n' ' ')"; exit 1; }
((${#bad[@]})) || exit 0

# The reducer: leaves out one statement after the other for as long as the results still differ.
seed=${bad[0]}
[[ $seed =~ ^[0-9]+$ ]] || exit 1
without=
for ((i = 1; i <= 80; i++)); do
    if build "$seed" 1 "--without=$without,$i" 2>/dev/null && [[ $(differs) ]]; then
        without+=",$i"
    fi
done
build "$seed" 1 "--without=$without"
echo "seed $seed, --without=${without#,}:"
sed -n '/^CGX_KERNEL/,/^}/p' kernels.c
diff fiber compiled || true
exit 1
