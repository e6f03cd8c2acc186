#!/usr/bin/python3
"""Slurm's backfill as an oracle for ours: backfill_test.py PROGRAMS_FOLDER SOURCE_DIR [--queues N] [--seed S] [unittest arguments]

A real slurmctld with sched/backfill gets random queues, each in a partition of its own. Its nodes are in the cloud and never come up:
jobs get nodes and run nothing. One decision per queue is compared: which jobs start, and when the others are expected to start.
`zbs simulate` decides on the same instant, in seconds: running jobs with the rest of their walltimes, then the waiting jobs. Each
difference has one of REASONS, and the nodes and instants that Slurm printed have to show that this reason applies.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path.insert(0, SOURCE + "/tests/support")
import slurm_cluster

PROCESSORS = (6, 12, 24)  # of the machines of a batch, in turns; each is a node of Slurm
BATCH = 7                # queues in one slurmctld, each decided in a cycle of its own: promises in other partitions would shorten Slurm's search
BACKFILL = ("defer,sched_interval=-1,bf_continue,bf_interval=1,bf_max_job_test=10000,"
            "bf_resolution=1,"  # seconds; by default, starts are rounded to a minute
            "bf_window=43200")  # minutes; by default, nothing is planned beyond a day
UNLIMITED = 10**9
REASONS = {
    "none": "the same jobs start, and the others at the same second",
    "named nodes": "Slurm promises nodes by name: enough nodes are free at each instant of the run, but not the same ones",
    "touching": "for Slurm, a job may overlap one that begins at the instant at which it ends",
    "short sight": "Slurm's search sees promised ends up to the first change after the end of the job, and stops if there is none",
    "clock": "the second changed while Slurm decided on this queue, or a job was past its walltime: left out",
}
FIELDS = ("Partition", "StateCompact", "StartTime", "EndTime", "NodeList", "SchedNodes")
WIDTH = 300

Job = collections.namedtuple("Job", "state begin end nodes processors walltime")


def numbers(hosts):
    """n[1-3,8] as numbers."""
    found = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", hosts):
        found |= set(range(int(first), int(last or first) + 1))
    return found


class IdleCluster(slurm_cluster.SlurmCluster):
    """Without any slurmd."""

    def __init__(self, depth):
        first = 1
        self.machines = {}
        for i in range(BATCH):
            size = PROCESSORS[i % len(PROCESSORS)]
            self.machines[f"q{i}"] = range(first, first + size)
            first += size
        settings = {"NodeName": f"n[1-{first - 1}] CPUs=1 State=CLOUD", "ResumeProgram": "/bin/true", "SuspendProgram": "/bin/true",
                    "ResumeTimeout": 65000, "SuspendTime": 65000, "SlurmdTimeout": 0, "SelectType": "select/linear", "SelectTypeParameters": "CR_Memory",
                    "SchedulerParameters": BACKFILL + (f",bf_job_part_count_reserve={depth}" if depth < UNLIMITED else "")}
        super().__init__([], 1, {name: f"Nodes=n[{r.start}-{r.stop - 1}] MaxTime=INFINITE" for name, r in self.machines.items()}, settings)
        self.environment["SLURM_TIME_FORMAT"] = "%s"

    def _start(self):
        self.start_munge()
        self.start_controller()
        self.until(lambda: "q0" in self.client("sinfo", "-h", check=False), "slurmctld does not answer")

    def submit(self, queue, jobs):
        for processors, minutes in jobs:
            self.client("sbatch", "-Q", "-p", queue, "-N", str(processors), "-t", str(minutes), "-o", "/dev/null", "--wrap", "true")

    def set_queue(self, name, state):
        self.client("scontrol", "update", "partition=" + name, "state=" + state)

    def cycles(self):
        """How many there were, and when the last one began; zeros where Slurm does not answer."""
        found = re.search(r"Backfilling.*?Total cycles: (\d+).*?Last cycle when: [^\n]*\((\d+)\)", self.client("sdiag", check=False), re.S)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def jobs(self):
        """Queue -> state, begin, end and nodes of its jobs in the order of arrival; unknown values are None or empty."""
        found = {name: [] for name in self.machines}
        for line in self.client("squeue", "-h", "-S", "i", "-O", ",".join(f"{name}:{WIDTH}" for name in FIELDS)).splitlines():
            queue, state, begin, end, nodes, promised = (line[i:i + WIDTH].strip() for i in range(0, len(FIELDS) * WIDTH, WIDTH))
            begin, end = (int(instant) if instant.isdigit() else None for instant in (begin, end))
            found[queue].append((state, begin, end, numbers(promised if state == "PD" else nodes)))
        return found

    def decide(self, queues):
        """For each of `queues` (name -> running and waiting jobs, each with processors and minutes): its name, when a cycle began that decided
        on it alone, and its jobs after it."""
        self.client("scancel", "--user=root")
        self.until(lambda: not any(self.jobs().values()), "jobs do not end")
        for name, (running, _) in queues.items():
            self.set_queue(name, "up")
            self.submit(name, running)
        self.until(lambda: all(state != "PD" for jobs in self.jobs().values() for state, *_ in jobs), "jobs do not start")
        for name, (_, waiting) in queues.items():
            self.set_queue(name, "down")
            self.submit(name, waiting)
        for name, (running, waiting) in queues.items():
            opened = int(time.time())
            self.set_queue(name, "up")
            while True:
                self.until(lambda: self.cycles()[1] >= opened, "no cycle")
                count, when = self.cycles()
                jobs = self.jobs()[name]
                head = next((begin for state, begin, *_ in jobs if state == "PD"), when)
                if head and when >= opened and self.cycles()[0] == count:
                    break
            self.set_queue(name, "down")
            yield name, when, [Job(*found, size, minutes * 60) for found, (size, minutes) in zip(jobs, running + waiting, strict=True)]


def random_queue(draw, processors):
    """Running and waiting jobs of a machine, each with processors and minutes."""
    def job(most):
        return draw.choice((1, most, draw.randint(1, most), int(most ** draw.random()))), draw.choice((60, 120, draw.randint(1, 600), draw.randint(1, 600), draw.randint(1, 600)))
    running, free = [], processors
    while free > 0 and draw.random() < 0.8:
        running.append(job(free))
        free -= running[-1][0]
    return running, [job(processors) for _ in range(draw.randint(2, 14))]


def ours(policy, processors, now, jobs):
    """When our plan starts each job. All are submitted now: running jobs come first and fit, so that they have their processors at once."""
    lines = [f"; MaxProcs: {processors}"]
    for i, job in enumerate(jobs):
        length = job.end - now if job.begin is not None and job.begin < now else job.walltime
        lines.append(f"{i + 1} 0 -1 {length} -1 -1 -1 {job.processors} {length} -1 1 1 1 -1 1 -1 -1 -1")
    with tempfile.TemporaryDirectory(prefix="zbs-") as folder:
        subprocess.run([PROGRAMS + "/zbs", "simulate", "--trace", "-", "--policy", policy, "--waits", folder + "/waits"], input="\n".join(lines), check=True,
                       text=True, stdout=subprocess.DEVNULL)
        with open(folder + "/waits") as waits:
            return [now + int(line.split()[1]) for line in waits]


def first_start(now, job, machine, placed, by_name, touching):
    """The first instant from which `job` finds its nodes beside those `placed`: the same ones for all of its run, or as many at any instant of
    it. `touching`: the instant at which it ends belongs to its run."""
    for start in sorted({now} | {end for _, _, end in placed if end > now}):
        end = start + job.walltime + touching
        if by_name:
            taken = len(set().union(*(nodes for nodes, b, e in placed if b < end and e > start)))
        else:
            taken = max(sum(len(nodes) for nodes, b, e in placed if b <= at < e) for at in {start} | {b for _, b, _ in placed if start < b < end})
        if taken + job.processors <= len(machine):
            return start


def sees_no_end(now, job, promised):
    """Whether Slurm's search can stop early: it goes on at a change at which a promise gives nodes back, but sees only the changes up to the
    first one after the end of the job."""
    changes = sorted({instant for _, begin, end in promised for instant in (begin, end)})

    def taken(at):
        return set().union(*(nodes for nodes, b, e in promised if b <= at < e))
    for start in [now] + changes:
        seen = [at for at in changes if start < at <= start + job.walltime] + [at for at in changes if at > start + job.walltime][:1]
        if all(taken(at - 1) <= taken(at) for at in seen):
            return True
    return False


def compare(policy, depth, machine, when, jobs):
    """The reason (of REASONS) of the first difference between Slurm's decision and ours; ValueError where there is none."""
    instants = {job.begin for job in jobs if job.state != "PD" and job.begin >= when}
    if len(instants) > 1:
        return "clock"
    now = instants.pop() if instants else when
    if any(job.state != "PD" and job.end <= now for job in jobs):
        return "clock"
    plan = ours(policy, len(machine), now, jobs)
    placed = [(job.nodes, job.begin, job.end) for job in jobs if job.state != "PD" and job.begin < now]
    promised = []
    for number, (job, ours_starts) in enumerate(zip(jobs, plan, strict=True), 1):
        if job.state != "PD" and job.begin < now:
            continue
        first = {(by_name, touching): first_start(now, job, machine, placed + promised, by_name, touching)
                 for by_name in (False, True) for touching in (False, True)}
        slurm_starts = job.begin
        if job.state == "PD" and len(promised) == depth:
            if ours_starts > now:
                continue
            slurm_starts = None
        if slurm_starts != ours_starts:
            if ours_starts != first[False, False]:
                raise ValueError(f"job {number}: ours starts in {ours_starts - now} s, but could in {first[False, False] - now} s")
            for reason, limit in (("touching", first[False, True]), ("named nodes", first[True, True])):
                is_later = ours_starts < slurm_starts <= limit if slurm_starts is not None else len(promised) == depth and limit > now
                if is_later:
                    return reason
            if sees_no_end(now, job, promised):
                return "short sight"
            raise ValueError(f"job {number}: Slurm has {slurm_starts and slurm_starts - now} s, its own nodes allow {first[True, True] - now} s")
        if slurm_starts == now:
            placed.append((job.nodes, now, now + job.walltime))
        else:
            promised.append((job.nodes, slurm_starts, slurm_starts + job.walltime))
    return "none"


