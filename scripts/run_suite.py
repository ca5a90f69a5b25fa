# SPDX-License-Identifier: MIT
"""run_suite.py DIR SUITE [--only REGEX] [--jobs N]: runs the tests of a suite in a build
folder as `meson test` does, without meson, and also when the folder was built on another machine and has another place here.
The last line: N passed, N failed, N skipped."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

folder, suite = os.path.abspath(sys.argv[1]), sys.argv[2]
options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
jobs = int(options.get("--jobs", min(8, os.cpu_count())))

info = json.load(open(folder + "/meson-info/meson-info.json"))["directories"]
places = [(info["build"], folder)]


def here(text):
    for there, place in places:
        text = text.replace(there, place)
    return text


def run(test):
    command = [here(c) for c in test["cmd"]]
    if not os.path.exists(command[0]):
        return test["name"], "not built", 0, ""
    environment = dict(os.environ, **{k: here(v) for k, v in test["env"].items()})
    start = time.time()
    try:
        done = subprocess.run(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=test["timeout"])
        said = done.stdout.decode(errors="replace")
        result = {0: "ok", 77: "skip"}.get(done.returncode, f"FAIL ({done.returncode})")
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")
        result = "FAIL (timeout)"
    return test["name"], result, time.time() - start, said


tests = [t for t in json.load(open(folder + "/meson-info/intro-tests.json"))
         if any(s.split(":")[-1] == suite for s in t["suite"]) and re.search(options.get("--only", "."), t["name"])]
counts = {"ok": 0, "skip": 0, "not built": 0}
failed = []
with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for name, result, seconds, said in pool.map(run, tests):
        print(f"{result:10} {name}  {seconds:.1f} s")
        if result in counts:
            counts[result] += 1
        else:
            failed.append(name)
            telling = [line for line in said.splitlines() if not re.match(r"\[ +(RUN|OK) ", line)]
            print("\n".join("    " + line[:300] for line in telling))
        sys.stdout.flush()
if failed:
    print("failed: " + ", ".join(failed))
if counts["not built"]:
    print(f"{counts['not built']} programs were not built: they count as failed")
bad = len(failed) + counts["not built"]
print(f"{counts['ok']} passed, {bad} failed, {counts['skip']} skipped")
sys.exit(bool(bad) or not counts["ok"])
