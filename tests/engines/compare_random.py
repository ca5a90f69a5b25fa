#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random kernels (generate.py) on fibers and on the compiled engine, bit for bit.

    compare_random.py --build=BUILD [--first=SEED] [--count=N] [--jobs=N] [--minutes=M] [FLAG...]
    compare_random.py --build=BUILD --reduce=SEED [FLAG...]

BUILD is a build folder of this tree; FLAGs go to cgxcc (-O2, -march=...). The first form compiles N kernels from SEED on, many to
a file, prints the seeds of those whose results differ, and reduces the first of them. With --minutes it goes on until they are
over. The second form reduces one kernel: it leaves out statements for as long as the results differ, and prints what is left.
CGX_TEST_KERNELS=N counts instead of --count. Exit status 1: some differ, or one was not compiled that should have been, or none was
compiled in one of the engine's modes.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import generate  # noqa: E402, beside this file

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INCLUDES = ["-I%s/%s" % (ROOT, f) for f in ("api", "backends/cpu/include", "backends/gpu/include", "tests/engines")]
BATCH = 50  # kernels a file
LANES = ("32", "64")
# Why a kernel may be left to the fibers. Anything else is a failure.
KNOWN_REFUSALS = ("barrier_arrive and barrier_wait where threads go different ways",)


