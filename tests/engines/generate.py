#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py SEED COUNT FILE [--without=1,5,7]: writes COUNT random kernels, without races, and the table that run_random.c
launches.

A kernel works on a value and a few counters of its own, on a shared array whose element r only thread r writes, and on shared
counters that are added to in any order; what a thread reads of others it reads between two barriers. Statements nest: loops and
branches, uniform and divergent, switches, barriers and collectives where all members come to them, breaks and continues, early
ends, helpers that wait. Statements have numbers, and those of --without are left out: a nested one leaves its contents behind.

Some kernels part whole warps alone, which hand values to each other through a ring with mbarriers.

Where a statement stands says what it may do: in "block" all threads come together, in "warp" all of a tile of 32, in "thread"
nobody is sure of others. A kernel either has tiles, and blocks of whole warps, or none, and blocks of any size.
"""
import random
import sys


class Kernel:
    def __init__(self, seed, without=()):
        self.seed = seed
        self.r = random.Random(seed)
        self.out = []
        self.depth = 0
        self.number = 0
        self.budget = self.r.choice([3, 5, 7, 10, 14, 22])
        self.loops = 0
        self.without = without
        self.tiles = self.r.random() < 0.75
        self.mbarrier = self.r.random() < 0.12
        self.halves = self.r.random() < 0.15
        self.coalesced = self.tiles and self.r.random() < 0.1
        # Threads part before waits by whole warps alone, and often.
        self.by_warps = not self.coalesced and self.r.random() < 0.4
        # A block size declared at the kernel: one that run_random.c launches.
        self.declared = (None, "256, 1, 1" if self.tiles else "100, 1, 1", "16, 16, 1")[self.r.choice([0] * 10 + [1, 2])]
        self.gone = False  # threads have ended: collectives of the block have no longer every member
        self.warp_gone = False  # and some of a warp

    def line(self, text):
        self.out.append("    " * (self.depth + 1) + text)

    # ---- expressions ----

    def uniform(self):
        """A condition that is the same in the whole block."""
        kinds = ["n > 3", "u % 3 == 1", "(u & 1) == 0", "blk % 2 == 0", "u < n + 2", "count[1] % 2u == 0", "size > 40"]
        if not self.gone:
            kinds += ["cgx_any(b, v > 0.75f)", "cgx_reduce(b, k, CGX_PLUS) % 2 == 0"]
        return self.r.choice(kinds)

    def divergent(self):
        return self.r.choice(["t % 3 == 0", "v > 0.5f", "(k & 3) < 2", "t < size / 2", "(t & 31) == (u & 31)", "t / 32 == 0",
                              "((t + u) & 7) == 5", "x > y", "wide > (double)v", "t == 0", "t >= (u & 31)", "x == u % 7",
                              "x >= 3 && y == 1", "x + u <= n + 9", "t > 5 && t <= (u & 63)", "x != n && x < 7",
                              "z == 0 && x == 2", "(unsigned)t < (unsigned)u", "g - 70 < all / 3", "!(x > 4 || y < 2)"])

    def value(self):
        return self.r.choice(["v * 0.5f", "v + 0.25f", "v - (float)(t & 3)", "(float)k * 0.125f + v", "v * v * 0.25f",
                              "in[g] - v", "mine[k & 3] * 0.5f + v", "(float)(u & 15) - v", "in[(g + u) % all]",
                              "(float)y + v * 0.5f", "*at + v", "(float)wide * 0.25f", "plain_helper(v, k)"])

    # ---- statements ----

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
            "v = k & 1 ? mine[1] : v;", "at = &mine[k & 3];", "at = k & 2 ? at : &mine[t & 1];", "*at = v * 0.5f;",
            "wide = wide * 0.5 + (double)v;", "k += x * 3 + z;", 
            "cgx_atomic_fetch_add(&count[k & 1 ? 2 : 3], 1u, CGX_RELAXED, CGX_SCOPE_BLOCK);"]))

    def exchange(self, where):
        """A barrier between what each thread writes and what others read. Of the block, or of tiles where a branch parts warps."""
        at = self.r.choice(["(t + u + 1) % size", "size - 1 - t", "(t ^ 1)"])
        if where == "block":
            barrier = self.r.choice(["cgx_sync(b);", "cgx_sync(b);", "helper_sync(b);"])
            left = self.r.choice(["t > 0 ? s[t - 1] : g > 0 ? in[g - 1] : 0.5f", "t >= (u & 3) ? s[t - (u & 3)] : v",
                                  "x > 1 && t > 1 ? s[t - 2] : y > 0 ? in[t] : s[t]"])
            right = self.r.choice(["t < size - 1 ? s[t + 1] : g < all - 1 ? in[g + 1] : 0.25f",
                                   "x < 3 ? s[(t + 9) % size] : x < u % 32 ? in[t + 1] : 2.0f", "t == n ? in[t] : s[t]"])
            kinds = [["s[t] = v;", barrier, f"v = v * 0.5f + s[{at} < size ? {at} : t];", "cgx_sync(b);"],
                     ["s[t] = v;", barrier, "{", f"    const float left = {left};", f"    const float right = {right};",
                      "    v = v * 0.5f + 0.25f * (left + right);", "}", "cgx_sync(b);"]]
            kinds.append(["s[t] = v;", barrier, "{", "    float sum = v * 0.25f;", "    for (int j = 0; j < 8; j++)",
                          "        sum += s[(x + 5 * j) % size] * in[y + j] * 0.125f;", "    v = sum;", "}", "cgx_sync(b);"])
            kinds.append(["{", "    float sums[4][4] = { { 0 } };", "    for (int r = 0; r < (u & 3) + 1; r++) {",
                          "        s[t] = v + (float)r;", "        cgx_sync(b);", "        for (int m = 0; m < 2; m++)",
                          "            for (int i = 0; i < 4; i++)", "                for (int j = 0; j < 4; j++)",
                          "                    sums[i][j] += s[(x + j + m) % size] * s[(y + i * 3 + m) % size] * 0.0625f;",
                          "        cgx_sync(b);", "    }", "    for (int i = 0; i < 4; i++)", "        for (int j = 0; j < 4; j++)",
                          "            v = v * 0.5f + sums[i][j];", "}"])
            if not self.gone and self.halves:
                kinds.append(["s[t] = v;", "{", "    const cgx_token token = cgx_barrier_arrive(b);", "    k += u;",
                              "    cgx_barrier_wait(b, token);", "}", f"v = v * 0.5f + s[{at} < size ? {at} : t];", "cgx_sync(b);"])
            if not self.gone:
                kinds.append(["if (t == (u & 7) % size)", "    s[t] = v * 0.25f;", "cgx_sync(b);",
                              "v += s[(u & 7) % size] * 0.125f;", "cgx_sync(b);"])
                kinds.append(["cgx_sync(b);", "k += (int)(count[2] + count[3] * 3u);", "cgx_sync(b);"])
                if self.mbarrier:
                    kinds.append(["s[t] = v;", "{", "    const cgx_mbarrier_token token = cgx_mbarrier_arrive(bar);",
                                  "    cgx_mbarrier_wait(bar, token);", "}", f"v = v * 0.5f + s[{at} < size ? {at} : t];",
                                  "cgx_sync(b);"])
            self.step(self.r.choice(kinds))
        else:
            self.step(["s[t] = v;", "cgx_sync(w);", "v = v * 0.5f + s[t - lane + ((lane + u) & 31)];", "cgx_sync(w);"])

    def groups(self, where):
        groups = ["b"] if where == "block" and not self.gone else []
        return groups + (["w", "q"] if self.tiles and not self.warp_gone else [])

    def collective(self, where):
        groups = self.groups(where)
        if not groups:
            return self.exchange(where) if where == "block" else self.plain()
        g = self.r.choice(groups)
        kinds = [
            f"v = v * 0.5f + cgx_reduce({g}, v, CGX_PLUS) * 0.001f;", f"k += cgx_reduce({g}, k & 15, CGX_GREATER);",
            f"v += cgx_inclusive_scan({g}, v, CGX_LESS) * 0.25f;", f"k ^= cgx_exclusive_scan({g}, k & 7, CGX_PLUS);",
            f"v = cgx_shfl({g}, v, t + u);",
            f"v = cgx_shfl_xor({g}, v, {self.r.choice([1, 2, 3, 4, 5, 8, 9, 16, 31, 'u & 15', 'k & 7'])}) * 0.5f;",
            f"v = cgx_shfl({g}, v, {self.r.choice(['0', 'u', '3', 'k'])}) + 0.125f;",
            f"k += (int)cgx_shfl_up({g}, (short)k, {self.r.choice(['1', '4', 'u & 3'])});",
            f"v += (float)cgx_shfl_down({g}, (double)v, {self.r.choice(['1', '7', 'u & 7'])}) * 0.125f;", f"k += cgx_shfl_up({g}, k, 2) & 31;",
            f"v += (float)cgx_shfl_down({g}, (double)v, k & 3);", f"k += cgx_any({g}, v > 1.0f) ? 3 : 1;",
            f"k ^= cgx_all({g}, v < 2.0f) ? 1 : 2;", f"v = v * 0.5f + helper_{g}({g}, v, k);",
            f"wide = wide * 0.5 + cgx_inclusive_scan({g}, (double)v, CGX_PLUS) * 0.001;",
            f"k += (int)cgx_reduce({g}, (uint64_t)(k & 255), CGX_BIT_XOR);", f"v = early_{g}({g}, v, u);"]
        if g != "b":
            kinds += [f"k += (int)__builtin_popcountll(cgx_ballot({g}, v > 0.5f));",
                      f"k += (int)(cgx_match_any({g}, k & 3) & 255);"]
        if g != "b" and not self.by_warps:
            kinds += [f"v += cgx_reduce(cgx_labeled_partition({g}, k & 1), v, CGX_PLUS) * 0.001f;",
                      f"v += cgx_reduce(cgx_binary_partition({g}, v > 0.5f), v, CGX_GREATER) * 0.25f;"]
        self.step(self.r.choice(kinds))

    def block(self, where, many):
        for _ in range(self.r.randint(1, many)):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement(where)

    def nest(self, head, where, many=3, end="}", before_end=None):
        self.number += 1
        kept = self.number not in self.without
        if kept:
            self.line(head + " {")
            self.depth += 1
        self.block(where, many)
        if kept:
            self.depth -= 1
            self.line(end)
        return kept

    def loop(self, where):
        self.loops += 1
        i = f"i{self.loops}"
        end = {"block": ["n", "3", "(u & 3) + 1"], "warp": ["(t / 32) % 3 + 1"], "thread": ["(t & 3) + 1", "(k & 3)"]}[where]
        end = self.r.choice(end)
        kind = self.r.random()
        if kind < 0.7:
            self.nest(f"for (int {i} = 0, e{i} = {end}; {i} < e{i}; {i}++)", where, 4)
        elif kind < 0.85:
            self.nest(f"for (int {i} = {end}, once{i} = 1; once{i} || {i} > 0; once{i} = 0, {i}--)", where, 3)
        else:
            skip = {"block": f"({i} + u) % 3 == 1", "warp": f"({i} + t / 32) % 3 == 1", "thread": f"(({i} + t) & 3) == 1"}[where]
            self.number += 1
            kept = self.number not in self.without
            if kept:
                self.line(f"for (int {i} = 0; {i} < 3; {i}++) {{")
                self.depth += 1
            self.block(where, 2)
            if kept:
                self.line(f"if ({skip})")
                self.line("    continue;")
            self.block(where, 2)
            if kept:
                self.depth -= 1
                self.line("}")
        if where == "block":
            self.step("u++;")

    def breaking_loop(self):
        """Left by all at once, in a round that they agree upon."""
        self.loops += 1
        i = f"i{self.loops}"
        agree = "cgx_all(b, v > 0.9f)" if not self.gone else "(u & 1) == 0"
        self.number += 1
        kept = self.number not in self.without
        if kept:
            self.line(f"for (int {i} = 0;; {i}++) {{")
            self.depth += 1
        self.block("block", 2)
        if kept:
            self.line(f"if ({i} >= 2 || {agree})")
            self.line("    break;")
        self.block("block", 2)
        if kept:
            self.depth -= 1
            self.line("}")

    def switch(self, where):
        """Cases fall through where nobody breaks."""
        on = {"block": "u & 3", "warp": "(t / 32 + u) & 3", "thread": "k & 3"}[where]
        self.number += 1
        kept = self.number not in self.without
        if kept:
            self.line(f"switch ({on}) {{")
        for case in ["case 0:", "case 1:", "default:"]:
            if kept:
                self.line(case)
                self.depth += 1
            self.block(where, 2)
            if kept:
                self.line("break;" if case == "default:" or self.r.random() < 0.7 else "/* falls through */;")
                self.depth -= 1
            elif case != "default:":
                self.r.random()
        if kept:
            self.line("}")

    def two_sides(self, parting):
        """The same number of the block's barriers on either side of a branch that parts threads."""
        self.step([f"if ({parting}) {{", f"    s[t] = {self.value()};", "    cgx_sync(b);", "    k += 3;", "} else {",
                   "    s[t] = v;", "    v *= 0.75f;", "    cgx_sync(b);", "}", "v += s[size - 1 - t] * 0.25f;", "cgx_sync(b);"])

    def leave(self):
        """Threads end. What comes behind counts those that have: barriers, and collectives of tiles that are there as a whole."""
        warps = self.by_warps or (self.tiles and self.r.random() < 0.6)
        self.step([f"if ({'t / 32 == (u & 3)' if warps else 't % 5 == 3'}) {{", "    out[g] = v + (float)(k & 255);", "    return;",
                   "}"])
        self.gone = True
        self.warp_gone |= not warps

    def warps(self):
        """A condition that parts the block's warps."""
        return self.r.choice(["t / 32 == 0", "t / 32 % 2 == 1", "t / 32 != 1", "t < 32", "t >= 64", "(t & 32) == 0",
                              "t / 32 == (u & 3)", "(t / 32 + u) % 3 != 0", "t / 32 < (u & 3) + 1", "(unsigned)t / 64 == 1u",
                              "count[t / 32 % 2] == 1u"] + ["cgx_meta_group_rank(w) == 1"] * self.tiles)

    def ring(self):
        """One warp fills the two places of a ring, the others, or all, empty them; or all warps wait for all in each round."""
        self.loops += 1
        r = f"r{self.loops}"
        rounds = self.r.choice(["3", "6", "(u & 3) + 2"])
        kind, one = self.r.choice(["others", "all", "tokens"]), self.tiles and self.r.random() < 0.3
        self.number += 1
        kept = self.number not in self.without

        def put(*lines):
            if kept:
                for text in lines:
                    self.line(text)

        def inside():
            self.depth += kept
            self.block("warp" if self.tiles else "thread", 2)
            self.depth -= kept

        def arrive(barrier):
            return [f"if (lane == {self.r.choice(['0', '5'])})", f"    cgx_mbarrier_arrive({barrier});"] if one else \
                [f"cgx_mbarrier_arrive({barrier});"]

        readers = "size - lanes" if kind == "others" else "size"
        if one:
            readers = "warps - 1" if kind == "others" else "warps"
        put(f"if (size > {32 if kind == 'others' else 0}) {{", "    const int warps = (size + 31) / 32, from = (u & 7) % warps;",
            "    const int lanes = from * 32 + 32 <= size ? 32 : size - from * 32;",
            "    (void)lanes;", "    if (t == 0)", "        for (int i = 0; i < 2; i++) {",
            f"            cgx_mbarrier_init(&full[i], {'size' if kind == 'tokens' else 1 if one else 'lanes'});",
            f"            cgx_mbarrier_init(&empty[i], {readers});", "        }", "    cgx_sync(b);",
            f"    for (int {r} = 0, e{r} = {rounds}; {r} < e{r}; {r}++) {{", f"        const int place = {r} & 1, round = {r} >> 1;",
            "        (void)round, (void)from;")
        self.depth += 2 * kept
        if kind == "tokens":
            put("ring[place][lane] = (float)lane;")  # whoever does
            put(f"if ({self.warps()}) {{")
            inside()
            put("    const cgx_mbarrier_token token = cgx_mbarrier_arrive(&full[place]);", "    k += 3;",
                "    cgx_mbarrier_wait(&full[place], token);", "} else {")
            inside()
            put("    cgx_mbarrier_arrive(&full[place]);",
                self.r.choice(["    cgx_mbarrier_wait_parity(&full[place], round & 1);",
                               "    while (!cgx_mbarrier_test_wait_parity(&full[place], round & 1)) { }"]),
                "}", "v = v * 0.5f + ring[place][(lane + u) % 32 < size ? (lane + u) % 32 : 0];")
        else:
            put("if (t / 32 == from) {", "    if (round > 0)", "        cgx_mbarrier_wait_parity(&empty[place], (round - 1) & 1);")
            inside()
            put("    ring[place][lane] = v;", *(["    cgx_sync(w);"] if one else []), *("    " + a for a in arrive("&full[place]")))
            put("} else {" if kind == "others" else "}", *(["{"] if kind == "all" else []),
                "    cgx_mbarrier_wait_parity(&full[place], round & 1);")
            inside()
            put("    v = v * 0.5f + ring[place][(lane + t / 32) % lanes];", *(["    cgx_sync(w);"] if one else []),
                *("    " + a for a in arrive("&empty[place]")), "}")
        self.depth -= 2 * kept
        put("    }", "    cgx_sync(b);", "    if (t == 0)", "        for (int i = 0; i < 2; i++) {",
            "            cgx_mbarrier_inval(&full[i]);", "            cgx_mbarrier_inval(&empty[i]);", "        }",
            "    cgx_sync(b);", "}")

    def statement(self, where):
        what = self.r.random()
        if self.by_warps and where == "block" and self.depth < 4 and not self.warp_gone and self.r.random() < 0.25:
            if not self.gone and self.r.random() < 0.4:
                self.ring()
            elif self.r.random() < 0.2:
                self.two_sides(self.warps())
            else:
                self.nest(f"if ({self.warps()})", "warp" if self.tiles else "thread", 4)
        elif what < 0.22 or self.depth > 4:
            self.plain()
        elif what < 0.38 and where != "thread":
            self.exchange(where)
        elif what < 0.56 and where != "thread":
            self.collective(where)
        elif what < 0.66:
            if where == "block":
                self.nest(f"if ({self.uniform()})", where)
            elif where == "warp" and not self.warp_gone:
                self.nest("if (cgx_any(w, v > 0.5f))", where)
            else:
                self.nest(f"if ({self.divergent()})", "thread")
        elif what < 0.72:
            self.nest(f"if ({self.divergent()})", "thread")
        elif what < 0.78 and where == "block" and self.tiles and not self.warp_gone:
            self.nest(f"if ({self.warps()})", "warp")
        elif what < 0.88:
            self.loop(where)
        elif what < 0.91 and where == "block":
            self.breaking_loop()
        elif what < 0.94:
            self.switch(where)
        elif what < 0.96 and where == "block" and not self.by_warps:
            self.two_sides(self.divergent())
        elif what < 0.98 and where == "block" and self.coalesced and not self.warp_gone:
            self.step([f"if ({self.divergent()}) {{", "    const cgx_coalesced c = cgx_coalesced_threads();",
                       "    v += cgx_reduce(c, v, CGX_PLUS) * 0.001f + (float)cgx_thread_rank(c);", "}"])
        elif where == "block" and self.depth == 0 and self.r.random() < 0.4:
            self.leave()
        else:
            self.plain()

    def text(self, name):
        self.exchange("block")  # a kernel that never waits has one engine
        while self.budget > 0:
            self.block("block", 8)
        if self.r.random() < 0.15:
            self.leave()
            for _ in range(self.r.randint(1, 3)):
                self.exchange("block")
        macro = "CGX_KERNEL_WITH(CGX_BLOCK_SIZE(%s), %%s" % self.declared if self.declared else "CGX_KERNEL(%s"
        head = [macro % name + ", (int, n), (const float *, in), (float *, out))", "{",
                "    CGX_SHARED_ARRAY(float, s, 1024);", "    CGX_SHARED_ARRAY(uint32_t, count, 4);"]
        head += ["    CGX_SHARED_ARRAY(cgx_mbarrier, bar, 1);"] if self.mbarrier else []
        if self.by_warps:
            head += ["    CGX_SHARED_ARRAY(cgx_mbarrier, full, 2);", "    CGX_SHARED_ARRAY(cgx_mbarrier, empty, 2);",
                     "    CGX_SHARED_ARRAY2(float, ring, 2, 32);"]
        head += ["    cgx_block b = cgx_this_block();"]
        if self.tiles:
            head += ["    cgx_tile_32 w = cgx_tiled_partition(b, 32);", "    cgx_tile_8 q = cgx_tiled_partition(w, 8);",
                     "    (void)q;"]
        lane = "cgx_thread_rank(w)" if self.tiles else "cgx_thread_rank(b) % 32"
        head += [f"    const int lane = {lane};", "    (void)lane;"] if self.tiles or self.by_warps else []
        head += ["    (void)full, (void)empty, (void)ring;"] if self.by_warps else []
        head += ["    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);", "    const int x = cgx_thread_index(b).x, y = cgx_thread_index(b).y, z = cgx_thread_index(b).z;",
                 "    const int64_t g = cgx_thread_rank(cgx_this_grid()), all = cgx_num_threads(cgx_this_grid());",
                 "    const int blk = (int)cgx_block_rank(cgx_this_grid());",
                 "    float v = in[g], mine[4] = { v, v + 1.0f, v * 2.0f, 0.5f }, *at = mine;",
                 "    double wide = (double)v;", "    int k = t & 7, u = blk + n;",
                 "    (void)size, (void)all, (void)blk, (void)u, (void)x, (void)y, (void)z;", "    for (int i = t; i < 4; i += size)",
                 "        count[i] = (uint32_t)i;"]
        head += ["    if (t == 0)", "        cgx_mbarrier_init(bar, (uint32_t)size);"] if self.mbarrier else []
        return "\n".join(head + ["    s[t] = v;", "    cgx_sync(b);"] + self.out +
                         ["    out[g] = v + (float)(k & 1023) + mine[k & 3] + *at + (float)wide * 0.5f;", "}", ""])


