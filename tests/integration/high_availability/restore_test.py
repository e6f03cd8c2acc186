#!/usr/bin/python3 -B
"""A zone's database in PostgreSQL is put back from a backup, and the zone goes on from it: restore_test.py BIN

What stands in docs/operator.md, with the zone's own name: pg_dump, pg_restore, `zbs-zone restore --database-restored`. Also what is refused: backups of the other kind, and a zone that runs.
"""
import subprocess
import sys
import time
import urllib.request

from fail_over_test import DEADLINE_S, World, until
from postgres_server import SKIPPED, PostgresServer, missing


# As in docs/operator.md.
RESTORE = ("--clean", "--if-exists", "--single-transaction", "--exit-on-error")


def restore(world):
    one, server = world.schedulers[0], world.server
    zone = lambda *words: subprocess.run([one.program, *map(str, words), "--config", one.config], capture_output=True, text=True, timeout=DEADLINE_S)  # noqa: E731
    tool = lambda program, *words: server._run(program, "-h", server.folder, "-U", "zbs", *words)  # noqa: E731
    one.start().wait_for(" listening on ")
    kept = world.submit("kept", 1, "true")
    assert world.wait_final(kept)["state"] == "completed"
    tool("pg_dump", "zbs", "-Fc", "-n", '"a"', "-f", f"{server.folder}/zone-b.dump")
    lost = world.submit("lost", 1, "true")
    assert world.wait_final(lost)["state"] == "completed"
    token, epoch = world.number("SELECT value FROM counter WHERE name='token'"), world.number("SELECT epoch FROM lease")

    for command in (("backup", world.folder / "x.db"), ("restore", world.folder / "x.db")):
        refused = zone(*command)
        assert refused.returncode == 2 and """pg_dump -Fc -n '"a"' URL""" in refused.stderr, (refused.stdout, refused.stderr)
    refused = zone("restore", "--database-restored")
    assert refused.returncode == 8 and "another process writes to schema 'a'" in refused.stderr, refused.stderr

    one.process.terminate()
    assert one.process.wait(DEADLINE_S) == 0
    server.ask("CREATE VIEW holds_it AS SELECT * FROM a.lease")
    try:
        tool("pg_restore", f"{server.folder}/zone-b.dump", *RESTORE, "-d", "zbs")
        failed = False
    except AssertionError:
        failed = True
    untouched = world.number("SELECT value FROM counter WHERE name='token'") == token and world.number("SELECT count(*) FROM application") == 2
    assert failed and untouched, "what fails on the way has to leave all as it was"
    server.ask("DROP VIEW holds_it")
    tool("pg_restore", f"{server.folder}/zone-b.dump", *RESTORE, "-d", "zbs")
    assert world.number("SELECT value FROM counter WHERE name='token'") < token
    before = int(time.time()) << 20
    done = zone("restore", "--database-restored")
    assert done.returncode == 0 and "tokens go on at " in done.stdout, done.stderr
    assert "steps that the backup does not know were put aside" in done.stdout, done.stdout
    names = lambda folder: " ".join(entry.name for entry in folder.iterdir())  # noqa: E731
    aside, = (world.folder / "state").glob("steps-before-restore-*")
    assert lost in names(aside) and kept not in names(aside) and kept in names(world.folder / "state/steps"), names(aside)
    assert int(done.stdout.split()[-1]) > token and int(done.stdout.split()[-1]) >= before, (done.stdout, token, before)
    assert world.number("SELECT epoch FROM lease") > epoch
    one.start().wait_for(" listening on ")
    assert world.show(kept)["state"] == "completed"
    assert one.ask(f"/v1/applications/{lost}", world.token())[0] == 404
    runs = lambda: (world.folder / "ran").read_text().split().count("lost")  # noqa: E731
    assert runs() == 1
    assert world.submit("lost", 1, "true", "--id", lost) == lost
    assert world.wait_final(lost)["state"] == "completed"
    assert runs() == 2, "the run that was forgotten was taken for this one's"
    assert world.show(kept)["state"] == "completed"
    figures = urllib.request.Request(one.url + "/metrics", headers={"Zbs-Identity": "spiffe://org-a/user/ana", "Zbs-Token": world.token()})
    with urllib.request.urlopen(figures, timeout=DEADLINE_S) as answer:
        text = answer.read().decode()
    assert "\nzbs_zone_store_commit_seconds_count" in text and "\nzbs_zone_store_bytes " not in text, text
    checked = zone("audit", "verify")
    assert checked.returncode == 0, checked.stderr
    doctor = zone("doctor")
    assert "PostgreSQL, of schema version" in doctor.stdout and "audit log: whole, " in doctor.stdout and f"one at {one.url}" in doctor.stdout, doctor.stdout
    until(lambda: zone("ready").returncode == 0, DEADLINE_S, "the zone is not ready")

    two = world.schedulers[1].start()
    two.wait_for(" standing by on ")
    other = lambda *words: subprocess.run([two.program, *words, "--config", two.config], capture_output=True, text=True, timeout=DEADLINE_S)  # noqa: E731
    ready = other("ready")
    assert (ready.returncode, ready.stdout) == (0, "standby\n"), ready
    mark = world.folder / "state/folder_id"
    mark.rename(world.folder / "mark")  # as where the shared file system goes
    try:
        until(lambda: other("ready").returncode == 1, DEADLINE_S, "the standby does not say that it could not take over")
        assert "could not take over: " in other("ready").stderr and "could_not_take_over" in two.text(), (other("ready").stderr, two.text())
        assert "lacks the mark" in two.ask("/readyz", world.token())[1]["detail"] and two.ask("/livez") == (200, {"status": "standby"})
    finally:
        (world.folder / "mark").rename(mark)
    until(lambda: other("ready").returncode == 0, DEADLINE_S, "the standby is not in order again")
    two.process.terminate()
    assert two.process.wait(DEADLINE_S) == 0

    one.process.terminate()
    assert one.process.wait(DEADLINE_S) == 0
    settings = one.config.read_text()
    for text, word in ((settings.replace("[database]\nurl", "#"), "the database of this state folder is in PostgreSQL"),
                       (settings.replace('/state"', '/other"'), "it lacks the mark of the folder that goes with the database")):
        text = text if "[database]" in text else text.replace("[high_availability]\n", "").replace('node = "one"\n', "")
        one.config.write_text(text)
        started = zone("run")
        assert started.returncode in (2, 3, 4, 5, 8) and word in started.stderr, (started.returncode, started.stderr)
    # A folder of another zone: a scheduler that could never take over does not stand by, but says so.
    (world.folder / "other/folder_id").write_text("a folder of another zone's")
    one.config.write_text(settings.replace('/state"', '/other"'))
    for command, at in (("run", "stderr"), ("doctor", "stdout")):
        done = zone(command)
        assert done.returncode == (1 if command == "doctor" else 8) and "the state folder is not the one that goes with the database" in getattr(done, at), (command, done)
    server.ask("INSERT INTO a.schema_version VALUES(99)")
    one.config.write_text(settings)
    started = zone("run")
    assert started.returncode in (2, 3, 4, 5, 8) and "has version 99, this program knows" in started.stderr, started.stderr
    server.ask("DELETE FROM a.schema_version WHERE version=99")
    (world.folder / "state/zone.db").touch()
    one.config.write_text(settings)
    started = zone("run")
    assert started.returncode in (2, 3, 4, 5, 8) and "has a database of its own" in started.stderr, started.stderr


def main():
    if missing():
        print(missing())
        return SKIPPED
    with PostgresServer() as server, World(sys.argv[1], server) as world:
        restore(world)
    return 0


if __name__ == "__main__":
    sys.exit(main())
