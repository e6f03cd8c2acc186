#!/usr/bin/python3 -B
"""A zone whose database is a file moves into PostgreSQL, and goes on there: move_test.py BIN

What stands in docs/operator.md, `zbs-zone database move`. A job runs on meanwhile; what is refused changes nothing; a move that was cut short after its commit is finished by another.
"""
import os
import subprocess
import sys

from fail_over_test import DEADLINE_S, World, until
from postgres_server import SKIPPED, PostgresServer, missing


def move(world):
    one, state = world.schedulers[0], world.folder / "state"
    zone = lambda *words: subprocess.run([one.program, *map(str, words), "--config", one.config], capture_output=True, text=True, timeout=DEADLINE_S)  # noqa: E731

    def refused(words, *command):
        done = zone(*command)
        assert done.returncode in (2, 3, 4, 5, 8) and words in done.stderr, (command, done)

    shared = one.config.read_text()
    alone = shared.replace(f'[database]\nurl = "{world.server.url}"\n', "").replace('[high_availability]\nnode = "one"\n', "")
    one.config.write_text(alone)
    one.start().wait_for(" listening on ")
    ended = world.submit("ended", 1, "true")
    assert world.wait_final(ended)["state"] == "completed"
    runs = world.submit("runs", 1, "until [ -e go ]; do sleep 0.1; done")
    until(lambda: world.show(runs)["state"] == "running", DEADLINE_S, lambda: world.show(runs))
    refused("name no database to move to", "database", "move")
    one.config.write_text(shared)
    refused("stop the zone first", "database", "move")
    one.process.terminate()
    assert one.process.wait(DEADLINE_S) == 0
    refused("has a database of its own", "run")

    world.server.ask("CREATE SCHEMA a; CREATE TABLE a.schema_version(version bigint NOT NULL); INSERT INTO a.schema_version VALUES(99)")
    refused("has version 99", "database", "move")
    world.server.ask("DELETE FROM a.schema_version; INSERT INTO a.schema_version VALUES(1); CREATE TABLE a.state_folder(id text PRIMARY KEY); INSERT INTO a.state_folder VALUES('of another zone')")
    refused("belongs to another state folder", "database", "move")
    world.server.ask("DROP SCHEMA a CASCADE")
    # A scheduler that keeps its lease, of another folder: it has begun, and has not said yet which one is its.
    world.server.ask("CREATE SCHEMA a; CREATE TABLE a.lease(one boolean PRIMARY KEY DEFAULT true, holder text, url text, epoch bigint, until timestamptz); "
                     "INSERT INTO a.lease VALUES(true, 'host-9', 'http://host-9', 7, now() + interval '1 hour')")
    refused("host-9 at http://host-9 works on schema 'a' of the database", "database", "move")
    world.server.ask("DROP SCHEMA a CASCADE")
    assert (state / "zone.db").exists() and not (state / "folder_id").exists(), "a move that failed has changed the files"

    (state / "folder_id").write_text("of a move that was killed before its commit")
    one.config.write_text(alone)
    refused("cut short", "run")
    one.config.write_text(shared)
    if os.geteuid() == 0:  # what it leaves has to be the zone's
        os.chown(state, 65534, -1)
        refused("belongs to user nobody", "database", "move")
        os.chown(state, 0, -1)

    done = zone("database", "move")
    assert done.returncode == 0 and "application\t2\n" in done.stdout, done
    assert (state / "zone.db.moved").exists() and (state / "audit.db.moved").exists() and not (state / "zone.db").exists()
    refused("is in PostgreSQL already", "database", "move")
    for name in ("zone.db", "audit.db"):  # as where it was killed after its commit
        (state / f"{name}.moved").rename(state / name)
    refused("has a database of its own", "run")
    done = zone("database", "move")
    assert done.returncode == 0 and not (state / "zone.db").exists(), done
    assert world.number("SELECT count(*) FROM application") == 2, "taken in twice"

    one.start().wait_for(" listening on ")
    assert world.show(ended)["state"] == "completed" and world.show(runs)["state"] == "running", world.show(runs)
    (world.folder / "go").touch()
    assert world.wait_final(runs)["state"] == "completed"
    again = world.submit("again", 1, "true")
    assert world.wait_final(again)["state"] == "completed"
    assert sorted((world.folder / "ran").read_text().split()) == ["again", "ended", "runs"], "lost or doubled"
    checked = zone("audit", "verify")
    assert checked.returncode == 0, checked
    one.config.write_text(alone)
    refused("the database of this state folder is in PostgreSQL", "run")


def main():
    if missing():
        print(missing())
        return SKIPPED
    with PostgresServer() as server, World(sys.argv[1], server) as world:
        move(world)
    return 0


if __name__ == "__main__":
    sys.exit(main())
