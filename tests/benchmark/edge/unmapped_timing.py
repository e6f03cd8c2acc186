"""Does the time of an answer reveal whether a user exists? A zone is asked for capacity, over one connection, for users of an accepted
organisation without an account (denied by a line of the map, or named by none) and for users that nobody ever heard of, in random turns.

usage: unmapped_timing.py BIN [--count N] [--lines L]

A row per pair: medians in microseconds, the Mann-Whitney U test (normal approximation, corrected for ties), its z and two-sided p. "two
strangers" is the control that has to find nothing; a stranger whose name begins like those in the map shows what comparing letters costs,
one with an account how much more work a good answer is. A p below 0.01 in the first three rows is a reason to look, not a verdict.
"""
import argparse
import http.client
import json
import math
import os
import pathlib
import random
import re
import select
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration/contract"))
from identities import context, own, run  # noqa: E402

DEADLINE_S = 20
PAIRS = (("denied by the first line", "q-first-01", "q-nobody-1"), ("denied by the last line", "q-last-001", "q-nobody-1"), ("named by no line", "q-none-001", "q-nobody-1"),
         ("two strangers", "q-nobody-2", "q-nobody-1"), ("a stranger named like lines", "somebody-x", "q-nobody-1"), ("with an account", "q-account1", "q-nobody-1"))


def write_zone(folder, name, lines=0):
    accounts = ["org-a q-first-01 * -> deny"] + [f"org-a somebody{number} * -> account{number}" for number in range(lines)] + ["org-a q-account1 * -> guest", "org-a q-last-001 * -> deny"]
    (folder / f"{name}.accounts").write_text("\n".join(accounts) + "\n")
    (folder / f"{name}.toml").write_text(f'name = "{name}"\norganisation = "org-{name}"\nstate = "{folder}/{name}"\naccount_map = "{folder}/{name}.accounts"\nrun_as = "self"\n'
                                         f'[[machine]]\nname = "m0"\nprocessors = 64\n')


def start(binaries, folder):
    """Zone b, which accepts org-a; its process and port."""
    process = subprocess.Popen([binaries / "zbs-zone", "run", "--config", folder / "b.toml"], stdout=subprocess.PIPE, stderr=open(folder / "log", "w"), text=True)
    if not select.select([process.stdout], [], [], DEADLINE_S)[0]:
        process.kill()
        raise SystemExit((folder / "log").read_text())
    port = int(process.stdout.readline().rsplit(":", 1)[1])
    run(binaries / "zbs-zone", "peer", "accept", "org-a", "--bundle", folder / "a/identity/bundle.pem", "--no-delegation", "--config", folder / "b.toml")
    return process, port


def request_of(user):
    body = json.dumps({"user": f"spiffe://org-a/user/{user}", "processors": 4, "walltime_s": 60, "zones": ["a"]}).encode()
    return b"POST /v1/capacity HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def ask(connection, request):
    """Nanoseconds until the whole answer is there, and the answer's body."""
    begin = time.perf_counter_ns()
    connection.sendall(request)
    answer = connection.recv(65536)
    while len(answer.split(b"\r\n\r\n", 1)[-1]) < int(re.search(rb"Content-Length: (\d+)", answer).group(1)):
        answer += connection.recv(65536)
    return time.perf_counter_ns() - begin, answer.split(b"\r\n\r\n", 1)[1]


def measure(connection, users, count):
    requests, taken, bodies = [request_of(user) for user in users], ([], []), [None, None]
    for _ in range(200):  # both paths warm
        for request in requests:
            ask(connection, request)
    for _ in range(count):
        for which in random.sample((0, 1), 2):
            took, bodies[which] = ask(connection, requests[which])
            taken[which].append(took)
    return taken, bodies


def mann_whitney(first, second):
    """z of the rank sum of `first`: 0 where neither tends to be larger."""
    ranked = sorted((value, which) for which, values in enumerate((first, second)) for value in values)
    n1, n2, n, rank_sum, ties, at = len(first), len(second), len(ranked), 0.0, 0, 0
    while at < n:
        end = at
        while end < n and ranked[end][0] == ranked[at][0]:
            end += 1
        rank_sum += (at + end + 1) / 2 * sum(which == 0 for _, which in ranked[at:end])
        ties += (end - at) ** 3 - (end - at)
        at = end
    u, mean = rank_sum - n1 * (n1 + 1) / 2, n1 * n2 / 2
    return (u - mean) / math.sqrt(n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=3_000, help="asks of each kind")
    parser.add_argument("--lines", type=int, default=2_000, help="of the account map")
    options = parser.parse_args()
    print(f"command: {shlex.join(['python3', 'tests/benchmark/edge/unmapped_timing.py', 'BIN', *sys.argv[2:]])}; {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}; "
          f"{options.count} asks of each, interleaved; account map of {options.lines} lines")
    with tempfile.TemporaryDirectory(prefix="zbs-timing-") as name:
        folder = pathlib.Path(name)
        for zone, lines in (("a", 0), ("b", options.lines)):
            write_zone(folder, zone, lines)
            run(options.binaries / "zbs-zone", "init", "--config", folder / f"{zone}.toml")
        process, port = start(options.binaries, folder)
        try:
            client = http.client.HTTPSConnection("127.0.0.1", port, timeout=DEADLINE_S, context=context(own(folder / "a/identity")))
            client.connect()
            print(f"{'pair':28}{'median':>10}{'stranger':>10}{'z':>8}{'p':>8}  answers")
            for what, *users in PAIRS:
                taken, bodies = measure(client.sock, users, options.count)
                z = mann_whitney(*taken)
                medians = [statistics.median(values) / 1_000 for values in taken]
                print(f"{what:28}{medians[0]:10.1f}{medians[1]:10.1f}{z:8.2f}{math.erfc(abs(z) / math.sqrt(2)):8.3f}  {'the same' if bodies[0] == bodies[1] else 'differ'}", flush=True)
        finally:
            process.terminate()
            process.wait(DEADLINE_S)


if __name__ == "__main__":
    main()
