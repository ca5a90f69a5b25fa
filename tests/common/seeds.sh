#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# seeds.sh PROGRAM [COUNT]: the program's small form under COUNT (20) random schedules, copies put off at random in every other
# one. Prints the seed of each that fails; `CGX_CPU_SCHEDULE=seed:N` with the other settings shown repeats it.
program=$1
failed=0
for ((seed = 1; seed <= ${2:-20}; seed++)); do
    async=early
    ((seed % 2)) || async=random
    ((seed % 5)) || async=late
    export CGX_CPU_SCHEDULE=seed:$seed CGX_CPU_ASYNC=$async CGX_TEST_SMALL=1
    "$program" >"/tmp/cgx-seeds.$$" 2>&1
    status=$?
    if ((status == 77)); then
        rm -f "/tmp/cgx-seeds.$$"
        exit 77
    elif ((status)); then
        echo "FAILED with status $status: CGX_CPU_SCHEDULE=seed:$seed CGX_CPU_ASYNC=$async CGX_TEST_SMALL=1 $program"
        grep -E 'seed|CGX_|ERROR|error|FAILED' "/tmp/cgx-seeds.$$" | head -20
        failed=1
    fi
done
rm -f "/tmp/cgx-seeds.$$"
exit $failed
