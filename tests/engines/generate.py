#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py SEED COUNT FILE: writes COUNT random kernels, without races, and the table that run_random.c launches.

A kernel works on a value and a few counters of its own, and on a shared array whose element r only thread r writes; what it reads of
others' elements it reads between two barriers. Statements nest: loops and branches, uniform and divergent, barriers and collectives
where all members come to them, breaks, early ends, helpers. A reduced kernel is one with fewer statements: reduce.sh drops them by
number, named with --without=1,5,7.
"""
import random
import sys


class Kernel:
    def __init__(self, seed, without):
        self.r = random.Random(seed)
        self.out = []
        self.depth = 0
        self.number = 0
        self.budget = self.r.randint(6, 26)
        self.loops = 0
        self.without = without
        self.ended = False

    def line(self, text):
        self.out.append("    " * (self.depth + 1) + text)

    def uniform(self):
        """A condition that is the same in the whole block."""
        return self.r.choice(["n > 3", "u % 3 == 1", "(u & 1) == 0", "blk % 2 == 0", "u < n + 2", "cgx_any(b, v > 0.75f)",
                              "cgx_reduce(b, k, CGX_PLUS) % 2 == 0"])

    def divergent(self):
        return self.r.choice(["t % 3 == 0", "v > 0.5f", "(k & 3) < 2", "t < size / 2", "lane == (u & 31)", "t / 32 == 0",
                              "((t + u) & 7) == 5", "t == 0", "t >= (u & 31)", "x == u % 7", "x >= 3 && y == 1",
                              "x + u <= n + 9", "t > 5 && t <= (u & 63)", "x != n && x < 7", "z == 0 && x == 2",
                              "(unsigned)t < (unsigned)u", "g - 70 < all / 3", "!(x > 4 || y < 2)"])

    def value(self):
        return self.r.choice(["v * 0.5f", "v + 0.25f", "v - (float)(t & 3)", "(float)k * 0.125f + v", "v * v * 0.25f",
                              "in[g] - v", "mine[k & 3] * 0.5f + v", "(float)(u & 15) - v", "in[(g + u) % all]"])

    def step(self, text):
        """A statement that can be left out."""
        self.number += 1
        if self.number not in self.without:
            for part in text if isinstance(text, list) else [text]:
                self.line(part)

    def plain(self):
        self.step(self.r.choice([
            f"v = {self.value()};", "k = k * 5 + t;", "k ^= (int)(v * 8.0f) & 63;", f"mine[k & 3] = {self.value()};",
            "mine[u & 3] += v;", "k += (int)sizeof(float) + u;", "v = v > 4.0f ? v * 0.0625f : v;",
            "v = k & 1 ? mine[1] : v;"]))

    def exchange(self, where):
        """A barrier between what each thread writes and what others read. Of the block, or of tiles where a branch parts warps."""
        at = self.r.choice(["(t + u + 1) % size", "size - 1 - t", "(t ^ 1)"])
        if where == "block":
            self.step(["s[t] = v;", "cgx_sync(b);", f"v = v * 0.5f + s[{at} < size ? {at} : t];", "cgx_sync(b);"])
        else:
            self.step(["s[t] = v;", "cgx_sync(w);", "v = v * 0.5f + s[t - lane + ((lane + u) & 31)];", "cgx_sync(w);"])

    def collective(self, where):
        g = self.r.choice(["b", "w", "q"]) if where == "block" else self.r.choice(["w", "q"])
        kinds = [
            f"v = v * 0.5f + cgx_reduce({g}, v, CGX_PLUS) * 0.001f;", f"k += cgx_reduce({g}, k & 15, CGX_GREATER);",
            f"v += cgx_inclusive_scan({g}, v, CGX_LESS) * 0.25f;", f"k ^= cgx_exclusive_scan({g}, k & 7, CGX_PLUS);",
            f"v = cgx_shfl({g}, v, t + u);", f"v = cgx_shfl_xor({g}, v, {self.r.choice([1, 2, 3, 4, 5, 8, 9, 16, 31, 'u & 15', 'k & 7'])}) * 0.5f;",
            f"v = cgx_shfl({g}, v, {self.r.choice(['0', 'u', '3', 'k'])}) + 0.125f;",
            f"k += (int)cgx_shfl_up({g}, (short)k, {self.r.choice(['1', '4', 'u & 3'])});",
            f"v += (float)cgx_shfl_down({g}, (double)v, {self.r.choice(['1', '7', 'u & 7'])}) * 0.125f;", f"k += cgx_shfl_up({g}, k, 2) & 31;",
            f"v += (float)cgx_shfl_down({g}, (double)v, k & 3);", f"k += cgx_any({g}, v > 1.0f) ? 3 : 1;",
            f"k ^= cgx_all({g}, v < 2.0f) ? 1 : 2;", f"v = v * 0.5f + helper_{g}({g}, v, k);"]
        if g != "b":
            kinds += [f"k += (int)__builtin_popcountll(cgx_ballot({g}, v > 0.5f));",
                      f"k += (int)(cgx_match_any({g}, k & 3) & 255);",
                      f"v += cgx_reduce(cgx_labeled_partition({g}, k & 1), v, CGX_PLUS) * 0.001f;"]
        self.step(self.r.choice(kinds))

    def block(self, where, many):
        for _ in range(self.r.randint(1, many)):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement(where)

    def nest(self, head, where, many=3, tail="}"):
        self.number += 1
        kept = self.number not in self.without
        if kept:
            self.line(head + " {")
            self.depth += 1
        self.block(where, many)
        if kept:
            self.depth -= 1
            self.line(tail)

    def statement(self, where):
        what = self.r.random()
        if what < 0.25 or self.depth > 4:
            self.plain()
        elif what < 0.42 and where != "thread":
            self.exchange(where)
        elif what < 0.60 and where != "thread":
            self.collective(where)
        elif what < 0.70:
            if where == "block":
                self.nest(f"if ({self.uniform()})", where)
            elif where == "warp":
                self.nest("if (cgx_any(w, v > 0.5f))", where)
            else:
                self.nest(f"if ({self.divergent()})", where)
        elif what < 0.78:
            self.nest(f"if ({self.divergent()})", "thread")
        elif what < 0.84 and where == "block":
            self.nest(f"if (t / 32 {self.r.choice(['== 0', '% 2 == 1', '!= 1'])})", "warp")
        elif what < 0.94:
            self.loops += 1
            i = f"i{self.loops}"
            end = {"block": self.r.choice(["n", "3", "(u & 3) + 1"]), "warp": "(t / 32) % 3 + 1",
                   "thread": "(t & 3) + 1"}[where]
            self.nest(f"for (int {i} = 0; {i} < {end}; {i}++)", where, 4)
            if where == "block":
                self.step("u++;")
        elif what < 0.97 and where == "block":
            self.loops += 1
            i = f"i{self.loops}"
            self.number += 1
            kept = self.number not in self.without
            if kept:
                self.line(f"for (int {i} = 0;; {i}++) {{")
                self.depth += 1
            self.block(where, 2)
            if kept:
                self.line(f"if ({i} >= 2 || cgx_all(b, v > 0.9f))")
                self.line("    break;")
            self.block(where, 2)
            if kept:
                self.depth -= 1
                self.line("}")
        else:
            self.plain()

    def text(self, name):
        early = self.r.random() < 0.15
        self.exchange("block")  # a kernel that never waits has one engine
        self.block("block", 8)
        while self.budget > 0:
            self.block("block", 8)
        if early:  # behind it come barriers alone, which count those that have ended
            self.step(["if (t % 5 == 3) {", "    out[g] = v;", "    return;", "}"])
            for _ in range(self.r.randint(1, 3)):
                self.step(["s[t] = v;", "cgx_sync(b);", "v = v + s[t] * 0.5f;", "cgx_sync(b);"])
        head = ["CGX_KERNEL(%s, (int, n), (const float *, in), (float *, out))" % name, "{",
                "    CGX_SHARED_ARRAY(float, s, 1024);", "    cgx_block b = cgx_this_block();",
                "    cgx_tile_32 w = cgx_tiled_partition(b, 32);", "    cgx_tile_8 q = cgx_tiled_partition(w, 8);",
                "    const int t = cgx_thread_rank(b), size = cgx_num_threads(b), lane = cgx_thread_rank(w);",
                "    const int64_t g = cgx_thread_rank(cgx_this_grid()), all = cgx_num_threads(cgx_this_grid());",
                "    const int x = cgx_thread_index(b).x, y = cgx_thread_index(b).y, z = cgx_thread_index(b).z;",
                "    const int blk = (int)cgx_block_rank(cgx_this_grid());",
                "    float v = in[g], mine[4] = { v, v + 1.0f, v * 2.0f, 0.5f };", "    int k = t & 7, u = blk + n;",
                "    (void)q, (void)lane, (void)size, (void)all, (void)blk, (void)u, (void)x, (void)y, (void)z;"]
        return "\n".join(head + self.out + ["    out[g] = v + (float)(k & 1023) + mine[k & 3];", "}", ""])


HELPERS = """
#define HELPER(name, type)                                                  \\
    static float helper_##name(type g, float v, int k)                      \\
    {                                                                       \\
        for (int i = 0; i < 2; i++)                                         \\
            v = v * 0.5f + cgx_shfl(g, v + (float)(k & 1), i) * 0.25f;      \\
        return v;                                                           \\
    }
HELPER(b, cgx_block)
HELPER(w, cgx_tile_32)
HELPER(q, cgx_tile_8)
"""


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    without = set()
    for a in sys.argv[4:]:
        if a.startswith("--without="):
            without = {int(x) for x in a[10:].split(",") if x}
    with open(sys.argv[3], "w") as f:
        f.write("/* generate.py %d %d */\n#include <cgx.h>\n#include \"run_random.h\"\n%s" % (seed, count, HELPERS))
        for i in range(count):
            f.write("/* seed %d */\n%s" % (seed + i, Kernel(seed + i, without).text("k%d" % i)))
        f.write("const random_kernel random_kernels[] = {\n")
        for i in range(count):
            f.write("    { %d, k%d_launch, CGX_KERNEL_OF(k%d) },\n" % (seed + i, i, i))
        f.write("};\nconst int random_kernel_count = %d;\n" % count)


main()
