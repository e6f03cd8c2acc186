"""A zone with jobs: backup while it works, more jobs, kill -9, restore, start.

usage: backup_test.py ZBS_ZONE [unittest arguments]
"""
import http.client
import json
import os
import pathlib
import select
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1] / "contract"), str(HERE.parents[2] / "support")]
from ids import fresh_id  # noqa: E402
from stand_ins import write_stand_ins  # noqa: E402

ZONE, DEADLINE_S = sys.argv[1], 40
ANA = "spiffe://alpha/user/ana"
SETTINGS = """name = "alpha-one"
organisation = "alpha"
state = "{folder}/state"
listen = "127.0.0.1:0"
run_as = "self"
[[machine]]
name = "node-1"
processors = 4
{stand_ins}"""


def until(look, what):
    end = time.monotonic() + DEADLINE_S
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {DEADLINE_S} s: {what}")
        time.sleep(0.05)
    return found


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-backup-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        (self.folder / "zone.toml").write_text(SETTINGS.format(folder=self.folder, stand_ins=write_stand_ins(self.folder)))
        self.addCleanup((self.folder / "end").touch)  # whatever still runs ends
        self.process = None
        self.addCleanup(self.end)
        self.begin()

    def begin(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([ZONE, "run", "--config", self.folder / "zone.toml"], stdout=subprocess.PIPE, stderr=log, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
        line = self.process.stdout.readline() if ready else ""
        self.assertIn("http://127.0.0.1:", line, line + (self.folder / "log").read_text()[-4000:])
        self.port = int(line.rsplit(":", 1)[1])

    def end(self, kill=False):
        if self.process is None:
            return
        self.process.kill() if kill else self.process.terminate()
        code = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.process = None
        if not kill:
            self.assertEqual(code, 0, (self.folder / "log").read_text()[-4000:])

    def operate(self, *words, code=0):
        done = subprocess.run([ZONE, *words, "--config", self.folder / "zone.toml"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def call(self, method, target, body=None, status=200):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        try:
            headers = {"Zbs-Identity": ANA, "Zbs-Token": (self.folder / "state/local_token").read_text()}
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, target, json.dumps(body) if body is not None else None, headers)
            response = connection.getresponse()
            text = response.read()
            self.assertEqual(response.status, status, text)
            return json.loads(text)
        finally:
            connection.close()

    def submit(self, id=None, ranks=2):
        request = {"id": id or fresh_id(ANA), "ranks": ranks, "argv": ["./ring"], "directory": str(self.folder), "environment": {}, "walltime_s": 120}
        self.call("POST", "/v1/applications", request, 202)
        return request["id"]

    def state(self, id):
        return self.call("GET", f"/v1/applications/{id}")["state"]

    def wait_for(self, id, state):
        until(lambda: self.state(id) == state, f"{id} {state}")

    def tokens(self):
        """Of all parts that the database knows."""
        with sqlite3.connect(f"file:{self.folder}/state/zone.db?mode=ro", uri=True) as database:
            return [row[0] for row in database.execute("SELECT json_extract(record, '$.status.token') FROM part")]

    def test_what_the_backup_has_goes_on_and_no_token_comes_twice(self):
        ended = self.submit(ranks=1)
        self.wait_for(ended, "running")
        (self.folder / "end").touch()
        self.wait_for(ended, "completed")
        (self.folder / "end").unlink()
        running = self.submit()
        self.wait_for(running, "running")
        backup = self.folder / "backup.db"
        self.assertIn("2 applications", self.operate("backup", str(backup)))
        self.assertEqual(stat.S_IMODE(backup.stat().st_mode), 0o600)
        self.assertIn("exists", self.operate("backup", str(backup), code=8))
        self.assertIn("stop the zone first", self.operate("restore", str(backup), code=8))

        later = self.submit()
        self.wait_for(later, "running")
        self.end(kill=True)
        given = max(self.tokens())
        said = self.operate("restore", str(backup))
        self.assertIn("2 applications", said)
        self.assertIn("were put aside", said)
        self.assertEqual(len(list((self.folder / "state").glob("zone.db.before-restore-*[0-9]"))), 1)

        self.begin()
        self.assertEqual(self.state(ended), "completed")
        self.assertTrue(self.call("GET", f"/v1/applications/{ended}/logs")["complete"])
        self.assertEqual(self.state(running), "running")
        self.call("GET", f"/v1/applications/{later}", status=404)
        self.submit(later)  # as its client does, which has kept the id
        self.wait_for(later, "running")
        self.assertGreater(max(self.tokens()), given)
        (self.folder / "end").touch()
        for id in (running, later):
            self.wait_for(id, "completed")
        self.assertIn("good: ", self.operate("audit", "verify"))
        self.assertIn("restoreBackup", self.operate("audit", "list"))

    def test_a_torn_backup_is_refused_and_the_zone_starts_as_it_was(self):
        id = self.submit(ranks=9)
        self.wait_for(id, "rejected")
        backup = self.folder / "backup.db"
        self.operate("backup", str(backup))
        self.end()
        torn = self.folder / "torn.db"
        torn.write_bytes(backup.read_bytes()[:backup.stat().st_size // 2])
        self.assertIn("torn.db", self.operate("restore", str(torn), code=5))
        (self.folder / "state/zone.db.restoring").touch()  # as a restore leaves it that the power ended
        refused = subprocess.run([ZONE, "run", "--config", self.folder / "zone.toml"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("restore", refused.stderr)
        self.operate("restore", str(backup))
        self.begin()
        self.assertEqual(self.state(id), "rejected")

    def refused_start(self, code=8):
        """What the zone prints where it does not start, and that the state folder stays as it was."""
        state = self.folder / "state"
        # A reader of a database of SQLite leaves an empty log and an index beside it. The lock holds the number of the last process.
        files = lambda: {path: path.name != "lock" and path.stat().st_size for path in state.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))}  # noqa: E731
        before = files()
        done = subprocess.run([ZONE, "run", "--config", self.folder / "zone.toml"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(files(), before)
        return done.stderr

    def test_a_zone_that_has_run_never_starts_with_a_database_that_is_missing_or_empty(self):
        id = self.submit(ranks=9)
        self.wait_for(id, "rejected")
        backup, database = self.folder / "backup.db", self.folder / "state/zone.db"
        self.operate("backup", str(backup))
        self.end()
        database.unlink()
        self.assertIn("zone.db: the database is missing, but this zone has run before (see ", self.refused_start())
        self.assertIn("'zbs-zone restore FILE'", self.operate("doctor", code=1))
        database.touch()
        self.assertIn("the database is empty", self.refused_start())
        with sqlite3.connect(database) as made:  # a database without anything of the zone's
            made.execute("CREATE TABLE t(x)")
            made.execute("DROP TABLE t")
        made.close()
        self.assertIn("the database is empty", self.refused_start())
        self.operate("restore", str(backup))
        self.begin()
        self.assertEqual(self.state(id), "rejected")
        self.end()
        with sqlite3.connect(database) as emptied:
            for (table,) in emptied.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                emptied.execute(f"DELETE FROM {table}")
        emptied.close()
        self.assertIn("not the rows of one in use", self.refused_start())

    def test_a_damaged_database_names_a_way_out_that_works(self):
        self.end()
        with open(self.folder / "state/zone.db", "r+b") as file:
            file.seek(8192)
            file.write(os.urandom(4 * 4096))
        refused = self.refused_start(code=5)
        self.assertIn("is damaged", refused)
        self.assertIn("zbs-zone restore FILE", refused)
        self.assertIn("or start with a new, empty state folder", refused)

    def test_a_database_without_one_of_its_tables_names_the_way_out(self):
        self.end()
        with sqlite3.connect(self.folder / "state/zone.db") as database:
            database.execute("DROP TABLE record")
        database.close()
        refused = self.refused_start(code=5)
        self.assertIn("is damaged (it has lost its table 'record')", refused)
        self.assertIn("zbs-zone restore FILE", refused)

    def test_a_changed_audit_log_is_reported_at_the_start(self):
        self.wait_for(self.submit(ranks=9), "rejected")
        self.end()
        with sqlite3.connect(self.folder / "state/audit.db") as audit:
            audit.execute("DROP TRIGGER audit_never_changes")
            audit.execute("UPDATE audit SET who = 'spiffe://alpha/user/eve' WHERE number = 2")
        audit.close()
        self.assertNotIn("audit_log_changed", (self.folder / "log").read_text())
        self.begin()
        reported = next(line for line in (self.folder / "log").read_text().splitlines() if "audit_log_changed" in line)
        self.assertIn("entry 2", reported)
        self.assertIn("zbs-zone audit verify", reported)

    def test_an_audit_log_without_its_table_names_the_way_out(self):
        self.end()
        path = self.folder / "state/audit.db"
        with sqlite3.connect(path) as audit:
            audit.execute("DROP TABLE audit")
        audit.close()
        self.assertIn("move it away to begin a new one", self.refused_start(code=5))
        path.rename(self.folder / "away.db")
        self.begin()

    def test_lost_audit_entries_are_reported_at_the_start_and_stay_on_record(self):
        self.wait_for(self.submit(ranks=9), "rejected")
        self.end()
        path = self.folder / "state/audit.db"

        def cut():
            with sqlite3.connect(path) as audit:
                audit.execute("DROP TRIGGER audit_never_forgets")
                audit.execute("DELETE FROM audit WHERE number = (SELECT max(number) FROM audit)")
            audit.close()
        for lose in (cut, path.unlink):
            lose()
            before = len((self.folder / "log").read_text())
            self.begin()
            reported = next(line for line in (self.folder / "log").read_text()[before:].splitlines() if "audit_log_changed" in line)
            self.assertIn("so the end was cut off", reported)
            self.end()
            self.assertRegex(self.operate("audit", "verify"), r"entry \d+ records that entries were lost before it")
            with sqlite3.connect(path) as audit:
                self.assertEqual(["so the end was cut off" in row[0] for row in audit.execute("SELECT detail FROM audit WHERE action = 'loseAuditEntries'")], [True])
            audit.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
