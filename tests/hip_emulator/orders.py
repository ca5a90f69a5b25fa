#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the programs of the suites hip-CHIP with the waves going round robin and in random orders.

    TINYGRAD=<a checkout> tests/hip_emulator/orders.py BUILD... [--chips gfx942,gfx1100] [--orders 20] [--jobs N] [--seconds S] [PROGRAM...]

BUILD: build folders. Programs are named as in the suite, without its name (reduce, memory-updates); all of them where none is named. Order 0 is round
robin, 1 to --orders are CGX_EMU_SEED. --jobs run side by side. After --seconds no other run starts. A failure's output is printed, and for each
program in which orders it passed, failed, took longer than --limit, or was not run. Exits with 1 if anything failed, or if nothing was run.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

SKIPPED = 77


def tests_of(build):
    listed = subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True).stdout
    for test in json.loads(listed):
        for suite in test["suite"]:
            chip = suite.split(":")[-1].removeprefix("hip-")
            if chip.startswith("gfx"):
                yield chip, test["name"].removeprefix(f"hip-{chip}-"), test


def run(build, test, order, limit):
    env = {**os.environ, **test["env"], "CGX_EMU_SEED": str(order)}
    try:
        done = subprocess.run(test["cmd"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=limit, cwd=test.get("workdir") or build)
    except subprocess.TimeoutExpired as slow:
        output = slow.stdout or b""
        return None, output if isinstance(output, str) else output.decode(errors="replace")
    return done.returncode, done.stdout


def span(orders):
    """1 2 3 7 -> 1..3 7"""
    parts = []
    for order in sorted(orders):
        if parts and parts[-1][1] == order - 1:
            parts[-1][1] = order
        else:
            parts.append([order, order])
    return " ".join(str(a) if a == b else f"{a}..{b}" for a, b in parts)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="+", metavar="BUILD or PROGRAM")
    options.add_argument("--chips", type=lambda text: text.split(","))
    options.add_argument("--orders", type=int, default=20)
    options.add_argument("--first", type=int, default=0, help="the first order (0: round robin)")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seconds", type=float, default=float("inf"), help="after which no other run starts")
    options.add_argument("--limit", type=float, default=900, help="seconds for one run")
    o = options.parse_intermixed_args()
    builds = [name for name in o.names if os.path.isdir(os.path.join(name, "meson-info"))]
    programs = [name for name in o.names if name not in builds]
    if not builds:
        sys.exit(f"{o.names[0]} is no build folder")
    if not os.environ.get("TINYGRAD"):
        sys.exit("TINYGRAD names no checkout of tinygrad, whose emulator is needed")
    results, start, runs = {}, time.monotonic(), []
    for build in builds:
        for chip, name, test in tests_of(build):
            if (o.chips and chip not in o.chips) or (programs and name not in programs) or name == f"emulator-{chip}":
                continue
            results[chip, name] = {}
            if os.access(test["cmd"][0], os.X_OK):
                runs += [(order, chip, name, build, test) for order in range(o.first, o.orders + 1)]
    # Each program once before any for the second time: what the first run compiles the others find in the cache.
    runs.sort(key=lambda one: one[0])

    def one(job):
        order, chip, name, build, test = job
        mine = results[chip, name]
        if "skipped" in mine.values():
            return
        if time.monotonic() - start > o.seconds:
            mine[order] = "NOT RUN"
            return
        began = time.monotonic()
        code, output = run(build, test, order, o.limit)
        seconds = time.monotonic() - began
        if code == SKIPPED:
            mine[order] = "skipped"
        elif code == 0:
            mine[order] = "passed"
        else:
            mine[order] = f"TOOK LONGER THAN {o.limit:.0f} s" if code is None else "FAILED"
            print(f"{chip} {name}, order {order}: {mine[order]} ({code}, {seconds:.1f} s)\n{output[-6000:]}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(one, runs))
    good = ran = 0
    for (chip, name), mine in sorted(results.items()):
        kinds = sorted(set(mine.values())) or ["NOT BUILT"]
        good += all(kind in ("passed", "skipped") for kind in kinds)
        ran += "passed" in kinds
        print(f"{chip} {name}: " + ", ".join(
            kind if kind in ("skipped", "NOT BUILT") else
            f"{kind} in {span(order for order, k in mine.items() if k == kind)}" for kind in kinds), flush=True)
    print(f"{good} of {len(results)} programs passed in all orders {o.first}..{o.orders} or are skipped, {time.monotonic() - start:.0f} s")
    sys.exit(0 if ran and good == len(results) else 1)


if __name__ == "__main__":
    main()
