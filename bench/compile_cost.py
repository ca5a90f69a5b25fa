#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compile_cost.py [--build=DIR] [--rounds=N] [--json=FILE]: what compiled entries cost, kernel by kernel of engines_kernels.c.

Bytes of code of each entry at x86-64-v3, and processor time of clang for a file with that kernel alone: with the fibers' entry, as any
compiler reads the file; with a general compiled entry beside it; and with entries for sizes of blocks, too. One level, -O3, without
debug information; the least of N times, which take turns. The last rows are a file with nothing but the headers, and all kernels."""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDES = ["-I" + os.path.join(ROOT, d) for d in ("bench", "api", "backends/cpu/include", "backends/gpu/include")]
SIZES = ("any", "256", "64n", "16x16", "32n")
NO_LEVELS = ["-DCGX_CPU_V%d=0" % level for level in (2, 3, 4)]


def kernels():
    """{name: text}: the headers alone, each kernel with what it calls, and the whole file."""
    with open(os.path.join(ROOT, "bench", "engines_kernels.c"), encoding="utf-8") as file:
        head, *parts = re.split(r"(?m)^(?=CGX_(?:KERNEL|DEVICE_FN))", file.read())
    texts, helpers = {}, {}
    for part in parts:
        helper = re.match(r"CGX_DEVICE_FN \w+ (\w+)", part)
        if helper:
            helpers[helper.group(1)] = part
            continue
        body = part[part.index("{") :]
        needed = "".join(text for name, text in helpers.items() if re.search(r"\b%s\(" % name, body))
        texts[re.search(r"engines_(\w+)", part).group(1)] = head + needed + part
    return {**texts, "(headers)": head, "(all)": head + "".join(parts)}


class Compiler:
    def __init__(self, build):
        with open(os.path.join(build, "meson-info", "intro-targets.json"), encoding="utf-8") as file:
            plugins = [t["filename"][0] for t in json.load(file) if t["name"] == "cgx-pass"]
        if not plugins:
            sys.exit("%s has no plug-in" % build)
        self.plugin = plugins[0]
        self.clang = os.environ.get("CLANG", "clang-19")
        self.folder = tempfile.TemporaryDirectory()

    def run(self, text, level, engine):
        """Seconds, and the object. ENGINE: fibers, general or all."""
        made = os.path.join(self.folder.name, "kernel.o")
        command = [self.clang, "-std=c11", "-O3", "-fPIC", "-g0", "-march=" + level, "-w", *INCLUDES, *NO_LEVELS]
        if engine != "fibers":
            command += ["-fpass-plugin=" + self.plugin, "-DCGX__CPU_PASS=1"]
        environment = dict(os.environ, **({"CGX_PASS_GENERAL": "1"} if engine == "general" else {}))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command + ["-x", "c", "-c", "-o", made, "-"], input=text.encode(), check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, made

    def bytes_of(self, made):
        """{size of block: bytes of code}; none: the entry that chooses, or the only one."""
        sizes = {}
        for line in subprocess.run(["nm", "-S", made], capture_output=True, text=True, check=True).stdout.splitlines():
            found = re.match(r"\w+ (\w+) t cgx__compiled_base_\w+?(?:\.(\w+))?$", line)
            if found:
                size = found.group(2) or "chooses"
                sizes[size] = sizes.get(size, 0) + int(found.group(1), 16)
        if len(sizes) == 1:
            sizes["any"] = sizes.pop("chooses")
        return sizes


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=os.path.join(ROOT, "build"))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json")
    options = options.parse_args()
    compiler = Compiler(options.build)
    rows = []
    print("bytes of code at x86-64-v3, and seconds of one core at x86-64-v3 and at the baseline")
    print("%-20s" % "kernel" + "".join("%8s" % s for s in SIZES), end="")
    print(" | %7s %8s %6s %6s | %7s %8s %6s" % ("fibers", "general", "all", "ratio", "fibers", "general", "ratio"))
    for name, text in kernels().items():
        subjects = [(level, engine) for level in ("x86-64-v3", "x86-64") for engine in ("fibers", "general", "all")]
        subjects.pop()  # the baseline has the general entry alone
        seconds = {s: float("inf") for s in subjects}
        for _ in range(options.rounds):
            for s in subjects:
                took, made = compiler.run(text, *s)
                seconds[s] = min(seconds[s], took)
                if s == ("x86-64-v3", "all"):
                    sizes = compiler.bytes_of(made)
        v3 = [seconds["x86-64-v3", e] for e in ("fibers", "general", "all")]
        base = [seconds["x86-64", e] for e in ("fibers", "general")]
        rows.append({"kernel": name, "bytes": sizes, "v3": v3, "base": base})
        print("%-20s" % name + "".join("%8s" % sizes.get(s, "") for s in SIZES), end="")
        print(" | %7.2f %8.2f %6.2f %6.2f" % (*v3, v3[2] / v3[0]), end="")
        print(" | %7.2f %8.2f %6.2f" % (*base, base[1] / base[0]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


main()
