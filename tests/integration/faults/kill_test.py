#!/usr/bin/python3 -B
"""kill -9 of random services while four clients submit: kill_test.py BIN [--rounds N] [--seed S]

Each client makes an id, writes it down (synced), submits, and submits again with the same id until it is acknowledged. Meanwhile a service chosen at
random is killed 5 to 500 ms after the last one is back, and started again, N times. Then nothing was lost: every acknowledged id is stored and ends; nothing doubled: each job
leaves its id in a file, at most once, and no id is stored twice; nothing stuck: all end within a minute; no orphan: no process of a job is alive,
no processor held. A line every ten rounds; the seed is printed first and makes the same kills, though not the same timing of all processes.
"""
import argparse
import http.client
import os
import random
import sys
import threading
import time

from fault_world import DEADLINE_S, FINAL, FaultWorld, until

CLIENTS, WAITING = 4, 8  # and so many applications that a client has under way at one time
MACHINES = {"a": [4], "b": [4]}


class Client(threading.Thread):
    def __init__(self, world, number, seed):
        super().__init__(daemon=True)
        self.world, self.number, self.random = world, number, random.Random(f"{seed}-{number}")
        self.over = threading.Event()
        self.requests, self.fault = [], None
        self.ids = open(world.folder / f"client-{number}.ids", "a")

    def run(self):
        try:
            while not self.over.is_set():
                self.submit()
                while not self.over.is_set() and sum(not self.has_ended(r) for r in self.requests[-4 * WAITING:]) >= WAITING:
                    self.over.wait(0.05)
        except BaseException as fault:
            self.fault = fault

    def submit(self):
        ranks = self.random.choice((1, 1, 2, 5))  # five go over both zones
        request = self.world.request(ranks, f"sleep {self.random.choice(('0', '0.05', '0.2'))}")
        self.ids.write(request["id"] + "\n")
        self.ids.flush()
        os.fsync(self.ids.fileno())
        self.requests.append(request)
        status, answer = self.world.ask_until_answered("a", "POST", "/v1/applications", request)
        assert status == 202 and answer["id"] == request["id"], (status, answer)

    def has_ended(self, request):
        try:
            return self.world.ask("a", "GET", f"/v1/applications/{request['id']}", timeout=3)[1].get("state") in FINAL
        except (OSError, http.client.HTTPException):
            return False


def soak(programs, rounds, seed):
    print(f"seed {seed}: {rounds} kills", flush=True)
    chance = random.Random(seed)
    with FaultWorld(programs, MACHINES, "hold_ttl_s = 3\nlaunch_window_s = 3\nlease_s = 4\nrenew_s = 0.5\n") as world:
        clients = [Client(world, number, seed) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        begin = time.monotonic()
        for number in range(1, rounds + 1):
            victim = world.services[chance.choice(("a", "a", "b", "b", "registry"))]
            lives, since = victim.lives, victim.size()
            time.sleep(chance.uniform(0.005, 0.5))  # the fault's own time, not a wait for anything
            victim.kill()
            until(lambda: victim.lives > lives and " listening on " in victim.text(since) and world.answers(victim.name), DEADLINE_S, lambda: f"{victim.name} does not come back: {victim.text(since)}")
            faults = [client.fault for client in clients if client.fault]
            assert not faults, faults
            if number % 10 == 0:
                done = sum(len(client.requests) for client in clients)
                print(f"{number} kills, {done} applications, {time.monotonic() - begin:.0f} s", flush=True)
        for client in clients:
            client.over.set()
        for client in clients:
            client.join(DEADLINE_S + 5)
            assert not client.is_alive() and client.fault is None, (client.number, client.fault)
            client.ids.close()
        requests = [request for client in clients for request in client.requests]
        states = world.assert_whole(requests)
        print(f"{len(requests)} applications: " + ", ".join(f"{list(states.values()).count(state)} {state}" for state in FINAL), flush=True)
        assert list(states.values()).count("completed") * 2 > len(requests), "most of them should run through"
        odd = {service.name: [code for code in service.exits if code != -9] for service in world.services.values()}
        assert not any(odd.values()), f"services ended by themselves: {odd}; {world.logs()}"


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("programs")
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    chosen = options.parse_args()
    soak(os.path.abspath(chosen.programs), chosen.rounds, chosen.seed)
    sys.exit(0)
