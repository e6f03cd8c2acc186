#!/usr/bin/python3
"""A hostile job against the zone that runs it: job_safety_test.py PROGRAMS_FOLDER GROUP

Every attack of hostile.py is tried by a job of a zone that is not root, of one that is root with accounts, and of one on a host without user
namespaces. Unprotected shows first that the attacks work where nothing hinders them: one that cannot succeed shows nothing.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
CANARY_HEAD = "zbs-can" + "ary"
ZONE_USER, ZONE_GROUP = 65534, 65534  # of a zone that is not root: nobody
ACCOUNT = "games"

# Attacks that work on a job of the same user without protection. The others need a zone that is more careless than ours, or root.
REAL = {
    "read_database", "read_journal", "read_audit_log", "read_token", "read_key", "read_other_job", "list_state", "read_through_inherited_descriptor",
    "write_database", "write_control_files", "write_other_job", "replace_own_folder", "replace_state_folder", "change_supervisor_program",
    "signal_zone", "signal_supervisor", "read_environment_of_other_job", "trace_other_job", "read_root_of_others", "gain_by_setuid_program",
}


def ran_as(uid):
    if os.geteuid() == uid:
        return []
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all"]


class World:
    """State folder with secrets, programs and one zone, all of the zone's user."""

    def __init__(self, uid):
        self.uid = uid
        self.top = tempfile.mkdtemp(prefix="zbs-safety-", dir="/tmp")
        self.home, self.bin = self.top + "/home", self.top + "/bin"
        self.state = self.home + "/state"
        self.canary = f"{CANARY_HEAD}-{os.path.basename(self.top)}"
        self.tag = "left-" + os.path.basename(self.top)
        os.makedirs(self.state + "/identity")
        os.makedirs(self.bin)
        os.makedirs(self.top + "/shared")
        for name in ("zone.db", "zone.db-wal", "audit.db", "local_token", "identity/zone.pem"):
            with open(f"{self.state}/{name}", "w") as file:
                file.write(self.canary)
            os.chmod(f"{self.state}/{name}", 0o600)
        for name in ("zbs-step", "job_runner"):
            shutil.copy(f"{PROGRAMS}/{name}", self.bin)
        shutil.copy(HERE + "/hostile.py", self.bin)
        os.chmod(self.state, 0o700)
        for folder, _, files in os.walk(self.top):
            for path in [folder, *(f"{folder}/{name}" for name in files)]:
                if os.geteuid() == 0:
                    os.chown(path, uid, uid)  # of a test that is not root all is of its user already
        os.chmod(self.top, 0o755)
        os.chmod(self.top + "/shared", 0o777)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def run(self, *options, wrapper=None, results="results", program=None):
        """Runs the hostile job, or `program`; what the runner says goes to `output`."""
        job = program or [PYTHON, "-B", self.bin + "/hostile.py"]
        settings = {"STATE": self.state, "HOME_OF_STATE": self.home, "BIN": self.bin, "CANARY_HEAD": CANARY_HEAD, "TAG": self.tag,
                    "RESULTS": results, "PLANT": "no" if "--unprotected" in options else "yes"}
        command = [*(ran_as(self.uid) if wrapper is None else wrapper), self.bin + "/job_runner", "--state", self.state, "--supervisor", self.bin + "/zbs-step",
                   *options, *(word for item in settings.items() for word in ("--env", "=".join(item))), "--", *job]
        done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", "CANARY": self.canary, "ZBS_TOKEN": self.canary}, cwd=self.state, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100, errors="replace", start_new_session=True)
        self.output = done.stdout

    def fact(self, kind):
        return next((line.split(" ", 1)[1] for line in self.output.splitlines() if line.startswith(kind + " ")), None)

    def attacks(self, path=None):
        """Attack -> (succeeded, detail), from the job's file as the zone handed it out, or from `path`."""
        text = self.output.split("\nfile results ", 1)[-1]
        if path:
            with open(path) as file:
                text = file.read()
        rows = [json.loads(line) for line in text.splitlines() if line.startswith('{"attack"')]
        return {row["attack"]: (row["succeeded"], row["detail"]) for row in rows}

    def left_alive(self):
        found = []
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if name.isdigit() and file.read().startswith(self.tag.encode()):
                        found.append(name)
            except OSError:
                pass
        return found


class Hostile(unittest.TestCase):
    def setUp(self):
        self.world = None

    def tearDown(self):
        if self.world:
            self.world.close()

    def make(self, uid):
        self.world = World(uid)
        return self.world

    def need_root(self, why):
        if os.geteuid() != 0:
            self.skipTest("needs root: " + why)

    def other_user(self):
        """User of a zone that is not root."""
        return ZONE_USER if os.geteuid() == 0 else os.geteuid()

    def expect_failures(self, allowed=()):
        world = self.world
        self.assertEqual(world.fact("exit"), "0", world.output)
        attacks = world.attacks()
        self.assertGreaterEqual(len(attacks), 30, world.output)
        succeeded = {name: detail for name, (good, detail) in attacks.items() if good}
        self.assertEqual(set(succeeded) - set(allowed), set(), succeeded)
        self.assertNotIn(world.canary, world.output, "the zone handed out its own secret")
        self.assertEqual(world.left_alive(), [])


class Unprotected(Hostile):
    def test_the_attacks_are_real(self):
        world = self.make(self.other_user())
        world.run("--unprotected", "yes", results=world.top + "/shared/results")
        attacks = world.attacks(world.top + "/shared/results")
        missed = {name: attacks[name] for name in REAL if not attacks[name][0]}
        # Where no setuid program is installed, none can be tried; the folder of a job that was never started is not there.
        self.assertEqual(set(missed) - {"replace_own_folder", "write_control_files", "gain_by_setuid_program"}, set(), missed)


