"""A disk that is full, or whose sync fails, under a zone that works: disk_test.py BIN [unittest names]

The state folder of zone a lies on a small tmpfs, made in a mount namespace of the test's own (root, or user namespaces; skipped where neither is). fsync
fails by `strace -e inject`, where strace is there and may trace.
"""
import http.client
import os
import shutil
import subprocess
import sys
import unittest

from fault_world import DEADLINE_S, FaultWorld, until

PROGRAMS = ""
SKIPPED = 77  # as CMakeLists.txt tells ctest
STORAGE_FAILED = 74


class OnTmpfs(FaultWorld):
    """Zone a's state is on a disk of its own. Services that end stay down until the test starts them."""

    def _begin(self):
        self.disk = self.folder / "a"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", self.disk], check=True, timeout=20)
        super()._begin()

    def __exit__(self, *fault):
        try:
            super().__exit__(*fault)
        finally:
            subprocess.run(["umount", "-l", self.disk], check=False, timeout=20)

    def fill(self):
        """Not a page is left."""
        with open(self.disk / "filler", "ab", buffering=0) as filler:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        filler.write(b"x" * size)
                except OSError:
                    pass

    def make_room(self):
        (self.disk / "filler").unlink()


class Disk(unittest.TestCase):
    def setUp(self):
        self.w = OnTmpfs(PROGRAMS, {"a": [2], "b": [2]}, watched=False).__enter__()
        self.addCleanup(self.w.__exit__, None)
        self.home = self.w.services["a"]

    def submit_until_home_is_down(self):
        """Acknowledged requests; the last one was not."""
        acknowledged, refused = [], []
        while self.home.process.poll() is None:
            request = self.w.request(1, "true")
            try:
                status, answer = self.w.ask("a", "POST", "/v1/applications", request)
            except (OSError, http.client.HTTPException):
                refused.append(request)
                continue
            if status == 202:
                acknowledged.append(request)
            else:
                self.assertGreaterEqual(status, 500, answer)
                refused.append(request)
        return acknowledged, refused

    def check_end(self):
        self.assertEqual(self.home.process.wait(DEADLINE_S), STORAGE_FAILED, self.home.text()[-2000:])
        self.assertIn("storage_failed", self.home.text())
        self.assertIn("check the disk of the state folder", self.home.text())

    def check_after(self, acknowledged, refused):
        self.home.start()
        until(lambda: self.w.answers("a"), DEADLINE_S, lambda: f"home does not start: {self.home.text()[-2000:]}")
        states = self.w.assert_whole(acknowledged)
        for identifier, state in states.items():
            if state != "completed":  # its zone ended between writing that it runs and running it: nobody knows whether it did, and the state reports that
                self.assertIn("stopped before it had started all of its part", self.w.state_of(identifier)["reason"])
        for request in refused:  # the same ids again
            self.w.submit(request)
        self.assertEqual(set(self.w.assert_whole(refused).values()) - {"completed"}, set())

    def test_full(self):
        before = [self.w.request(1, "true") for _ in range(3)]
        for request in before:
            self.w.submit(request)
        self.w.assert_whole(before)
        self.w.fill()
        acknowledged, refused = self.submit_until_home_is_down()
        self.check_end()
        self.home.start()  # with the disk still full: it may run or refuse, but not lie
        self.w.make_room()
        self.home.stop()
        self.check_after(before + acknowledged, refused)

    def test_sync_fails(self):
        if not shutil.which("strace") or subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, timeout=20).returncode != 0:
            self.skipTest("no strace here, or it may not trace (package strace)")
        self.home.stop()
        since = self.home.size()
        # Not the first syncs: they belong to the start.
        self.home.start(wrapper=["strace", "-f", "-b", "execve", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO:when=30+"])
        until(lambda: " listening on " in self.home.text(since), DEADLINE_S, lambda: self.home.text(since))
        acknowledged, refused = self.submit_until_home_is_down()
        self.check_end()
        self.check_after(acknowledged, refused)


def enter_namespace():
    if os.environ.get("ZBS_TEST_MOUNTS"):
        return
    for way in (["unshare", "-m"], ["unshare", "-rm"]):
        if subprocess.run([*way, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0:
            os.execvpe("unshare", [*way, sys.executable, "-B", *sys.argv], dict(os.environ, ZBS_TEST_MOUNTS="1"))
    print("skipped: no mount namespaces here ('unshare -m' fails; needs root or user namespaces)")
    sys.exit(SKIPPED)


if __name__ == "__main__":
    PROGRAMS = os.path.abspath(sys.argv[1])
    enter_namespace()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
