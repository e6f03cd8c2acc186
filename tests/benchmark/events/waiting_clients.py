#!/usr/bin/python3
"""What waiting clients cost a zone, by events and by polling: waiting_clients.py BIN [--clients N] [--seconds S] [--polling N]

A zone of `zbs quickstart` (TLS) with jobs that sleep. First so many clients read events, each of one job; then fewer ask for their job five times a second each, as `zbs
wait` did without events, and their cost is scaled to the same number. Told is the processor time of the zone's process over the time that went by; nothing starts or
ends meanwhile, so what is seen of events is their heartbeat every 15 s.
"""
import argparse
import asyncio
import os
import pathlib
import signal
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration/federation"))
import federation  # noqa: E402
from federation import Federation  # noqa: E402

PER_USER, JOBS, POLLS_PER_S = 200, 4, 5


def processor_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def cost_of(pid, seconds):
    begin, used = time.monotonic(), processor_s(pid)
    await asyncio.sleep(seconds)
    return (processor_s(pid) - used) / (time.monotonic() - begin)


class World:
    def __init__(self, f, users):
        self.host, port = urllib.parse.urlsplit(f.zone_url("a")).netloc.split(":")
        self.port = int(port)
        self.users = []
        for i in range(users):
            folder = f.log_in("a", f"user-{i}")
            jobs = [f.zbs("--credentials", folder, "submit", "-n", "1", "--no-record", "--", "/bin/sleep", "600").stdout.strip() for _ in range(JOBS if i == 0 else 1)]
            self.users.append((f.tls(folder), jobs))

    async def connect(self, client):
        context, jobs = self.users[client // PER_USER % len(self.users)]
        reader, writer = await asyncio.open_connection(self.host, self.port, ssl=context)
        return reader, writer, jobs[client % len(jobs)]


async def listen(world, client, beats):
    reader, writer, job = await world.connect(client)
    writer.write(f"GET /v1/applications/{job}/events HTTP/1.1\r\nHost: zone\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.split(b"\r\n")[0], head

    async def read_on():
        while line := await reader.readline():
            beats[0] += line == b":\n"
    return asyncio.create_task(read_on()), writer


async def poll(world, client, counts, stop):
    reader, writer, job = await world.connect(client)
    request = f"GET /v1/applications/{job} HTTP/1.1\r\nHost: zone\r\n\r\n".encode()
    while not stop.is_set():
        begin = time.monotonic()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.split(b"\r\n")[0], head
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
        await reader.readexactly(length)
        counts[0] += 1
        await asyncio.sleep(max(0, 1 / POLLS_PER_S - (time.monotonic() - begin)))
    writer.close()


async def measure(world, pid, wanted):
    await asyncio.sleep(5)
    idle = await cost_of(pid, 20)
    beats, open_ones = [0], []
    for client in range(wanted.clients):
        open_ones.append(await listen(world, client, beats))
    await asyncio.sleep(5)
    beats[0] = 0
    by_events = await cost_of(pid, wanted.seconds) - idle
    heard = beats[0]
    for task, writer in open_ones:
        task.cancel()
        writer.close()
    await asyncio.sleep(5)
    counts, stop = [0], asyncio.Event()
    polls = [asyncio.create_task(poll(world, client, counts, stop)) for client in range(wanted.polling)]
    await asyncio.sleep(5)
    counts[0], begin = 0, time.monotonic()
    by_polling = await cost_of(pid, 20) - idle
    rate = counts[0] / (time.monotonic() - begin)
    stop.set()
    await asyncio.gather(*polls)
    scaled = by_polling / rate * POLLS_PER_S * wanted.clients
    print(f"command: {' '.join(sys.argv)}")
    print(f"cores: {os.cpu_count()}; the zone without clients, with its jobs: {100 * idle:.1f} % of a core, which is taken off below")
    print(f"{wanted.clients} clients by events: {100 * by_events:.2f} % of a core, {heard} comments read in {wanted.seconds} s")
    print(f"{wanted.polling} clients polling: {100 * by_polling:.1f} % of a core at {rate:.0f} calls/s; {wanted.clients} at {POLLS_PER_S} calls/s each: {100 * scaled:.0f} %")
    print(f"ratio: {scaled / max(by_events, 1e-4):.0f}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bin")
    options.add_argument("--clients", type=int, default=1_000)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--polling", type=int, default=50)
    wanted = options.parse_args()
    federation.BIN = wanted.bin
    with Federation() as f:
        with open(f"{f.folder}/state/a.toml", "a") as settings:
            settings.write("\n[rates]\nuser_per_s = 0\nanonymous_per_s = 0\nconnection_per_s = 0\n")
        pid = f.service("zbs-zone", "a.toml")
        os.kill(pid, signal.SIGHUP)
        asyncio.run(measure(World(f, -(-wanted.clients // PER_USER)), pid, wanted))


if __name__ == "__main__":
    main()
