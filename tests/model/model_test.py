#!/usr/bin/env python3
"""Checks coallocation.pml with Spin: every state of each instance, and every mistake, which must be found.

  model_test.py SOURCE_DIR check      exits 1 on an error or on a search that was not complete; the instances of up to a million states
  model_test.py SOURCE_DIR all        the same with all instances (scripts/soak model)
  model_test.py SOURCE_DIR mistakes   exits 1 if a mistake is not found
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TWO, THREE, ONE, LATER = "", "-DROUNDS=3", "-DROUNDS=1", "-DRESERVE"
# name, macros that the model is compiled with, what may happen, whether to prove also that no run goes round in circles
# (twice the states). What can happen in one instance and in a larger one stands here once, as the larger.
SMALL = [
    ("no fault", TWO, "NO_TIMER=1", True),
    ("one deadline passes early", TWO, "EARLY=1", False),
    ("one message delivered twice", TWO, "DUP=1", False),
    ("one message lost", TWO, "LOSS=1", False),
    ("home 0 gone for ever", TWO, "HOME_GONE=1", True),
    ("one round: any one crashes, one message lost", ONE, "CRASH_HOME=1 CRASH_ZONE=1 CRASHES=1 LOSS=1", False),
    ("later starts", LATER, "NO_TIMER=1", True),
    ("later starts, home 1 needs all three zones", LATER, "NO_TIMER=1 WANT1=3", False),
    ("later starts, one overruns", LATER, "OVERRUN=1", True),
    ("one owner cancels", TWO, "CANCEL=1", False),
    ("one part dies", TWO, "PART_DIES=1", False),
    ("home 0 gone for ever, one message lost, one round", ONE, "HOME_GONE=1 LOSS=1", False),
]
# A program of its own, or a million states and more each: six times the work of all others.
LARGE = [
    ("no fault, three rounds", THREE, "NO_TIMER=1", False),
    ("one owner cancels, one part dies", TWO, "CANCEL=1 PART_DIES=1", False),
    ("home 0 gone for ever, one message lost", TWO, "HOME_GONE=1 LOSS=1", False),
    ("one zone crashes", TWO, "CRASH_ZONE=1 CRASHES=1", False),
    ("later starts, one overruns, one owner cancels", LATER, "OVERRUN=1 CANCEL=1", False),
    ("later starts, one overruns, one message lost", LATER, "OVERRUN=1 LOSS=1", False),
    ("later starts, one home crashes", LATER, "CRASH_HOME=1 CRASHES=1", False),
]
MISTAKES = [
    ("a refusal releases nothing", TWO, "NO_TIMER=1", "FORGET_RELEASE"),
    ("commit is accepted without a hold", TWO, "EARLY=1", "COMMIT_WITHOUT_HOLD"),
    ("the lease ends committed and running parts", TWO, "EARLY=1", "EXPIRE_COMMITTED"),
    ("a part that never started counts as completed", ONE, "CRASH_HOME=1 CRASH_ZONE=1 CRASHES=1 LOSS=1", "UNSTARTED_IS_COMPLETED"),
    ("processors are free before the processes are gone", TWO, "CANCEL=1", "EARLY_GIVE_BACK"),
    ("home plans again while holds are outstanding", TWO, "NO_TIMER=1", "REPLAN_WITHOUT_WAITING"),
    ("home plans an application again whose ranks have begun", TWO, "LOSS=1", "REPLAN_WHAT_RUNS"),
    ("home forgets the parts that others take the place of", LATER, "NO_TIMER=1", "FORGET_REPLACED"),
    ("a reserved start does not wait for what overruns", LATER, "OVERRUN=1", "START_UNREADY"),
]
MEGABYTES = 2000
SECONDS = 240


def run(folder, environment, *command):
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=SECONDS)
    return done.returncode, done.stdout


class Searches:
    """Exhaustive searches. Compiling is dear: once for each set of macros and kind of search, and with -O1 unless the searches are long, since gcc
    -O2 takes four times as long for a program that is a third faster."""

    def __init__(self, model, folder, kinds, optimise="-O1"):
        self.folder, self.optimise = folder, optimise
        kinds = sorted(set(kinds))
        with ThreadPoolExecutor(2) as pool:
            self.programs = dict(zip(kinds, pool.map(lambda kind: self.compile(model, *kind), kinds)))

    def compile(self, model, macros, cycles):
        folder = tempfile.mkdtemp(dir=self.folder)
        code, text = run(folder, {}, "spin", "-a", *macros.split(), model)
        if code != 0 or not os.path.exists(os.path.join(folder, "pan.c")):
            sys.exit(f"spin does not take the model:\n{text}")
        kind = ["-DNP"] if cycles else ["-DSAFETY", "-DNOCOMP"]
        compiler = [*filter(None, [shutil.which("ccache")]), "gcc"]  # what Spin wrote is mostly what it wrote the last time
        code, text = run(folder, {}, *compiler, self.optimise, "-w", *kind, "-DNOREDUCE", "-DNOFAIR", f"-DMEMLIM={MEGABYTES}", "-c", "-o", "pan.o", "pan.c")
        if code == 0:
            code, text = run(folder, {}, "gcc", "-o", "pan", "pan.o")
        if code != 0:
            sys.exit(f"gcc does not take what Spin wrote:\n{text}")
        return os.path.join(folder, "pan")

    def search(self, macros, happens, cycles=False):
        """What Spin says."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:  # of its own: an error leaves a trail
            options = dict(word.split("=") for word in happens.split())
            return run(folder, options, self.programs[macros, cycles], "-m100000", "-w23", *(["-l"] if cycles else []))[1]


