"""Tests of a compose file's containers: the images are made, the services of a project run, and all of it is removed at the end."""
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from docker_engine import DockerEngine, why_not

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEADLINE_S = 60


def until(ready, what, seconds=DEADLINE_S):
    """What `ready` finds, once that is something; fails with `what`, a text or what makes one."""
    end = time.monotonic() + seconds
    while not (found := ready()):
        if time.monotonic() > end:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(0.2)
    return found


class Composed(unittest.TestCase):
    project, file = None, None  # name of the project, compose file
    build = []  # words for docker/build
    bases = {}  # images besides those of docker/build: name -> Debian packages

    @classmethod
    def setUpClass(cls):
        cls.engine = DockerEngine(ROOT / "build/docker")
        cls.enterClassContext(cls.engine)
        subprocess.run([ROOT / "docker/build", *cls.build], env=cls.engine.environment, check=True)
        for name, packages in cls.bases.items():
            subprocess.run([ROOT / "docker/base_image", name, *packages], env=cls.engine.environment, check=True)
        plugin = cls.engine.run("compose", "version", check=False).returncode == 0
        cls.compose_command = ["docker", "compose"] if plugin else ["docker-compose"]
        cls.compose("down", "--volumes", "--timeout", "5")
        cls.addClassCleanup(cls.compose, "down", "--volumes", "--timeout", "5")

    @classmethod
    def compose(cls, *command, check=True, text=None):
        """Output of `docker compose COMMAND...`, which reads `text`."""
        source = {"input": text} if text is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run([*cls.compose_command, "--project-name", cls.project, "--file", cls.file, *command], env=cls.engine.environment, capture_output=True, text=True, timeout=300, **source)
        if check and done.returncode != 0:
            raise AssertionError((command, done.returncode, done.stdout[-2000:], done.stderr[-3000:]))
        return done.stdout if check else done

    def inside(self, service, *command, check=True):
        return self.compose("exec", "-T", service, *command, check=check)

    def container(self, service):
        return self.compose("ps", "-a", "-q", service).strip()

    def healthy(self, service):
        return self.engine.run("inspect", "--format", "{{.State.Health.Status}}", self.container(service)).strip() == "healthy"

    def logs(self):
        return self.compose("logs", "--tail", "30")


def run_tests():
    """Of the program that is run."""
    name = "/".join(pathlib.Path(sys.argv[0]).resolve().parts[-2:])
    if fault := why_not():
        sys.exit(f"{name}: {fault}")
    if not shutil.which("docker-compose") and subprocess.run(["docker", "compose", "version"], capture_output=True).returncode != 0:
        sys.exit(f"{name}: docker-compose is not installed (Debian: apt install docker-compose)")
    unittest.main(argv=sys.argv[:1], verbosity=2)
