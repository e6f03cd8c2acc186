"""Run times of MPI programs over three emulated sites under several placements: run_times.py [--build build/release] [--out docs/wan_run_times.md] [--quick]

Sites are namespaces joined by lines with a delay and a rate (tests/support/wan.py). Each program runs once with the profiler; the model goes to `zbs map`, which
places its ranks; then all placements are run in turn, round after round. Writes a page and, beside it, JSON with every single time. Needs root and /dev/net/tun.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../..")
sys.path[:0] = [HERE, ROOT + "/tests/support"]
from page import write_page  # noqa: E402
from wan import JobFailed, Line, Wan, mpi_environment, run_mpi, why_not  # noqa: E402

SITES, PROCESSORS = "abc", 4  # of each site
RATE_BPS = 12.5e6             # each way of each pair: 100 Mbit/s
DELAYS_MS = [1, 5, 10, 20, 40]  # one way, the same between all sites
JOB_S = 120
XDLU = "/usr/lib/{}-linux-gnu/scalapack/mpich-tests/xdlu".format(platform.machine())
# What each placement is, in the words of `zbs map`.
PLACEMENTS = {
    "hier": ("HIER", ["--algorithm", "hier"]),
    "multilevel": ("our mapper", ["--algorithm", "multilevel"]),
    "round_robin": ("round robin", ["--algorithm", "round-robin"]),
    "block": ("MPICH's default", ["--algorithm", "block"]),
}


class Transport:
    def __init__(self, build, teams, size):
        self.ranks, self.name = 1 + teams * size, f"TRANSPORT kernel, {teams} teams of {size}"
        self.about = "One master; a team's ranks gather from all (1,000 bytes) 50 times, the master sends to the team leaders 5 times; ranks are dealt to teams round robin."
        self.argv = [build + "/bin/apps/transport_kernel", "kernel.params"]
        with open(ROOT + "/tests/apps/transport_2x4.params") as f:
            self.input = "kernel.params", f.read().replace("NO_OF_TEAMS=2", f"NO_OF_TEAMS={teams}").replace("NO_OF_PROCS_PER_TEAM=4", f"NO_OF_PROCS_PER_TEAM={size}")

    def seconds(self, said):
        return float(said.split("checksum ")[1].split()[2])


class Lu:
    def __init__(self, rows, columns):
        self.ranks, self.name = rows * columns, f"ScaLAPACK xdlu, {rows} x {columns} ranks"
        with open(ROOT + "/scripts/LU.dat") as f:
            lines = f.read().splitlines()
        values = {line.split("values of ")[1].strip(): line.split()[0] for line in lines if "values of " in line}
        lines = [f"{rows}  values of P" if line.endswith("values of P") else f"{columns}  values of Q" if line.endswith("values of Q") else line for line in lines]
        self.about = (f"LU of a {values['M']} x {values['N']} matrix in blocks of {values['NB']}, then one solve (`scripts/LU.dat`); rank r is in row r / {columns} and column r mod {columns} of the grid of "
                      "ranks. A column searches its pivots together: many short messages; rows and columns pass on blocks.")
        self.argv = [XDLU]
        self.input = "LU.dat", "\n".join(lines) + "\n"

    def seconds(self, said):
        lines = [line.split() for line in said.splitlines() if line.startswith("WALL")]
        if len(lines) != 1 or lines[0][-1] != "PASSED":
            raise JobFailed("xdlu did not pass: " + said[-500:])
        return float(lines[0][8]) + float(lines[0][9])


def resources(delay_s):
    """The resources for `zbs map`: each site has machines with one processor, as every rank is a machine of its own for MPICH."""
    return {"format": "zbs-resources/1",
            "zones": [{"name": site, "machines": [{"name": f"m{i}", "processors": 1} for i in range(PROCESSORS)]} for site in SITES],
            "links": [{"a": a, "b": b, "delay_s": delay_s, "bandwidth_Bps": RATE_BPS} for a in SITES for b in SITES if a < b]}


def place(build, folder, delay_s, words):
    """The site of every rank."""
    with open(folder + "/resources.json", "w") as f:
        json.dump(resources(delay_s), f)
    done = subprocess.run([build + "/bin/zbs", "map", "--model", folder + "/model.json", "--resources", folder + "/resources.json", "--format", "json", *words],
                          capture_output=True, text=True, check=True, timeout=120)
    return "".join(row["zone"] for row in sorted(json.loads(done.stdout)["mapping"], key=lambda row: row["task"]))


def crossing(model, sites):
    """Bytes and messages of the model between ranks at different sites."""
    apart = [edge for edge in model["edges"] if sites[edge[0]] != sites[edge[1]]]
    return sum(edge[2] for edge in apart), sum(edge[3] for edge in apart)


def measure(wan, build, program, delays_ms, rounds):
    """One program: its placements and times at every delay."""
    support = build + "/bin/support"
    environment, result = mpi_environment(support), {"name": program.name, "about": program.about, "ranks": program.ranks, "delays": [], "failures": []}
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/{program.input[0]}", "w") as f:
            f.write(program.input[1])

        def run(sites, more=None):
            before = wan.bytes_carried()
            seconds = program.seconds(run_mpi(wan, sites, program.argv, folder, {**environment, **(more or {})}, JOB_S))
            return seconds, wan.bytes_carried() - before

        wan.join_all(Line(delays_ms[0] / 1e3, RATE_BPS))
        run("".join(site * PROCESSORS for site in SITES)[:program.ranks], {"ZBS_PROFILE": "1", "ZBS_PROFILE_OUT": folder + "/model.json"})
        with open(folder + "/model.json") as f:
            model = json.load(f)
        result["one_site"] = [run("a" * program.ranks)[0] for _ in range(rounds)]
        for delay_ms in delays_ms:
            wan.join_all(Line(delay_ms / 1e3, RATE_BPS))
            rows = {}
            for key, (_, words) in PLACEMENTS.items():
                sites = place(build, folder, delay_ms / 1e3, words)
                bytes_apart, messages_apart = crossing(model, sites)
                rows[key] = {"sites": sites, "model_bytes": bytes_apart, "model_messages": messages_apart, "seconds": [], "line_bytes": []}
            for turn in range(rounds):
                keys = list(rows)
                for key in keys[turn % len(keys):] + keys[:turn % len(keys)]:  # nobody is always first
                    try:
                        seconds, carried = run(rows[key]["sites"])
                    except JobFailed as fault:
                        result["failures"].append(f"{delay_ms} ms, {key}: {str(fault)[:300]}")
                        continue
                    rows[key]["seconds"].append(seconds)
                    rows[key]["line_bytes"].append(carried)
            result["delays"].append({"delay_ms": delay_ms, "placements": rows})
            print(program.name, f"{delay_ms} ms:", {key: statistics.median(row["seconds"]) for key, row in rows.items() if row["seconds"]}, flush=True)
        result["messages"] = sum(edge[3] for edge in model["edges"])
        result["bytes"] = sum(edge[2] for edge in model["edges"])
    return result


def version_of(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    return f"{package} {done.stdout or 'not from a package'}"


def describe(build, rounds):
    """All but the times."""
    with open("/proc/cpuinfo") as f:
        processor = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), platform.machine())
    return {"format": "zbs-wan-run-times/1", "command": " ".join(["python3", "tests/benchmark/wan/run_times.py", *sys.argv[1:]]),
            "commit": subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip(),
            "day": time.strftime("%Y-%m-%d", time.gmtime()), "minutes": 0, "cores": os.cpu_count(), "processor": processor, "load": [round(os.getloadavg()[0], 1)] * 2,
            "kernel": platform.release(), "versions": [version_of(package) for package in ("mpich", "libucx0", "scalapack-mpi-test")], "sites": len(SITES), "processors": PROCESSORS,
            "rate_Bps": RATE_BPS, "rounds": rounds, "programs": [],
            "placements": {key: {"title": title, "command": "zbs map --model MODEL --resources SITES " + " ".join(words)} for key, (title, words) in PLACEMENTS.items()}}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=ROOT + "/build/release")
    options.add_argument("--out", default="docs/wan_run_times.md")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--delays", default=",".join(map(str, DELAYS_MS)), help="ms one way, with commas")
    options.add_argument("--quick", action="store_true", help="two delays, two rounds, two programs: does it all work?")
    chosen = options.parse_args()
    if why := why_not():
        sys.exit("run_times.py: " + why)
    build = os.path.abspath(chosen.build)
    if not os.access(XDLU, os.X_OK):
        sys.exit(f"run_times.py: no {XDLU} (package scalapack-mpi-test)")
    delays, rounds = [float(word) for word in chosen.delays.split(",")], chosen.rounds
    delays = [int(delay) if delay.is_integer() else delay for delay in delays]
    programs = [Transport(build, 2, 4), Transport(build, 3, 3), Lu(2, 3), Lu(3, 2), Lu(3, 4)]
    if chosen.quick:
        delays, rounds, programs = delays[:2], 2, [programs[0], programs[3]]
    report = describe(build, rounds)
    begin, stem = time.time(), os.path.splitext(os.path.abspath(chosen.out))[0]
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    with Wan(SITES, build + "/bin/support") as wan:
        for program in programs:
            report["programs"].append(measure(wan, build, program, delays, rounds))
            report["minutes"], report["load"][1] = round((time.time() - begin) / 60, 1), round(os.getloadavg()[0], 1)
            with open(stem + ".json", "w") as f:
                json.dump(report, f, indent=1)
                f.write("\n")
            write_page(report, chosen.out)
            print("written:", chosen.out, flush=True)


if __name__ == "__main__":
    main()