class Comparer:
    def __init__(self, build, main, flags):
        self.build, self.flags = os.path.abspath(build), flags
        self.refused = {}  # seeds, and why
        self.modes = {"uniform": 0, "threads on their own ways": 0, "units of 32 threads on their own ways": 0}
        self.env = dict(os.environ, CGXCC_TREE="1", LD_LIBRARY_PATH=self.build)
        self.work = tempfile.mkdtemp(prefix="cgx-random-")
        self.main = self.work + "/run.o"
        subprocess.run(["cc", "-std=c11", "-O1", *INCLUDES, "-c", main, "-o", self.main], check=True)

    def compile(self, seeds, folder, without=()):
        """The program of these kernels; raises where it does not compile."""
        os.makedirs(folder, exist_ok=True)
        generate.write(folder + "/k.c", seeds, without)
        p = subprocess.run([self.build + "/tools/cgxcc/cgxcc", "--backends=cpu", "--cpu-engine=compiled", "--portable-fp",
                            "-std=c11", "-Rpass=cgx", "-Rpass-missed=cgx", *self.flags, *INCLUDES, "-c", folder + "/k.c", "-o",
                            folder + "/k.o"], check=True, env=self.env, capture_output=True, text=True)
        for kernel, why in re.findall(r"remark: .*kernel k(\d+): fibers: (.*) \[", p.stderr):
            self.refused[seeds[int(kernel)]] = why
        for mode in re.findall(r"remark: .*kernel k\d+: compiled: ([^,]*),", p.stderr):
            self.modes[mode] += 1
        subprocess.run(["cc", self.main, folder + "/k.o", "-L" + self.build, "-lcgx", "-o", folder + "/run"], check=True)
        return folder + "/run"

    def output(self, program, engine, lanes):
        env = dict(self.env, CGX_CPU_ENGINE=engine, CGX_CPU_LANES=lanes)
        try:
            p = subprocess.run([program], env=env, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return ["does not end"], []
        return p.stdout.splitlines() + (["status %d" % p.returncode] if p.returncode else []), p.stderr.splitlines()

    def differing(self, program, seeds):
        """Seeds whose results differ; of a program that breaks down, the one that it broke down in."""
        bad = set()
        for lanes in LANES:
            fibers, _ = self.output(program, "fiber", lanes)
            compiled, engines = self.output(program, "compiled", lanes)
            for line in engines: # the program says what of each kernel; libcgx may speak up besides
                said = re.fullmatch(r"(\d+) (\w+)", line)
                if not said:
                    print(line)
                    continue
                seed, engine = said.groups()
                if engine != "compiled" and int(seed) not in self.refused:
                    self.refused[int(seed)] = "no remark says why"
            if len(fibers) != len(compiled) or "status" in fibers[-1]:
                last = [re.match(r"(\d+) ", a) for a in compiled]
                seen = [int(m.group(1)) for m in last if m]
                bad.add(next((s for s in seeds if s not in seen), seen[-1] if seen else seeds[0]))
            for a, b in zip(fibers, compiled):
                if a != b and re.match(r"\d+ ", a):
                    bad.add(int(a.split()[0]))
        return bad

    def batch(self, seeds):
        folder = "%s/%d" % (self.work, seeds[0])
        try:
            bad = self.differing(self.compile(seeds, folder), seeds)
        except subprocess.CalledProcessError as e:
            if len(seeds) == 1:
                print("seed %d does not compile:\n%s" % (seeds[0], (e.stderr or "")[-1500:]))
                return set(seeds)
            bad = set()
            half = len(seeds) // 2
            for part in (seeds[:half], seeds[half:]):  # which one is it?
                bad |= self.batch(part)
        shutil.rmtree(folder, ignore_errors=True)
        return bad

    def still_differs(self, seed, without):
        try:
            return bool(self.differing(self.compile([seed], self.work + "/reduce", without), [seed]))
        except subprocess.CalledProcessError as e:
            return "error:" not in (e.stderr or "") or "broken" in e.stderr  # clang broke down

    def reduce(self, seed):
        kernel = generate.Kernel(seed)
        kernel.text("k")
        without, size = set(), max(1, kernel.number // 2)
        if not self.still_differs(seed, without):
            print("seed %d: the engines agree" % seed)
            return
        while size:
            shrunk, at = False, 1
            while at <= kernel.number:
                more = {i for i in range(at, min(at + size, kernel.number + 1))} - without
                if more and self.still_differs(seed, without | more):
                    without |= more
                    shrunk = True
                at += size
            size = size // 2 if not shrunk or size > 1 else size
        print("seed %d, --without=%s:" % (seed, ",".join(map(str, sorted(without)))))
        print(generate.Kernel(seed, without).text("k"))
        program = self.compile([seed], self.work + "/reduce", without)
        for lanes in LANES:
            for engine in ("fiber", "compiled"):
                print("%s, %s lanes:\n    %s" % (engine, lanes, "\n    ".join(self.output(program, engine, lanes)[0])))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--main", default=HERE + "/run_random.c", help="the program around the kernels")
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--minutes", type=float, default=0)
    p.add_argument("--reduce", type=int)
    options, flags = p.parse_known_args()
    c = Comparer(options.build, options.main, flags)
    try:
        if options.reduce is not None:
            c.reduce(options.reduce)
            return 0
        count = int(os.environ.get("CGX_TEST_KERNELS", options.count))
        end = time.time() + options.minutes * 60
        bad, done, first = set(), 0, options.first
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            while done < count or time.time() < end:
                some = min(count - done, BATCH * options.jobs) if done < count else BATCH * options.jobs
                seeds = list(range(first + done, first + done + some))
                for b in pool.map(c.batch, [seeds[i:i + BATCH] for i in range(0, some, BATCH)]):
                    bad |= b
                done += some
        print("%d kernels from seed %d on, %s: %d compiled (%s), %d differ%s" %
              (done, first, " ".join(flags), done - len(c.refused), ", ".join("%d %s" % (n, m) for m, n in c.modes.items()),
               len(bad), "".join(" %d" % s for s in sorted(bad))))
        unknown = {seed: why for seed, why in c.refused.items() if why not in KNOWN_REFUSALS}
        for seed, why in sorted(unknown.items())[:5]:
            print("seed %d was not compiled: %s" % (seed, why))
        few = len(c.refused) * 10 > done
        if few:
            print("more than a tenth was not compiled")
        plain = "-g" in flags and {"-O0", "-O1"} & set(flags)  # variables are kept, so that no units are made
        unused = [mode for mode, n in c.modes.items() if not n and done >= BATCH and not (plain and mode.startswith("units"))]
        for mode in unused:
            print("none was compiled as: %s" % mode)
        if bad:
            c.reduce(min(bad))
        return 1 if bad or unknown or few or unused else 0
    finally:
        shutil.rmtree(c.work, ignore_errors=True)


sys.exit(main())
