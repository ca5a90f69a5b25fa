# SPDX-License-Identifier: MIT
"""run_sanitizer.py DIR SUITE LIST [--tool TOOL] [--only REGEX] [--jobs N] [--limits PROGRAM] [--logs DIR]: runs the tests of a
suite in a build folder under compute-sanitizer, where nothing may be reported but what LIST has (tests/cuda/sanitizer.txt says how it
is read). A program with tests in LIST runs without them, and must be clean; then each of them alone, where each report has to be of the
listed kernel and to say the listed thing. PROGRAM is tests/cuda/sanitizer_limits: each construct that LIST names must be reported there,
too, without cgx. The last line: N passed, N failed, N skipped."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

ERRORS = 86  # what the tool exits with when it reports something
UNPROVED = {"on_purpose", "of_the_tool"}  # constructs that need no program without cgx
folder, suite, listed = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
options = dict(zip(sys.argv[4::2], sys.argv[5::2]))
tools = [options["--tool"]] if "--tool" in options else ["memcheck", "racecheck", "synccheck"]
jobs = int(options.get("--jobs", min(16, os.cpu_count())))
info = json.load(open(folder + "/meson-info/meson-info.json"))["directories"]


def here(text):
    return text.replace(info["build"], folder)


entries = {}  # (tool, program): {test: [(kernel, construct, text)]}
left_out = {}  # (tool, program): why
for number, line in enumerate(open(listed), 1):
    if not line.strip() or line.startswith("#"):
        continue
    tool, program, test, kernel, construct, text = line.strip().split(None, 5)
    if test == "-":
        left_out[tool, program] = text
    else:
        entries.setdefault((tool, program), {}).setdefault(test, []).append((kernel, construct, text))


def sanitized(tool, command, environment, seconds):
    """The exit status (None: not in time) and what was said."""
    try:
        done = subprocess.run(["compute-sanitizer", "--tool", tool, "--report-api-errors", "no", "--target-processes", "all",
                               "--error-exitcode", str(ERRORS)] + command, env=environment, cwd=folder, timeout=seconds,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def reports(said):
    """What the tool reported: texts, each with the kernels it names."""
    found, text = [], None
    for line in said.splitlines():
        if not line.startswith("========="):
            continue
        line = line[9:]
        if re.match(r" (Error: |Warning: |Barrier error|Invalid |Program hit|Misaligned|Internal Sanitizer|Potential )", line):
            text = [line.strip(), set()]
            found.append(text)
        elif not line.strip():
            text = None
        if text:
            # KERNEL+0x..., and $KERNEL$FUNCTION+0x... in a function that was not inlined
            text[1].update(re.findall(r"\bat \$?([A-Za-z_]\w*)(?:\$\w+|\([^)]*\))?\+0x", line))
    return [(text, frozenset(kernels)) for text, kernels in found]


def shortened(said):
    telling = [line[:200] for line in said.splitlines() if not re.match(r"\[ +(RUN|OK) |=+ +(Host Frame|Saved host)", line)]
    return telling if len(telling) <= 60 else telling[:35] + ["..."] + telling[-20:]


def log(tool, name, said):
    if "--logs" in options:
        os.makedirs(options["--logs"], exist_ok=True)
        open(f"{options['--logs']}/{tool}.{name}.log", "w").write(said)


def run(job):
    """ok, skip or FAIL, the name, seconds, lines to print."""
    tool, test, only = job
    own = entries.get((tool, test["name"]), {})
    environment = dict(os.environ, **{k: here(v) for k, v in test["env"].items()}, CGX_TEST_SMALL="1", CGX_TEST_MEMCHECK="1",
                       CGX_TEST_PATIENCE="12")
    name = f"{tool} {test['name']}" + (f": {only}" if only else "")
    if only:
        environment["CGX_TEST_ONLY"] = only
    elif own:  # these run in jobs of their own
        environment["CGX_TEST_SKIP"] = ",".join(own)
    command = [here(c) for c in test["cmd"]]
    if not os.path.exists(command[0]):
        return "FAIL", name, 0, ["not built"]
    start = time.time()
    status, said = sanitized(tool, command, environment, 540)
    seconds = time.time() - start
    log(tool, test["name"] + (f".{only}" if only else ""), said)
    if not only:
        result = {0: "ok", 77: "skip"}.get(status, "FAIL")
        return result, name, seconds, shortened(said) if result == "FAIL" else []
    known, unknown = {}, []
    for text, kernels in reports(said):
        of = [entry for entry in own[only] if kernels == {entry[0]} - {"-"} and re.search(entry[2], text)]
        if of:
            known[of[0]] = known.get(of[0], 0) + 1
        else:
            unknown.append(text)
    lines = [f"documented: {count} x '{text}' at {kernel}, {construct}"
             for (kernel, construct, text), count in known.items()]
    # A report of synccheck's ends the kernel, so that the test fails, too.
    if unknown or status not in (0, ERRORS) or (status == ERRORS and not known):
        return "FAIL", name, seconds, lines + shortened(said)
    return "ok", name, seconds, lines or ["documented, but not reported this time"]


def prove(job):
    """A construct of the list, in the program without cgx."""
    tool, construct, text = job
    start = time.time()
    status, said = sanitized(tool, [os.path.abspath(options["--limits"]), construct], dict(os.environ), 20)
    log(tool, "limits." + construct, said)
    seen = status is None if text == "hangs" else any(re.search(text, t) and kernels == {construct} for t, kernels in reports(said))
    return "ok" if seen else "FAIL", f"{tool} without cgx: {construct}", time.time() - start, [] if seen else shortened(said)


tests = [t for t in json.load(open(folder + "/meson-info/intro-tests.json"))
         if any(s.split(":")[-1] == suite for s in t["suite"]) and re.search(options.get("--only", "."), t["name"])]
work = []
for tool in tools:
    for test in tests:
        if (tool, test["name"]) in left_out:
            print(f"left out   {tool} {test['name']}: {left_out[tool, test['name']]}")
            continue
        work.append((run, (tool, test, None)))
        for only, of in entries.get((tool, test["name"]), {}).items():
            if any(text == "hangs" for _, _, text in of):
                print(f"left out   {tool} {test['name']}: {only}: it hangs, see {of[0][1]} in sanitizer_limits")
            else:
                work.append((run, (tool, test, only)))
if "--limits" in options:
    constructs = {(tool, construct, text) for (tool, program), own in entries.items() if tool in tools
                  for of in own.values() for _, construct, text in of if construct not in UNPROVED}
    work += [(prove, job) for job in sorted(constructs)]
# What takes longest first.
slow = ["queues", "process", "ranks", "shuffle", "reduce", "scan", "threads", "vote", "async", "copies", "wide", "updates", "semantics"]
work.sort(key=lambda w: (w[1][0] != "racecheck", not isinstance(w[1][1], dict) or not any(s in w[1][1]["name"] for s in slow)))
counts = {"ok": 0, "FAIL": 0, "skip": 0}
failed = []
with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for done in concurrent.futures.as_completed([pool.submit(function, job) for function, job in work]):
        result, name, seconds, lines = done.result()
        counts[result] += 1
        print(f"{result:10} {name}  {seconds:.1f} s")
        print("".join(f"    {line}\n" for line in lines), end="", flush=True)
        if result == "FAIL":
            failed.append(name)
if failed:
    print("failed: " + ", ".join(sorted(failed)))
print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
sys.exit(bool(failed) or not counts["ok"])
