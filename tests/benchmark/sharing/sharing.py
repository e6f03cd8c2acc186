#!/usr/bin/python3
"""What sharing saves: two components that alternate, each an MPI job over two zones. sharing.py [--build FOLDER] [--rounds N] [--steps N] [--ms MS]

Two zones of two organisations on this machine, each with a machine and its node agent. One component computes while the other waits for its result.
Three ways, one after the other in each round: alone (each component has processors of its own), gang, and gang with Concurrent Gang's classes (both
components on the same processors, slices of --slice-s). The turnaround is from the first start to the last end, by the jobs' own record;
processor-seconds are that times the processors that both occupy. Ratios are of one round. JSON with --json FILE.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import Program, until  # noqa: E402

ZONES = ("a", "b")
RIGHTS = 4  # processors that a zone gives the other's users
WAYS = {"alone": (2, ""), "gang": (1, 'queue = "gang:slices=2"\n'), "concurrent gang": (1, 'queue = "gang:slices=2"\n')}


class Federation:
    """A registry and two zones with node agents, from the state that `zbs quickstart` leaves."""

    def __init__(self, folder, programs, way, slice_s):
        self.folder, self.programs, self.started = folder, programs, []
        processors, queue = WAYS[way]
        self.make()
        port = re.search(r"127\.0\.0\.1:(\d+)", (folder / "a/registry/address").read_text())[1]
        try:
            self.start("registry", programs / "zbs-registry", "run", "--state", folder / "registry", "--listen-port", port, "--allow-private-addresses")
            for zone in ZONES:
                config = folder / f"{zone}.toml"
                sharing = f'[time_sharing]\nslice_s = {slice_s}\n' + ('concurrent_gang = true\n' if way == "concurrent gang" else "") if queue else ""
                text = re.sub(r'\[\[machine\]\]\nname = "m0"\n', f'[[machine]]\nname = "m-{zone}"\nagent = true\n', config.read_text())
                text = text.replace(f"agent = true\nprocessors = {RIGHTS}\n", f"agent = true\nprocessors = {processors}\n")
                config.write_text(queue + text + sharing)
                running = self.start(f"zone {zone}", programs / "zbs-zone", "run", "--config", config)
                self.command("zbs-zone", "node", "add", f"m-{zone}", "--out", folder / f"m-{zone}-identity", "--config", config)
                (folder / f"m-{zone}.toml").write_text(f"""
name = "m-{zone}"
zone = "https://127.0.0.1:{running.port}"
zone_name = "{zone}"
state = "{folder}/m-{zone}"
identity = "{folder}/m-{zone}-identity"
listen = "127.0.0.1:0"
run_as = "self"
shared_memory = true
""")
                self.start(f"node {zone}", programs / "zbs-node", "run", "--config", folder / f"m-{zone}.toml")
            until(lambda: self.zbs("run", "-n", "2", "--mapper", "round-robin", "--zones", "a,b", "--dry-run", "--", "/bin/true").returncode == 0,
                  "the machines are not offered", 30)
        except BaseException:
            self.stop()
            raise

    def make(self):
        """Keys, trust between the zones and a user; quickstart has ended when this returns."""
        ready = self.folder / "environment"
        with open(self.folder / "quickstart.log", "w") as log:
            process = subprocess.Popen([self.programs / "zbs", "quickstart", "--folder", self.folder, "--processors", str(RIGHTS), "--environment-file", ready,
                                        *(["--user", "root"] if os.geteuid() == 0 else [])], stdout=log, stderr=subprocess.STDOUT)
        try:
            until(lambda: ready.exists() or process.poll() is not None, "quickstart is not up", 60)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        assert ready.exists(), (self.folder / "quickstart.log").read_text()

    def start(self, name, *command):
        program = Program(command, self.folder / f"{name}.log")
        self.started.append((name, program))
        return program

    def command(self, program, *arguments):
        done = subprocess.run([self.programs / program, *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def zbs(self, *arguments):
        return subprocess.run([self.programs / "zbs", "--credentials", self.folder / "credentials", *arguments], capture_output=True, text=True, timeout=300,
                              env=dict(os.environ, PATH=f"{self.programs}:{os.environ['PATH']}", UCX_TLS="tcp,self"))

    def shown(self, job):
        return json.loads(self.zbs("show", job, "-o", "json").stdout)

    def run_components(self, steps, ms):
        """Seconds from the first start to the last end."""
        with tempfile.TemporaryDirectory(prefix="zbs-coupled-") as results:
            jobs = []
            for words in (("first", f"{results}/x", f"{results}/y"), ("second", f"{results}/y", f"{results}/x")):
                done = self.zbs("submit", "-n", "2", "--no-record", "--mapper", "round-robin", "--zones", "a,b", "--walltime", "10m", "--",
                                str(self.programs / "apps/coupled"), *words, str(steps), str(ms))
                assert done.returncode == 0, done.stderr
                jobs.append(done.stdout.strip())
            until(lambda: all(self.shown(job)["state"] in ("completed", "failed") for job in jobs), f"{jobs} do not end", 600, pause=0.2)
            shown = [self.shown(job) for job in jobs]
        assert all(each["state"] == "completed" for each in shown), shown
        assert all(sorted(part["zone"] for part in each["parts"]) == list(ZONES) for each in shown), shown
        at = [{entry["state"]: entry["at_us"] / 1e6 for entry in each["history"]} for each in shown]
        return max(a["completed"] for a in at) - min(a["running"] for a in at)

    def stop(self):
        faults = []
        for name, program in reversed(self.started):
            if program.end() != 0:
                faults.append((name, (self.folder / f"{name}.log").read_text()[-2000:]))
        assert not faults, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(SOURCE / "build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20, help="of each component")
    parser.add_argument("--ms", type=int, default=250, help="of computing in a step, milliseconds")
    parser.add_argument("--slice-s", type=float, default=0.1)
    parser.add_argument("--json")
    options = parser.parse_args()
    programs = pathlib.Path(options.build).resolve() / "bin"
    print(f"{' '.join(sys.argv)}: {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {options.steps} steps of {options.ms} ms, slices of {options.slice_s} s")
    seconds = {way: [] for way in WAYS}
    paid = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="zbs-sharing-") as folder, contextlib.ExitStack() as running:
        federations = {}
        for way in WAYS:
            place = pathlib.Path(folder) / way.replace(" ", "-")
            place.mkdir()
            federations[way] = Federation(place, programs, way, options.slice_s)
            running.callback(federations[way].stop)
        for number in range(options.rounds):
            for way in sorted(WAYS, reverse=number % 2 == 1):
                turnaround = federations[way].run_components(options.steps, options.ms)
                processors = len(ZONES) * WAYS[way][0]
                seconds[way].append(turnaround)
                paid[way].append(processors * turnaround)
                print(f"round {number + 1}: {way}: {turnaround:.2f} s on {processors} processors", flush=True)
    for way in WAYS:
        times = [mine / alone for mine, alone in zip(seconds[way], seconds["alone"])]
        costs = [mine / alone for mine, alone in zip(paid[way], paid["alone"])]
        print(f"{way}: turnaround {statistics.median(seconds[way]):.2f} s, {statistics.median(times):.2f} of alone ({min(times):.2f} to {max(times):.2f}); "
              f"processor-seconds {statistics.median(costs):.2f} of alone ({min(costs):.2f} to {max(costs):.2f})")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"command": sys.argv, "at": time.time(), "processors": os.cpu_count(), "turnaround_s": seconds,
                                                          "processor_s": paid}, indent=1))


if __name__ == "__main__":
    main()
