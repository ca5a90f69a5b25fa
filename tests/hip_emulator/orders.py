#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the programs of the suites hip-CHIP with the waves going round robin and in random orders.

    TINYGRAD=<a checkout> tests/hip_emulator/orders.py BUILD [--chips gfx942,gfx1100] [--orders 20] [--seconds S] [PROGRAM...]

Programs are named as in the suite, without its name (reduce, memory-updates); all of them where none is named. Order 0 is round
robin, 1 to --orders are CGX_EMU_SEED. --seconds ends a program's list of orders early: what was run is printed for each, and a
failure's output with it. Exits with 1 if anything failed, or if nothing was run.
"""
import argparse
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


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build")
    options.add_argument("program", nargs="*")
    options.add_argument("--chips", type=lambda text: text.split(","))
    options.add_argument("--orders", type=int, default=20)
    options.add_argument("--first", type=int, default=0, help="the first order (0: round robin)")
    options.add_argument("--seconds", type=float, default=float("inf"), help="for one program on one chip")
    options.add_argument("--limit", type=float, default=900, help="seconds for one run")
    o = options.parse_intermixed_args()
    if not os.environ.get("TINYGRAD"):
        sys.exit("TINYGRAD names no checkout of tinygrad, whose emulator is needed")
    failures = runs = 0
    for chip, name, test in tests_of(o.build):
        if (o.chips and chip not in o.chips) or (o.program and name not in o.program) or name == f"emulator-{chip}":
            continue
        if not os.access(test["cmd"][0], os.X_OK):
            print(f"{chip} {name}: not built", flush=True)
            continue
        start, passed, failed, skipped = time.monotonic(), [], [], False
        for order in range(o.first, o.orders + 1):
            if time.monotonic() - start > o.seconds:
                break
            code, output = run(o.build, test, order, o.limit)
            if code == SKIPPED:
                skipped = True
                break
            runs += 1
            if code == 0:
                passed.append(order)
                continue
            failed.append(order)
            print(f"{chip} {name}, order {order}: {'too slow' if code is None else code}\n{output[-6000:]}", flush=True)
        failures += len(failed)
        span = f"{passed[0]}..{passed[-1]}" if passed and len(passed) == passed[-1] - passed[0] + 1 else passed
        print(f"{chip} {name}: " + ("skipped" if skipped else f"passed in {len(passed)} orders ({span})" +
                                    (f", FAILED in {failed}" if failed else "")) +
              f", {time.monotonic() - start:.1f} s", flush=True)
    sys.exit(1 if failures or not runs else 0)


if __name__ == "__main__":
    main()
