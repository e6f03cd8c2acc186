"""A Docker engine for a test: the one that answers already, else Debian's, started for the test and stopped by it.

As a program: docker_engine.py FOLDER COMMAND... runs COMMAND with DOCKER_HOST set; the engine's data are in FOLDER.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

READY_S = 60


def answers(environment):
    done = subprocess.run(["docker", "info"], env=environment, capture_output=True, timeout=READY_S)
    return done.returncode == 0 and b"Server Version" in done.stdout


def why_not():
    """Why no engine can be had here; empty where one can."""
    if not shutil.which("docker"):
        return "docker is not installed (Debian: apt install docker.io)"
    if answers(os.environ):
        return ""
    if os.geteuid() != 0:
        return "no Docker engine answers, and only root can start one"
    if not shutil.which("dockerd"):
        return "no Docker engine answers, and none is installed (Debian: apt install docker.io)"
    return ""


class DockerEngine:
    def __init__(self, folder):
        self.folder, self.process = pathlib.Path(folder), None
        self.environment = dict(os.environ)

    def __enter__(self):
        if answers(self.environment):
            return self
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder = self.folder.resolve()
        # A socket's path has at most 107 characters.
        self.environment["DOCKER_HOST"] = f"unix:///run/zbs-docker-{os.getpid()}.sock"
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["dockerd", "--data-root", self.folder / "data", "--exec-root", f"/run/zbs-docker-{os.getpid()}", "--pidfile", self.folder / f"{os.getpid()}.pid",
                 "--host", self.environment["DOCKER_HOST"]], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + READY_S
        while not answers(self.environment):
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise RuntimeError("the Docker engine does not start: " + (self.folder / "log").read_text()[-2000:])
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(READY_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process:
            shutil.rmtree(f"/run/zbs-docker-{os.getpid()}", ignore_errors=True)
            pathlib.Path(f"/run/zbs-docker-{os.getpid()}.sock").unlink(missing_ok=True)

    def run(self, *command, check=True, seconds=600, **options):
        """Output of `docker COMMAND...`."""
        done = subprocess.run(["docker", *map(str, command)], env=self.environment, capture_output=True, text=True, timeout=seconds, **options)
        if check and done.returncode != 0:
            raise AssertionError((command, done.returncode, done.stdout[-2000:], done.stderr[-4000:]))
        return done.stdout if check else done


if __name__ == "__main__":
    if fault := why_not():
        sys.exit("docker_engine: " + fault)
    with DockerEngine(sys.argv[1]) as engine:
        sys.exit(subprocess.run(sys.argv[2:], env=engine.environment).returncode)
