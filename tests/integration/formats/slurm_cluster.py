"""A Slurm of its own on this machine: munged, slurmctld and one slurmd per node name, in a folder of their own, on free loopback
ports, without any configuration of the system. Everything started here is ended here, by its process."""
import os
import shutil
import socket
import subprocess
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "salloc", "sinfo")


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    """What keeps a Slurm from starting here; empty where nothing does."""
    absent = [program for program in PROGRAMS if find(program) is None]
    if absent:
        return "not found: " + ", ".join(absent) + " (packages slurm-wlm, munge)"
    return "" if os.getuid() == 0 else "slurmd starts jobs as root only"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SlurmCluster:
    def __init__(self, nodes, processors):
        self.folder = tempfile.mkdtemp(prefix="zbs-slurm-")
        os.chmod(self.folder, 0o755)
        self.started = []
        try:
            self._start(nodes, processors)
        except BaseException:
            self.stop()
            raise

    def _start(self, nodes, processors):
        f = self.folder
        with open(f + "/munge.key", "wb") as key:
            key.write(os.urandom(64))
        os.chmod(f + "/munge.key", 0o400)
        host = socket.gethostname()
        lines = ["ClusterName=zbs", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={free_port()}", "SlurmUser=root", "SlurmdUser=root",
                 "AuthType=auth/munge", f"AuthInfo=socket={f}/munge.socket", f"StateSaveLocation={f}/state", f"SlurmdSpoolDir={f}/%n",
                 f"SlurmctldPidFile={f}/slurmctld.pid", f"SlurmdPidFile={f}/%n.pid", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
                 "SwitchType=switch/none", "MpiDefault=none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
                 "SlurmdParameters=config_overrides", "ReturnToService=2"]
        lines += [f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs={processors} State=UNKNOWN" for node in nodes]
        lines += ["PartitionName=all Nodes=ALL Default=YES State=UP"]
        with open(f + "/slurm.conf", "w") as conf:
            conf.write("\n".join(lines) + "\n")
        for folder in ("state", *nodes):
            os.mkdir(f"{f}/{folder}")
        self.environment = dict({k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SRUN_"))}, SLURM_CONF=f + "/slurm.conf")
        self._run("munged", "--foreground", "--force", "--socket", f + "/munge.socket", "--key-file", f + "/munge.key", "--pid-file",
                  f + "/munged.pid", "--log-file", f + "/munged.log", "--seed-file", f + "/munged.seed")
        self._until(lambda: os.path.exists(f + "/munge.socket"), "munged made no socket")
        self._run("slurmctld", "-D", "-f", f + "/slurm.conf")
        for node in nodes:
            self._run("slurmd", "-D", "-N", node, "-f", f + "/slurm.conf")
        self._until(lambda: self._states() == ["idle"] * len(nodes), "not all nodes became idle")

    def _run(self, program, *arguments):
        with open(f"{self.folder}/{len(self.started)}-{program}.out", "w") as out:
            self.started.append(subprocess.Popen([find(program), *arguments], env=self.environment, stdout=out, stderr=out))

    def _states(self):
        done = subprocess.run([find("sinfo"), "-h", "-N", "-o", "%t"], env=self.environment, capture_output=True, text=True, timeout=20)
        return done.stdout.split()

    def _until(self, condition, what):
        deadline = time.monotonic() + 40
        while not condition():
            ended = [process.args[0] for process in self.started if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"{what}; ended: {ended}; see the logs:\n" + self.logs())
            time.sleep(0.1)

    def logs(self):
        texts = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".out"):
                with open(f"{self.folder}/{name}", errors="replace") as log:
                    texts.append(f"== {name}\n{log.read()[-800:]}")
        return "\n".join(texts)

    def run(self, hosts_file, tasks, nodes, *command):
        """The command on `tasks` tasks placed by the file, inside an allocation of `nodes` whole nodes."""
        return subprocess.run([find("salloc"), "-Q", "-N", str(nodes), "--exclusive", "env", "SLURM_HOSTFILE=" + hosts_file, find("srun"), "-n",
                               str(tasks), "--distribution=arbitrary", *command], env=self.environment, capture_output=True, text=True, timeout=60)

    def stop(self):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