class OneUser(Hostile):
    """A zone that is not root: its jobs have its own user."""

    def test_a_job_can_do_nothing_to_its_zone(self):
        world = self.make(self.other_user())
        world.run()
        if world.fact("protection").startswith("none"):
            self.skipTest("no user namespaces: " + world.fact("protection"))
        self.assertTrue(world.fact("protection").startswith("namespace "), world.output)
        self.expect_failures()
        for name in ("unhide_in_new_namespace", "unhide_by_binding_root", "unhide_in_recursive_copy", "unhide_by_moving_the_cover"):
            # The kernel's word for a mount that is locked: the attack got as far as that.
            self.assertIn("Invalid argument", world.attacks()[name][1], name)

    def test_an_account_is_refused(self):
        world = self.make(self.other_user())
        world.run("--account", ACCOUNT)
        self.assertIn("not as root", world.fact("refused"))


class HiddenProcesses(Hostile):
    """A host that shows nobody but root processes that may not be looked into."""

    def test_a_zone_refuses_to_run_where_its_jobs_look_ended(self):
        if os.geteuid() != 0:
            self.skipTest("needs root: to mount /proc with hidepid")
        world = self.make(self.other_user())
        for option, refused in (("hidepid=invisible", True), ("hidepid=noaccess", True), (f"hidepid=invisible,gid={world.uid}", False), ("hidepid=off", False)):
            world.run(program=["/bin/true"], wrapper=["unshare", "-m", "sh", "-c", f'mount -t proc -o {option} proc /proc && exec "$@"', "sh", *ran_as(world.uid)])
            if refused:
                self.assertIn("hides processes", world.fact("refused") or world.output, option)
            else:
                self.assertEqual((world.fact("refused"), world.fact("exit")), (None, "0"), (option, world.output))


class Accounts(Hostile):
    """A zone that is root, whose jobs have accounts."""

    def test_a_job_can_do_nothing_to_its_zone(self):
        self.need_root("jobs of another account")
        world = self.make(0)
        world.run("--account", ACCOUNT, "--neighbour-account", "nobody", "--root-jobs", "no", "--minimum-uid", "2")
        self.assertTrue(world.fact("protection").startswith("accounts "), world.output)
        self.expect_failures()

    def test_nor_to_another_job_of_its_account(self):
        """Only where steps do not share memory: sharing means to be able to look into each other."""
        self.need_root("jobs of another account")
        world = self.make(0)
        world.run("--default-account", ACCOUNT, "--minimum-uid", "2", "--require", "yes", "--shared-memory", "no")
        self.expect_failures()

    def test_nor_by_file_permissions_alone(self):
        """Without mount namespaces the other jobs of the same account are within reach, the zone is not."""
        self.need_root("jobs of another account")
        world = self.make(0)
        wrapper = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all"]
        world.run("--account", ACCOUNT, "--neighbour-account", "nobody", "--root-jobs", "no", "--minimum-uid", "2", wrapper=wrapper)
        self.assertIn("jobs see all processes", world.fact("protection"))
        self.expect_failures()


class RootJobs(Hostile):
    """A zone that is root, whose jobs are root too: a courtesy against accidents, and said to be no protection."""

    def test_they_are_called_unprotected(self):
        self.need_root("jobs that are root")
        world = self.make(0)
        world.run("--require", "yes")
        self.assertIn("run as root", world.fact("refused"))
        world.run(program=["/bin/true"])
        self.assertTrue(world.fact("protection").startswith("none "), world.output)

    def test_what_is_hidden_is_not_found_by_the_common_ways(self):
        self.need_root("jobs that are root")
        self.make(0).run()
        # The host's own files and processes belong to root, and so to the job.
        self.expect_failures(allowed={"replace_state_folder", "signal_zone", "signal_supervisor", "read_environment_of_other_job", "trace_other_job", "read_root_of_others"})


class NoNamespaces(Hostile):
    """A host that allows nobody but root namespaces."""

    def wrapper(self, uid):
        if os.geteuid() == 0:
            inner = ran_as(uid)
        else:
            inner = []
        return [*inner, "unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c",
                'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"', "sh"]

    def test_the_zone_says_so_and_can_refuse(self):
        world = self.make(self.other_user())
        wrapper = self.wrapper(world.uid)
        world.run("--require", "yes", wrapper=wrapper)
        if world.fact("refused") is None:
            self.skipTest("user namespaces cannot be taken away here: " + world.output)
        self.assertIn("can read its keys", world.fact("refused"))
        world.run(wrapper=wrapper, program=["/bin/true"])
        self.assertTrue(world.fact("protection").startswith("none "), world.output)
        self.assertEqual(world.fact("exit"), "0")

    def test_what_is_still_kept(self):
        world = self.make(self.other_user())
        world.run(wrapper=self.wrapper(world.uid))
        attacks = world.attacks()
        self.assertTrue(attacks, world.output)
        for name in ("gain_by_setuid_program", "read_environment_of_zone", "read_memory_of_zone", "read_files_of_zone", "trace_zone", "read_through_inherited_descriptor",
                     "own_environment_has_secret", "become_root"):
            self.assertFalse(attacks[name][0], f"{name}: {attacks[name][1]}")
        self.assertTrue(attacks["read_key"][0], "this host protects more than is said")
        self.assertEqual(world.left_alive(), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