def number(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else None


def check(model, folder, instances=SMALL, optimise="-O1"):
    """Instances, two at a time; prints states and seconds of each; how many failed."""
    runs = [(name, macros, happens, circles) for name, macros, happens, cycles in instances
            for circles in ([False, True] if cycles else [False])]
    searches = Searches(model, folder, [(macros, circles) for _, macros, _, circles in runs], optimise)
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for (name, _, _, circles), text in zip(runs, pool.map(lambda r: searches.search(*r[1:]), runs)):
            states = number(r"([\d.e+]+) states, stored", text)
            seconds = number(r"elapsed time ([\d.e+-]+)", text) or "0"
            cut = [word for word in ("Search not completed", "out of memory", "max search depth too small") if word in text]
            good = number(r"errors: (\d+)", text) == "0" and states is not None and not cut
            what = "no circle" if circles else "safe, every run ends well"
            print(f"{'ok' if good else 'FAILED':6} {name}: {what}; {states} states, {float(seconds):.1f} s", flush=True)
            if not good:
                failed += 1
                print(text)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(runs)} searches, {used.ru_utime + used.ru_stime:.0f} s of CPU with compiling")
    return failed


def check_names(model, source):
    """What the model's comments name are functions of home and of a peer, and types of services; how many are not."""
    services = pathlib.Path(source) / "services"
    code = "".join(path.read_text() for room in ("home", "peer") for path in (services / "zone_scheduler" / room).glob("*.[ch]pp"))
    headers = "".join(path.read_text() for path in services.rglob("*.hpp"))
    comments = " ".join(re.findall(r"/\*(.*?)\*/", pathlib.Path(model).read_text(), re.S))
    functions = {name for name in re.findall(r"\b([a-z_]+)\(\)", comments) if not re.search(rf"\b{name}\(", code)}
    types = {name for name in re.findall(r"\b(?:[A-Z][a-z]+){2,}\b", comments) if not re.search(rf"\b(struct|class) {name}\b", headers)}
    for name in sorted(functions | types):
        print(f"FAILED {name}: the code has no such name")
    return len(functions | types)


def find_mistakes(model, folder):
    searches = Searches(model, folder, [(macros, False) for _, macros, _, _ in MISTAKES])
    failed = 0
    for name, macros, happens, mistake in MISTAKES:
        text = searches.search(macros, f"{happens} {mistake}=1")
        found = (number(r"errors: (\d+)", text) or "0") != "0"
        how = number(r"pan:\d+: (.*)", text)
        print(f"{'ok' if found else 'FAILED':6} {name}: {how if found else 'not found'}", flush=True)
        failed += not found
    # `check` searches the model without the mistake in the same instances.
    searched = {(macros, happens) for _, macros, happens, _ in SMALL}
    for name in (name for name, macros, happens, _ in MISTAKES if (macros, happens) not in searched):
        print(f"FAILED {name}: `check` has no such instance")
        failed += 1
    return failed


if __name__ == "__main__":
    path = os.path.join(sys.argv[1], "tests", "model", "coallocation.pml")
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(1 if check_names(path, sys.argv[1]) or {"check": check, "all": lambda *where: check(*where, SMALL + LARGE, "-O2"), "mistakes": find_mistakes}[sys.argv[2]](path, scratch) else 0)
