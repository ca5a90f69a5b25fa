# SPDX-License-Identifier: MIT
"""sass.py WORK INSTRUCTIONS [KERNEL...]: what scripts/sass.sh prints. WORK has sass_kernels.o, bytes_kernels.o and representative.o, objects of
cgxcc; the fat binary is taken from their image table (api/cgx/abi.h)."""
import collections
import re
import struct
import subprocess
import sys

work, table, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]


def image(path):
    """The CUDA image of an object and its target text."""
    elf = open(path, "rb").read()
    shoff = struct.unpack_from("<Q", elf, 0x28)[0]
    entry, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", elf, shoff + i * entry) for i in range(count)]
    base = sections[names][4]
    for name, _, _, _, offset, size in sections:
        text = elf[base + name:elf.index(b"\0", base + name)]
        if text != b".rodata.cgx_images":
            continue
        data = elf[offset:offset + size]
        for i in range(struct.unpack_from("<4sHHQ", data)[2]):
            kind, _, start, length, target = struct.unpack_from("<IIQQ40s", data, 16 + 64 * i)
            if kind == 1:
                return data[start:start + length], target.rstrip(b"\0").decode()
    sys.exit(path + ": no CUDA image")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(command) + ": " + done.stderr)
    return done.stdout


def disassemble(path):
    """{chip: {kernel: [instruction]}} and the set of PTX architectures."""
    chips, chip, kernel = {}, None, None
    for line in run("cuobjdump", "-sass", path).splitlines():
        if m := re.match(r"\s*code for sm_(\d+)", line):
            chip = int(m[1])
        elif m := re.match(r"\s*Function : (\w+?)(__device)?$", line):
            kernel = m[1]
            chips.setdefault(chip, {})[kernel] = []
        elif m := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line):
            chips[chip][kernel].append(re.sub(r"^@!?U?P\w+\s+", "", re.sub(r"\s+", " ", m[1])))
    ptx = {int(n) for n in re.findall(r"\.sm_(\d+)\.ptx", run("cuobjdump", "-lptx", path))}
    return chips, ptx


def covers(text, chip):
    for part in text.split(","):
        low, dash, high = part.partition("-")
        if part == "*" or part == str(chip) or (part.endswith("+") and chip >= int(part[:-1])) or \
                (dash and int(low) <= chip <= int(high)):
            return True
    return False


fatbin = work + "/image.fatbin"
failed = 0
chips = {}  # of both files of kernels
for name in ("representative", "bytes_kernels", "sass_kernels"):
    data, target = image(f"{work}/{name}.o")
    open(fatbin, "wb").write(data)
    these, ptx = disassemble(fatbin)
    listed = [int(n) for n in re.findall(r"\d+", target)]
    newest = max(listed)
    expected_ptx = {newest} | ({90} if 90 in listed else set())
    print(f"{name}: code of {', '.join('sm_%d' % c for c in these)}; PTX of {', '.join('compute_%d' % p for p in sorted(ptx))}")
    if sorted(these) != sorted(listed) or ptx != expected_ptx:
        print(f"FAIL {name}: the table says {target}, PTX was expected of {sorted(expected_ptx)}")
        failed += 1
    if name != "representative":
        for chip, kernels in these.items():
            chips.setdefault(chip, {}).update(kernels)

if wanted:
    for chip in sorted(chips):
        for kernel in wanted:
            print(f"\n== {kernel}, sm_{chip}")
            print("\n".join("  " + i for i in chips[chip].get(kernel, ["not there"])))
    sys.exit(0)

# What is worth a line: what a primitive is made of.
telling = re.compile(r"^(SYNCS|ATOMS|ARRIVES|LDGSTS|LDGDEPBAR|DEPBAR|UBLKCP|UTMACMDFLUSH|UTMASTG|BAR|UCGABAR_\w+|REDUX|CREDUX|SHFL"
                     r"|VOTEU?|MATCH|ATOMG?|REDG?|ELECT|NANOSLEEP|MEMBAR|ERRBAR|CCTL|FENCE|WARPSYNC|CALL|LD|LDG|STS|LDS)\b")
for kernel in sorted(k for k in chips[max(chips)]):
    print(f"\n{kernel}")
    for chip in sorted(chips):
        code = chips[chip][kernel]
        counts = collections.Counter(m[0] for i in code if (m := telling.match(i)))
        print(f"  sm_{chip:<4} {len([i for i in code if i != 'NOP']):4}  " + " ".join(f"{n}:{c}" for n, c in counts.items()))

checks = 0
for number, line in enumerate(open(table), 1):
    words = line.split()
    if not words or line.startswith("#"):
        continue
    kernel, where, patterns = words[0], words[1], words[2:]
    if kernel not in chips[max(chips)]:
        print(f"FAIL line {number}: no kernel {kernel}")
        failed += 1
        continue
    for chip in sorted(chips):
        if not covers(where, chip):
            continue
        for pattern in patterns:
            absent = pattern.startswith("!")
            found = any(re.search(pattern.lstrip("!"), i) for i in chips[chip][kernel])
            checks += 1
            if found == absent:
                print(f"FAIL {kernel} on sm_{chip} {'has' if absent else 'has no'} {pattern.lstrip('!')}")
                failed += 1
for kernel in chips[max(chips)]:
    if not any(line.split()[:1] == [kernel] for line in open(table)):
        print(f"FAIL {kernel} is not in the table")
        failed += 1
print(f"\n{checks} checks, {failed} failed")
sys.exit(failed > 0)
