#!/usr/bin/env python3
"""Checks coallocation.pml with Spin: every instance exhaustively, then every mistake, which must be found.

  model_test.py SOURCE_DIR check      exits 1 on an error or on a search that was not complete
  model_test.py SOURCE_DIR mistakes   exits 1 where a mistake is not found
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# name, macros, whether to prove also that no run goes round in circles (twice the states)
INSTANCES = [
    ("no fault", "-DNO_TIMER", True),
    ("no fault, home 1 needs all three zones", "-DNO_TIMER -DWANT1=3", False),
    ("no fault, three rounds", "-DNO_TIMER -DROUNDS=3", False),
    ("one deadline passes early", "-DEARLY=1", True),
    ("one message lost", "-DLOSS=1", False),
    ("one message delivered twice", "-DDUP=1", False),
    ("one owner cancels, one part dies", "-DCANCEL -DPART_DIES", False),
    ("home 0 gone for ever", "-DHOME_GONE", True),
    ("home 0 gone for ever, one message lost", "-DHOME_GONE -DLOSS=1", False),
    ("one home crashes", "-DCRASH_HOME -DCRASHES=1", False),
    ("one zone crashes", "-DCRASH_ZONE -DCRASHES=1", False),
    ("one round: any one crashes, one message lost", "-DROUNDS=1 -DCRASH_HOME -DCRASH_ZONE -DCRASHES=1 -DLOSS=1", False),
]
MISTAKES = [
    ("a refusal releases nothing", "-DNO_TIMER -DFORGET_RELEASE"),
    ("commit is accepted without a hold", "-DEARLY=1 -DCOMMIT_WITHOUT_HOLD"),
    ("the lease ends committed and running parts", "-DEARLY=1 -DEXPIRE_COMMITTED"),
    ("a part that never started counts as completed", "-DCRASH_ZONE -DCRASHES=1 -DUNSTARTED_IS_COMPLETED"),
    ("processors are free before the processes are gone", "-DCANCEL -DEARLY_GIVE_BACK"),
    ("home plans again while holds are outstanding", "-DNO_TIMER -DREPLAN_WITHOUT_WAITING"),
]
MEGABYTES = 2000
SECONDS = 240


def search(model, macros, cycles):
    """Output of one exhaustive search."""
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
            return done.returncode, done.stdout
        code, text = run("spin", "-a", *macros.split(), model)
        if code != 0 or not os.path.exists(os.path.join(folder, "pan.c")):
            sys.exit(f"spin does not take the model:\n{text}")
        code, text = run("gcc", "-O1", "-w", "-DNP" if cycles else "-DSAFETY", "-DNOREDUCE", f"-DMEMLIM={MEGABYTES}", "-o", "pan", "pan.c")
        if code != 0:
            sys.exit(f"gcc does not take what Spin wrote:\n{text}")
        return run("./pan", "-m100000", "-w23", *(["-l"] if cycles else []))[1]


def number(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else None


def check(model):
    """All instances, two at a time; prints states and seconds of each; how many failed."""
    runs = [(name, macros, circles) for name, macros, cycles in INSTANCES for circles in ([False, True] if cycles else [False])]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for (name, _, circles), text in zip(runs, pool.map(lambda run: search(model, run[1], run[2]), runs)):
            states = number(r"([\d.e+]+) states, stored", text)
            seconds = number(r"elapsed time ([\d.e+-]+)", text) or "0"
            cut = [word for word in ("Search not completed", "out of memory", "max search depth too small") if word in text]
            good = number(r"errors: (\d+)", text) == "0" and states is not None and not cut
            what = "no circle" if circles else "safe, every run ends well"
            print(f"{'ok' if good else 'FAILED':6} {name}: {what}; {states} states, {float(seconds):.1f} s", flush=True)
            if not good:
                failed += 1
                print(text)
    return failed


def find_mistakes(model):
    failed = 0
    for name, macros in MISTAKES:
        text = search(model, macros, False)
        found = (number(r"errors: (\d+)", text) or "0") != "0"
        how = number(r"pan:\d+: (.*)", text)
        print(f"{'ok' if found else 'FAILED':6} {name}: {how if found else 'not found'}", flush=True)
        failed += not found
    # What finds mistakes must not call the true model faulty.
    for macros in sorted({re.sub(r" -D[A-Z_]+$", "", m) for _, m in MISTAKES}):
        if number(r"errors: (\d+)", search(model, macros, False)) != "0":
            failed += 1
            print(f"FAILED the model without mistake, {macros}")
    return failed


if __name__ == "__main__":
    path = os.path.join(sys.argv[1], "tests", "model", "coallocation.pml")
    sys.exit(1 if {"check": check, "mistakes": find_mistakes}[sys.argv[2]](path) else 0)
