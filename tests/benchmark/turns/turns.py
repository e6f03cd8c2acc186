#!/usr/bin/python3
"""Gang beside Concurrent Gang with real MPI jobs: turns.py [--build FOLDER] [--rounds N] [--slice-s S]

Two zones on this machine, each with one machine of two processors and its node agent: `gang` and `concurrent-gang`, two slices. In
each round both run, one after the other, two pairs of jobs of two ranks: a device-bound beside a compute-bound one, and two that meet
at a barrier every 0.2 ms. Told is the time from the first step of a pair to its last, by the jobs' own word of their ends; runs with
little else on the machine are worth more. JSON with --json FILE.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import Agents, until  # noqa: E402

PAIRS = {"device + compute": (["device", "60"], ["compute", "300"]), "barriers + barriers": (["barriers", "6000"], ["barriers", "6000"])}


class Zone(Agents):
    """One zone and one agent."""

    def __init__(self, folder, programs, mode, slice_s):
        self.mode, self.slice_s = mode, slice_s
        folder.mkdir()
        super().__init__(folder, programs, SOURCE)
        added = subprocess.run([programs / "zbs-zone", "user", "add", "ana", "--config", folder / "alpha.toml"], capture_output=True, text=True, check=True)
        self.credentials = str(folder / "credentials")
        subprocess.run([programs / "zbs", "--credentials", self.credentials, *added.stdout.split()[1:]], check=True, capture_output=True)
        self.add("node-1", "shared_memory = true")
        until(lambda: self.zbs("run", "-n", "2", "--dry-run", "--", "/bin/true").returncode == 0, "the machine is not offered", 30)

    def zone_text(self, name, port):
        return f"""
name = "{name}-one"
organisation = "{name}"
state = "{self.folder}/{name}"
listen = "127.0.0.1:{port}"
allow_private_addresses = true
run_as = "self"
shared_memory = true
queue = "gang:slices=2:fill=false"
[[machine]]
name = "node-1"
processors = 2
agent = true
[time_sharing]
concurrent_gang = {"true" if self.mode == "concurrent-gang" else "false"}
slice_s = {self.slice_s}
"""

    def zbs(self, *arguments):
        return subprocess.run([self.programs / "zbs", "--credentials", self.credentials, *arguments], capture_output=True, text=True, timeout=300,
                              env=dict(os.environ, PATH=f"{self.programs}:{os.environ['PATH']}"))

    def run_pair(self, kernel, pair):
        """Seconds from the first submission's start to the end of the last of both."""
        jobs = [self.zbs("submit", "-n", "2", "--no-record", "--", str(kernel), *words).stdout.strip() for words in pair]
        shown = [until(lambda: (lambda s: s if s["state"] in ("completed", "failed") else None)(json.loads(self.zbs("show", job, "-o", "json").stdout)),
                       f"{job} does not end", 300) for job in jobs]
        assert all(s["state"] == "completed" for s in shown), shown
        at = [{entry["state"]: entry["at_us"] / 1e6 for entry in s["history"]} for s in shown]
        return max(a["completed"] for a in at) - min(a["running"] for a in at)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(SOURCE / "build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slice-s", type=float, default=0.1)
    parser.add_argument("--json")
    options = parser.parse_args()
    programs = pathlib.Path(options.build).resolve() / "bin"
    kernel = programs / "apps/turns"
    print(f"{' '.join(sys.argv)}: {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, slices of {options.slice_s} s")
    seconds = {}
    with tempfile.TemporaryDirectory(prefix="zbs-turns-") as folder:
        zones = {mode: Zone(pathlib.Path(folder) / mode, programs, mode, options.slice_s) for mode in ("gang", "concurrent-gang")}
        try:
            for number in range(options.rounds):
                for name, pair in PAIRS.items():
                    for mode in sorted(zones, reverse=number % 2 == 1):
                        taken = zones[mode].run_pair(kernel, pair)
                        seconds.setdefault(name, {}).setdefault(mode, []).append(taken)
                        print(f"round {number + 1}: {name}, {mode}: {taken:.2f} s", flush=True)
            switches = {mode: zone.call("node-1", "GET", "/v1/node").json["switches"] for mode, zone in zones.items()}
        finally:
            with contextlib.ExitStack() as stack:  # each, whatever becomes of the others
                for zone in zones.values():
                    stack.callback(zone.stop)
    for name, of in seconds.items():
        gang, concurrent = of["gang"], of["concurrent-gang"]
        ratios = [c / g for c, g in zip(concurrent, gang)]
        print(f"{name}: gang {statistics.median(gang):.2f} s ({min(gang):.2f} to {max(gang):.2f}), concurrent gang {statistics.median(concurrent):.2f} s "
              f"({min(concurrent):.2f} to {max(concurrent):.2f}), ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
    for mode, report in switches.items():
        late, cost = report["late"], report["cost"]
        print(f"{mode}: {late['count']} boundaries, late {late['mean_us'] / 1e3:.2f} ms mean, {late['max_us'] / 1e3:.2f} ms at most; "
              f"switch {cost['mean_us'] / 1e3:.2f} ms mean, {cost['max_us'] / 1e3:.2f} ms at most; {report['fills']} idle slots filled")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"command": sys.argv, "at": time.time(), "processors": os.cpu_count(), "slice_s": options.slice_s,
                                                          "seconds": seconds, "switches": switches}, indent=1))


if __name__ == "__main__":
    main()