HELPERS = """
static float plain_helper(float v, int k)
{
    for (int i = 0; i < (k & 3); i++)
        v = v * 0.5f + 0.125f;
    return v;
}
static __attribute__((noinline)) void helper_sync(cgx_block b)
{
    cgx_sync(b);
}
#define HELPERS_OF(name, type)                                                      \\
    static float helper_##name(type g, float v, int k)                              \\
    {                                                                               \\
        for (int i = 0; i < 2; i++)                                                 \\
            v = v * 0.5f + cgx_shfl(g, v + (float)(k & 1), i) * 0.25f;              \\
        return v;                                                                   \\
    }                                                                               \\
    static __attribute__((noinline)) float early_##name(type g, float v, int u)     \\
    {                                                                               \\
        for (int i = 0; i < 3; i++) {                                               \\
            if (((i + u) & 3) == 3)                                                 \\
                return helper_##name(g, v, i);                                      \\
            v = v * 0.5f + cgx_shfl_xor(g, v, 1) * 0.25f;                           \\
        }                                                                           \\
        return v;                                                                   \\
    }
HELPERS_OF(b, cgx_block)
HELPERS_OF(w, cgx_tile_32)
HELPERS_OF(q, cgx_tile_8)
"""


def write(path, seeds, without=()):
    kernels = [Kernel(seed, without) for seed in seeds]
    with open(path, "w") as f:
        f.write("/* generate.py */\n#include <cgx.h>\n#include \"run_random.h\"\n%s" % HELPERS)
        for i, k in enumerate(kernels):
            f.write("/* seed %d */\n%s" % (k.seed, k.text("k%d" % i)))
        f.write("const random_kernel random_kernels[] = {\n")
        for i, k in enumerate(kernels):
            f.write("    { %d, %d, k%d_launch, CGX_KERNEL_OF(k%d) },\n" % (k.seed, not k.tiles, i, i))
        f.write("};\nconst int random_kernel_count = %d;\n" % len(kernels))


def main():
    first, count, without = int(sys.argv[1]), int(sys.argv[2]), set()
    for a in sys.argv[4:]:
        if a.startswith("--without="):
            without = {int(x) for x in a[10:].split(",") if x}
    write(sys.argv[3], range(first, first + count), without)


if __name__ == "__main__":
    main()
