#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_cpu_engines.py ROWS.json PLOT.svg: what the rivals of the compiled engine take beside it, by kernel."""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RIVALS = {  # name in the rows: name in the plot, colour
    "fission, run-time size": ("fission, run-time size", "tab:blue"),
    "fission, constant size": ("fission, constant size", "tab:cyan"),
    "OpenMP": ("OpenMP, plain loops", "tab:green"),
    "PoCL auto": ("PoCL", "tab:red"),
    "PoCL best": ("PoCL, best of its ways", "tab:orange"),
    "fibers": ("fibers", "tab:gray"),
}


def ratios(rows, threads):
    """{kernel: {rival: ratio}}, kernels in the order of the rows."""
    end = ", %d thread%s" % (threads, "s" if threads > 1 else "")
    table = {}
    for row in rows:
        if row["unit"] != "us" or not row["case"].endswith(end):
            continue
        of_kernel = table.setdefault(row["case"][: -len(end)], {})
        of_kernel[row["rival"]] = row["ratio"]
    for of_kernel in table.values():
        pocl = [ratio for rival, ratio in of_kernel.items() if rival.startswith("PoCL ")]
        if pocl:
            of_kernel["PoCL best"] = min(pocl)
    return table


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    figure, panels = plt.subplots(2, 1, figsize=(12, 9), layout="constrained")
    for threads, panel in zip((1, 2), panels):
        table = ratios(rows, threads)
        width = 0.8 / len(RIVALS)
        for place, (rival, (label, colour)) in enumerate(RIVALS.items()):
            at = [k + (place - len(RIVALS) / 2 + 0.5) * width for k, r in enumerate(table.values()) if rival in r]
            heights = [r[rival] for r in table.values() if rival in r]
            panel.bar(at, [h - 1 for h in heights], width, bottom=1, label=label, color=colour)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_yscale("log")
        panel.set_xticks(range(len(table)), table, rotation=20)
        panel.set_ylabel("time / time of cgx")
        panel.set_title("%d thread%s: above 1 cgx is faster" % (threads, "s" if threads > 1 else ""))
        panel.legend(fontsize="small", ncols=3)
    figure.savefig(sys.argv[2])
    print("plot: " + sys.argv[2])


main()
