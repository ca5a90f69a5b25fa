#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fallbacks.py [--write] BUILD: which kernels of the suite's compiled programs are left to the fibers, against fallbacks.txt.

The plug-in leaves a remark beside each kernel; it is read from the programs as they are (of ELF and 64 bits), so nothing is
compiled. A kernel that is not in the list, or for another reason, is a failure, and so is one in the list that is compiled now.
Programs that were not built are passed over. --write: makes the list."""
import glob
import os
import re
import struct
import subprocess
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fallbacks.txt")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def remarks(program):
    """{kernel: remark}: in a cgx_kernel there are two pointers to text, its name and the remark, and files."""
    with open(program, "rb") as file:
        image = file.read()
    at, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    segments = [struct.unpack_from("<IIQQQQ", image, at + i * size) for i in range(count)]

    def text(address):
        for kind, _, offset, start, _, length in segments:
            if kind == 1 and start <= address < start + length:  # loaded
                begin = offset + address - start
                return image[begin : image.index(b"\0", begin)].decode(errors="replace")
        return ""

    pointers = {}
    for line in output("readelf", "-rW", program).splitlines():
        found = re.match(r"([0-9a-f]{12,16})  [0-9a-f]+ R_\w+_RELATIVE +([0-9a-f]+)$", line)
        if found:
            pointers[int(found.group(1), 16)] = int(found.group(2), 16)
    kernels = {}
    for line in output("nm", "-S", program).splitlines():
        found = re.match(r"([0-9a-f]+) ([0-9a-f]+) \w (\w+)__kernel$", line)
        if found:
            start, size = int(found.group(1), 16), int(found.group(2), 16)
            texts = [text(pointers[p]) for p in range(start, start + size, 8) if p in pointers]
            said = [t for t in texts if re.match("(compiled|fibers|loop): ", t)]
            if said:
                kernels[re.sub(r"^_ZL?\d+", "", found.group(3))] = re.sub(r" \(line \d+\)$", "", said[0])
    return kernels


def main():
    write, build = "--write" in sys.argv, sys.argv[-1]
    programs = [p for p in glob.glob(build + "/tests/*/*") if re.search(r"(_compiled|/run_engines)$", p) and os.path.isfile(p)]
    with open(LIST, encoding="utf-8") as file:
        head = [line for line in file if line.startswith("#")]
        file.seek(0)
        known = {tuple(line.rstrip("\n").split(" ", 1)) for line in file if not line.startswith("#")}
    found, seen = set(), 0
    for program in sorted(programs):
        kernels = remarks(program)
        seen += len(kernels)
        found |= {(os.path.basename(program), "%s: %s" % k) for k in kernels.items() if k[1].startswith("fibers")}
    if write:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(head + ["%s %s\n" % f for f in sorted(found)])
        return 0
    known = {k for k in known if k[0] in {os.path.basename(p) for p in programs}}
    for f in sorted(found - known):
        print("not in fallbacks.txt:", *f)
    for f in sorted(known - found):
        print("in fallbacks.txt, and is no fallback any more:", *f)
    print("%d programs, %d kernels, %d on fibers" % (len(programs), seen, len(found)))
    return int(not seen or found != known)


sys.exit(main())
