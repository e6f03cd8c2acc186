#!/usr/bin/python3 -B
"""A standby that could not take over stands aside, and says so: stand_aside_test.py BIN CASE

Three schedulers of one zone on one PostgreSQL. One whose host has lost the shared folder leaves its turn to another; where it is the only one nobody is active, it says so loudly, and takes its turn once the folder
is back. One whose shared folder hangs (here: its mark is a pipe that nobody writes to, as on a hard mount whose server is gone) answers, ends in order, stands aside, and takes its turn afterwards.
"""
import os
import subprocess
import sys
import time

from fail_over_test import DEADLINE_S, TAKEN_OVER_S, Scheduler, World, until
from postgres_server import SKIPPED, PostgresServer, missing

ENDS_S = 10  # an orderly end, of a standby that has nothing to bring to an end


def zone(scheduler, *words):
    return subprocess.run([scheduler.program, *words, "--config", scheduler.config], capture_output=True, text=True, timeout=DEADLINE_S)


def until_ready(scheduler, words):
    """Until `zbs-zone ready` says this; empty: until it is in order."""
    ready = until(lambda: (lambda done: done if (words in done.stderr if words else done.returncode == 0) else None)(zone(scheduler, "ready")), DEADLINE_S, lambda: (zone(scheduler, "ready"), scheduler.text()))
    assert ready.returncode == (1 if words else 0), ready


def says_nobody_is_active(world, scheduler, why):
    """In every place where somebody might look. A folder that hangs keeps the doctors for seconds: they run beside the others."""
    scheduler.wait_for("zone_without_scheduler")
    doctors = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) for command, environment in (
        ([scheduler.program, "doctor", "--config", scheduler.config], None),
        ([world.bin / "zbs", "doctor"], {"PATH": "/usr/bin:/bin", "HOME": str(world.folder), "ZBS_URL": scheduler.url, "ZBS_IDENTITY": "spiffe://org-a/user/ana", "ZBS_TOKEN": world.token()}))]
    status, health = scheduler.ask("/livez", world.token())
    assert status == 200 and why in health["reason"] and "no scheduler of the zone is active" in health["reason"], (status, health)
    until_ready(scheduler, why)
    status, problem = scheduler.ask("/readyz", world.token())
    assert status == 503 and "none is active; it could not take over: " in problem["detail"] and why in problem["detail"], (status, problem)
    assert scheduler.ask("/livez") == (200, {"status": "standby"}), "a stranger receives more than that it lives"
    for doctor, words in zip(doctors, ("no scheduler of this zone is active", "none is active; it could not take over: ")):
        output, error = doctor.communicate(timeout=DEADLINE_S)
        assert doctor.returncode == 1 and why in output and words in output, (doctor.args, doctor.returncode, output, error)


def runs_jobs(world, mark):
    job = world.submit(mark, 1, "true")
    assert world.wait_final(job)["state"] == "completed", world.show(job)


def lose_folder(world, one, two, *others):
    """Scheduler two has its own way to the shared folder, as a mount of its host, and it is gone. The mount."""
    mount, empty = world.folder / "state-two", world.folder / "unmounted"
    mount.symlink_to("state")
    two.config.write_text(two.config.read_text().replace('/state"', '/state-two"'))
    one.start().wait_for(" listening on ")
    for standby in (two, *others):
        standby.start().wait_for(" standing by on ")
    empty.mkdir()
    mount.unlink()
    mount.symlink_to(empty)
    two.wait_for("could_not_take_over")
    until_ready(two, "lacks the mark of the folder")
    assert "lacks the mark of the folder" in two.text() and "zone_without_scheduler" not in two.text(), two.text()
    return mount


def without_folder_beside_another(world, one, two, three):
    lose_folder(world, one, two, three)
    one.process.kill()
    one.process.wait()
    assert world.until_taken_over(three, "kill -9, beside one that could not") < TAKEN_OVER_S
    runs_jobs(world, "beside")
    assert (world.folder / "ran").read_text().split() == ["beside"], "lost or doubled"


def without_folder_alone(world, one, two, _):
    mount = lose_folder(world, one, two)
    runs_jobs(world, "before")
    epoch = world.number("SELECT epoch FROM lease")
    one.process.kill()
    one.process.wait()
    says_nobody_is_active(world, two, "lacks the mark of the folder")
    assert world.number("SELECT epoch FROM lease") == epoch and "lease_taken" not in two.text() and two.process.poll() is None, two.text()
    mount.unlink()
    mount.symlink_to("state")
    world.until_taken_over(two, "its folder is back")
    runs_jobs(world, "back")
    assert (world.folder / "ran").read_text().split() == ["before", "back"], "lost or doubled"


class DeadServer:
    """Of the shared folder's mark."""

    def __init__(self, world):
        self.mark = world.folder / "state/folder_id"
        self.text = self.mark.read_text()
        os.mkfifo(self.mark.with_name("pipe"), 0o600)
        self.mark.with_name("pipe").rename(self.mark)

    def come_back(self):
        writer = os.open(self.mark, os.O_WRONLY | os.O_NONBLOCK)  # somebody hangs there, or this fails
        self.mark.with_name("text").write_text(self.text)
        self.mark.with_name("text").rename(self.mark)
        os.close(writer)


HANGS = "has not come back within"


def ends_while_folder_hangs(world, one, two, _):
    two.start().wait_for(" listening on ")
    one.start().wait_for(" standing by on ")
    server = DeadServer(world)
    one.wait_for(HANGS)
    until_ready(one, HANGS)
    assert one.ask("/livez", timeout=2)[0] == 200, "it hangs with its folder"
    begin = time.monotonic()
    one.process.terminate()
    assert one.process.wait(DEADLINE_S) == 0, one.text()
    took = time.monotonic() - begin
    assert took < ENDS_S, took
    print(f"ends in order after {took:.1f} s while its folder hangs", flush=True)
    server.mark.unlink()
    server.mark.write_text(server.text)


def with_folder_that_hangs(world, one, two, _):
    two.start().wait_for(" listening on ")
    one.start().wait_for(" standing by on ")
    server = DeadServer(world)
    one.wait_for(HANGS)
    epoch = world.number("SELECT epoch FROM lease")
    two.process.kill()
    two.process.wait()
    says_nobody_is_active(world, one, HANGS)
    assert world.number("SELECT epoch FROM lease") == epoch and "lease_taken" not in one.text(), one.text()
    server.come_back()
    world.until_taken_over(one, "its folder answers")
    runs_jobs(world, "answers")
    assert (world.folder / "ran").read_text().split() == ["answers"], "lost or doubled"


def main():
    if missing():
        print(missing())
        return SKIPPED
    with PostgresServer() as server, World(sys.argv[1], server) as world:
        world.schedulers.append(Scheduler(world, "three"))
        case = {case.__name__: case for case in (without_folder_beside_another, without_folder_alone, ends_while_folder_hangs, with_folder_that_hangs)}[sys.argv[2]]
        case(world, *world.schedulers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
