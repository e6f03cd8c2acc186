"""`zbs quickstart` says where its pages are; one that cannot come up says why, and ends.

usage: quickstart_test.py BIN
"""
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from ports import free_ports  # noqa: E402
from programs import copy_for_all  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv[1])
AS_CALLER = ["--user", "root"] if os.geteuid() == 0 else []  # the programs may be root's alone


class Quickstart(unittest.TestCase):
    def test_a_port_that_is_taken_is_told(self):
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        first = free_ports(4)
        with socket.socket() as other:
            other.bind(("127.0.0.1", first + 1))
            other.listen()
            done = subprocess.run([PROGRAMS / "zbs", "quickstart", *AS_CALLER, "--folder", folder + "/state", "--first-port", str(first)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        message = done.stderr.splitlines()[-1]
        self.assertIn("zone a does not stay up", message)
        self.assertIn("in use", message)
        self.assertIn(str(first + 1), message)
        self.assertIn("a.log", message)
        self.assertLessEqual(done.stderr.count("starting it again"), 5, done.stderr)

    def test_it_says_where_the_pages_are_what_opens_them_and_that_cores_are_shared(self):
        cores = len(os.sched_getaffinity(0))
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        process = subprocess.Popen([PROGRAMS / "zbs", "quickstart", *AS_CALLER, "--folder", folder + "/state", "--processors", str(cores // 3 + 1)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        said = ""
        while "Stop with Ctrl-C." not in said:
            line = process.stdout.readline()
            self.assertTrue(line, said)
            said += line
        self.assertIn(f"\nThe zones offer {cores // 3 * 3 + 3} processors, but this machine has {cores} core{'s' * (cores != 1)}: ", said)
        self.assertIn(f"\nzbs run -n {min(6, cores // 3 * 3 + 3)} -- PROGRAM", said)
        zones = re.findall(r"^zone (\w+)  (https://127\.0\.0\.1:\d+)$", said, re.M)
        self.assertEqual([name for name, _ in zones], ["a", "b", "c"], said)
        unknown = ssl._create_unverified_context()
        for name, url in zones:
            with urllib.request.urlopen(url + "/", context=unknown, timeout=30) as page:
                self.assertTrue(page.headers["Content-Type"].startswith("text/html"))
        settings = dict(re.findall(r"^export (\w+)=(.*)$", said, re.M))
        command = re.search(r"^zbs dashboard.*$", said, re.M).group().split()
        command.remove("--open")  # nobody is here to look
        dashboard = subprocess.Popen([PROGRAMS / command[0], *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **settings))
        self.addCleanup(dashboard.stdout.close)
        self.addCleanup(dashboard.wait, 60)
        self.addCleanup(dashboard.terminate)
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(dashboard.stdout.readline().strip(), timeout=30) as page:
            self.assertEqual(page.status, 200)

    def test_a_killed_zone_is_started_again_and_its_signal_is_named(self):
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        process = subprocess.Popen([PROGRAMS / "zbs", "quickstart", *AS_CALLER, "--folder", folder + "/state"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        while "Stop with Ctrl-C." not in (line := process.stdout.readline()):
            self.assertTrue(line, "it ended")
        zone = subprocess.run(["pgrep", "-f", f"zbs-zone run --config {folder}/state/b.toml"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        self.assertEqual(len(zone), 1, zone)
        os.kill(int(zone[0]), signal.SIGKILL)
        lines = iter(process.stderr.readline, "")
        line = next(line for line in lines if "starting it again" in line)
        self.assertTrue(line.startswith("zbs: zone b was ended by signal 9 ("), line)

    def test_programs_in_a_folder_with_a_blank_profile_their_jobs(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs quickstart: "))
        self.addCleanup(shutil.rmtree, folder, True)
        programs = copy_for_all(PROGRAMS, folder)
        process = subprocess.Popen([programs / "zbs", "quickstart", *AS_CALLER, "--folder", folder / "state", "--environment-file", folder / "environment"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        while "Stop with Ctrl-C." not in process.stdout.readline():
            self.assertIsNone(process.poll())
        zbs = lambda *words: subprocess.run(["/bin/sh", "-c", '. "$1/environment"; shift; exec "$@"', "sh", folder, programs / "zbs", *words], capture_output=True, text=True, timeout=60)  # noqa: E731
        job = zbs("run", "-q", "-n", "3", "--", programs / "apps/ring")
        self.assertEqual((job.returncode, job.stderr), (0, ""), job.stdout)
        self.assertIn("ring", zbs("profile", "list").stdout)

    def test_settings_that_cannot_be_written_are_told(self):
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        done = subprocess.run([PROGRAMS / "zbs", "quickstart", *AS_CALLER, "--folder", folder + "/state", "--environment-file", folder + "/none/environment"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(f"{folder}/none/environment: cannot be written: No such file or directory", done.stderr)


@unittest.skipIf(os.geteuid() != 0, "only root can change the account")
class QuickstartOfRoot(unittest.TestCase):
    """Neither services nor jobs run as root without being asked to."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-quickstart-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.folder.chmod(0o755)
        self.programs = copy_for_all(PROGRAMS, self.folder)

    def quickstart(self, *options, env=None):
        return [self.programs / "zbs", "quickstart", "--folder", self.folder / "state", "--environment-file", self.folder / "environment", *options], dict(os.environ, **(env or {}))

    def refused(self, *options, env=None):
        command, environment = self.quickstart(*options, env=env)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def check_account(self, account, *options, env=None):
        """Services and jobs run as `account`, the terminal says so, and the settings are where they were asked for."""
        command, environment = self.quickstart(*options, env=env)
        (self.folder / "environment").write_text("of an earlier start")
        with open(self.folder / "errors", "w") as errors:
            process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        printed = ""
        while "Stop with Ctrl-C." not in printed:
            line = process.stdout.readline()
            self.assertTrue(line, printed)
            printed += line
        self.assertRegex(printed, f"Not protected: .* as (one account, ')?{account}")
        name, credentials = (self.folder / "environment").read_text().removeprefix("export ").strip().split("=", 1)
        # As who types the next command: the account that called sudo, else root.
        user = pwd.getpwnam((env or {}).get("SUDO_USER", "root")).pw_uid
        job = subprocess.run([self.programs / "zbs", "run", "-q", "-n", "12", "--", "/usr/bin/id", "-un"], env={**os.environ, name: credentials}, capture_output=True, text=True, timeout=60, cwd="/", user=user)
        self.assertEqual((job.returncode, set(job.stdout.split())), (0, {account}), job.stderr)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                uids = re.search(r"^Uid:\t(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1).split()
            except OSError:
                continue
            if os.fsencode(self.folder) in words and int(pid) != os.getpid():
                self.assertEqual(set(uids), {str(pwd.getpwnam(account).pw_uid)}, words)
        process.terminate()
        process.wait(60)
        self.assertNotIn("filesystem error", (self.folder / "errors").read_text())

    def test_runs_as_nobody(self):
        self.check_account("nobody")

    def test_runs_as_the_account_that_called_sudo(self):
        self.check_account("daemon", env={"SUDO_USER": "daemon"})

    def test_runs_as_root_where_root_is_named(self):
        self.check_account("root", "--user", "root")

    def refused_and_gone(self, *words, env=None):
        """A refusal with all of `words` that leaves nothing behind, so no service and no job ran as root."""
        printed = self.refused(env=env)
        for word in words:
            self.assertIn(word, printed)
        self.assertFalse((self.folder / "state").exists())

    def test_does_not_run_as_root_if_the_place_is_closed_to_its_account(self):
        self.folder.chmod(0o700)
        self.refused_and_gone("the account 'nobody' cannot", "a folder that it can enter", "--user")
        self.refused_and_gone("the account 'daemon' cannot", "a folder that it can enter", "--user", env={"SUDO_USER": "daemon"})
        programs = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, programs, True)
        os.chmod(programs, 0o755)
        self.programs = copy_for_all(PROGRAMS, pathlib.Path(programs))
        self.refused_and_gone("the account 'nobody' cannot use the folder", "--folder", "--user root")

    def test_does_not_run_as_root_if_the_programs_are_closed_to_nobody(self):
        (self.programs / "zbs-zone").chmod(0o700)
        self.refused_and_gone("zbs-zone: the account 'nobody' cannot run it", "--user root")

    def test_names_what_its_account_cannot_use(self):
        self.assertIn("no account 'no-such-user'; name one with --user", self.refused("--user", "no-such-user"))
        (self.folder / "state").mkdir(0o700)
        self.assertIn("belongs to another user than 'nobody'", self.refused("--user", "nobody"))
        self.assertEqual(os.listdir(self.folder / "state"), [])
        (self.folder / "state").rmdir()
        (self.programs / "zbs-zone").chmod(0o700)
        self.assertIn("zbs-zone: the account 'nobody' cannot run it: Permission denied", self.refused("--user", "nobody"))
        self.assertFalse((self.folder / "state").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