class Backfill(unittest.TestCase):
    def hold(self, depth, *policies):
        """Each policy against Slurm with promises to `depth` jobs."""
        draw = random.Random(f"{ARGUMENTS.seed} {depth}")
        counts = {policy: collections.Counter() for policy in policies}
        starts = fcfs_differs = 0
        with IdleCluster(depth) as cluster:
            for _ in range(0, ARGUMENTS.queues, BATCH):
                queues = {name: random_queue(draw, len(machine)) for name, machine in cluster.machines.items()}
                for name, when, jobs in cluster.decide(queues):
                    machine = cluster.machines[name]
                    starts += sum(job.state != "PD" and job.begin >= when for job in jobs)
                    for policy in policies:
                        try:
                            counts[policy][compare(policy, depth, machine, when, jobs)] += 1
                        except ValueError as difference:
                            self.fail(f"{policy}: {difference}; now {when}, {machine}, jobs:\n" + "\n".join(map(str, jobs)))
                    try:
                        compare("fcfs", depth, machine, when, jobs)
                    except ValueError:
                        fcfs_differs += 1
        for policy, count in counts.items():
            self.assertLess(2 * count["clock"], sum(count.values()), f"{policy} was hardly compared")
            print(f"{policy}: {sum(count.values())} queues, {starts} starts; " + ", ".join(f"{reason}: {count[reason]}" for reason in REASONS), file=sys.stderr)
        self.assertGreater(fcfs_differs, 0, "a policy that does not backfill passes for one that does")

    def test_promises_to_all(self):
        self.hold(UNLIMITED, "backfill:depth=unlimited", "conservative")

    def test_promises_to_the_head(self):
        self.hold(1, "easy", "backfill:depth=1")

    def test_promises_to_three(self):
        self.hold(3, "backfill:depth=3")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--queues", type=int, default=BATCH)
    parser.add_argument("--seed", default="1")
    ARGUMENTS, rest = parser.parse_known_args(sys.argv[3:])
    why = slurm_cluster.missing()
    if why:
        print("skipped: no local Slurm: " + why)
        sys.exit(slurm_cluster.SKIPPED)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
