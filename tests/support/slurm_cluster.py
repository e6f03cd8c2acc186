"""A Slurm of its own on this machine: munged, slurmctld and one slurmd per node name, in a folder of their own, on free loopback
ports, without any configuration of the system. Everything started here is ended here, by its process.

    with SlurmCluster(["n1", "n2"], 4, partitions={"all": "Nodes=ALL Default=YES"}) as cluster:
        cluster.client("squeue")

Needs root (slurmd becomes the user of each job) and the packages slurm-wlm and munge: `missing()` says what is not there. All
nodes are this machine: they share its processors and files, whatever they claim to have. With `cgroups`, jobs are tracked as on
real clusters where this machine has the freezer of cgroup v1 (`tracks_all` says whether); without, a process that leaves its
parents leaves its job too. Cgroups are called after nodes: names then have to be this test's own.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from ports import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "salloc", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
SKIPPED = 77  # exit code of a test that cannot run here
WAIT_S = 60   # for anything that is started, on a machine that has other things to do
KILL_WAIT_S = 2
FREEZER = "/sys/fs/cgroup/freezer"


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    """What keeps a Slurm from starting here; empty where nothing does."""
    absent = [program for program in PROGRAMS if find(program) is None]
    if absent:
        return "not found: " + ", ".join(absent) + " (packages slurm-wlm, munge)"
    return "" if os.getuid() == 0 else "not root: slurmd has to become the user of each job"


class SlurmCluster:
    """`partitions`: name -> the rest of its line in slurm.conf; `settings`: more lines of it, or others than ours."""

    def __init__(self, nodes, processors, partitions=None, settings=None, cgroups=False):
        self.tracks_all = cgroups and os.access(FREEZER + "/cgroup.procs", os.W_OK)
        self.folder = tempfile.mkdtemp(prefix="zbs-slurm-")
        os.chmod(self.folder, 0o755)
        self.nodes = list(nodes)
        self.started = {}
        self.environment = dict({k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SRUN_", "SBATCH_", "SALLOC_"))},
                                SLURM_CONF=self.folder + "/slurm.conf")
        try:
            self._configure(processors, partitions or {"all": "Nodes=ALL Default=YES"}, settings or {})
            self._start()
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _configure(self, processors, partitions, settings):
        f = self.folder
        with open(f + "/munge.key", "wb") as key:
            key.write(os.urandom(64))
        os.chmod(f + "/munge.key", 0o400)
        self.host = socket.gethostname()
        values = {"ClusterName": "zbs", "SlurmctldHost": f"{self.host}(127.0.0.1)", "SlurmctldPort": free_port(), "SlurmUser": "root", "SlurmdUser": "root",
                  "AuthType": "auth/munge", "AuthInfo": f"socket={f}/munge.socket", "StateSaveLocation": f"{f}/state", "SlurmdSpoolDir": f"{f}/%n",
                  "SlurmctldPidFile": f"{f}/slurmctld.pid", "SlurmdPidFile": f"{f}/%n.pid", "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none",
                  "SwitchType": "switch/none", "MpiDefault": "none", "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core",
                  "SlurmdParameters": "config_overrides", "ReturnToService": 2, "KillWait": KILL_WAIT_S, "SchedulerParameters": "bf_interval=2", **settings}
        if self.tracks_all:
            values["ProctrackType"] = "proctrack/cgroup"
            with open(f + "/cgroup.conf", "w") as conf:
                conf.write(f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={os.path.dirname(FREEZER)}\n")
        lines = [f"{name}={value}" for name, value in values.items()]
        lines += [f"NodeName={node} NodeHostname={self.host} NodeAddr=127.0.0.1 Port={free_port()} CPUs={processors} State=UNKNOWN" for node in self.nodes]
        lines += [f"PartitionName={name} State=UP {rest}" for name, rest in partitions.items()]
        with open(f + "/slurm.conf", "w") as conf:
            conf.write("\n".join(lines) + "\n")
        for folder in ("state", *self.nodes):
            os.mkdir(f"{f}/{folder}")

    def _start(self):
        self.start_munge()
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        self.until(lambda: sorted(self.states().values()) == ["idle"] * len(self.nodes), "not all nodes became idle")

    def start_munge(self):
        f = self.folder
        self._run("munged", "munged", "--foreground", "--force", "--socket", f + "/munge.socket", "--key-file", f + "/munge.key", "--pid-file",
                  f + "/munged.pid", "--log-file", f + "/munged.log", "--seed-file", f + "/munged.seed")
        self.until(lambda: os.path.exists(f + "/munge.socket"), "munged made no socket")

    def start_controller(self):
        self._run("slurmctld", "slurmctld", "-D", "-f", self.folder + "/slurm.conf")

    def start_node(self, node):
        self._run(node, "slurmd", "-D", "-N", node, "-f", self.folder + "/slurm.conf")

    def _run(self, name, program, *arguments):
        with open(f"{self.folder}/{name}.out", "a") as out:
            self.started[name] = subprocess.Popen([find(program), *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def end(self, name, how=signal.SIGTERM):
        """Ends the daemon called `name` ("munged", "slurmctld" or a node), and waits for its end."""
        process = self.started.pop(name)
        process.send_signal(signal.SIGCONT)
        process.send_signal(how)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def lose_node(self, node):
        """As if its power were cut: its daemon and all that jobs have there are gone without a word."""
        self.end(node, signal.SIGKILL)
        with open("/proc/net/unix") as table:  # helpers of slurmd listen in its folder
            sockets = {f"socket:[{line.split()[6]}]" for line in table if f"{self.folder}/{node}/" in line}
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    is_task = f"SLURMD_NODENAME={node}".encode() in file.read().split(b"\0")
                if is_task or any(os.readlink(f"/proc/{pid}/fd/{fd}") in sockets for fd in os.listdir(f"/proc/{pid}/fd")):
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def send(self, name, what):
        """A signal to a daemon, as SIGSTOP to one that is to answer late."""
        self.started[name].send_signal(what)

    def client(self, program, *arguments, check=True, timeout=WAIT_S):
        """What a command of Slurm prints."""
        done = subprocess.run([find(program), *arguments], env=self.environment, capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def states(self):
        """Node -> its state, in Slurm's short word."""
        return dict(line.split() for line in self.client("sinfo", "-h", "-N", "-o", "%N %t", check=False).splitlines())

    def until(self, condition, what):
        deadline = time.monotonic() + WAIT_S
        while not condition():
            ended = [name for name, process in self.started.items() if process.poll() is not None]
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
                               str(tasks), "--distribution=arbitrary", *command], env=self.environment, capture_output=True, text=True, timeout=WAIT_S)

    def processes(self):
        """Numbers of the processes that live on this cluster: daemons, their helpers, and what jobs started."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if mark in file.read().split(b"\0") and int(pid) != os.getpid():
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def stop(self):
        for process in reversed(self.started.values()):
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.started.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.started = {}
        for _ in range(100):  # supervisors of jobs outlive slurmd on purpose; killed, they leave their jobs to be found next
            left = self.processes()
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left:
                break
            time.sleep(0.05)
        if self.tracks_all:
            for node in self.nodes:
                for folder, _, _ in os.walk(f"{FREEZER}/slurm_{node}", topdown=False):
                    os.rmdir(folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    """slurm_cluster.py NODES PROCESSORS FILE: a cluster until SIGTERM or SIGINT; FILE then holds the path of its slurm.conf.
    slurm_cluster.py --missing: whether one can be started here; else says why not."""
    why = missing()
    if why or sys.argv[1:] == ["--missing"]:
        print(why)
        return SKIPPED if why else 0
    nodes, processors, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    for end in (signal.SIGTERM, signal.SIGINT):
        signal.signal(end, lambda *_: sys.exit(0))
    with SlurmCluster([f"n{i + 1}" for i in range(nodes)], processors) as cluster:
        with open(path + ".new", "w") as file:
            file.write(cluster.folder + "/slurm.conf\n")
        os.rename(path + ".new", path)
        while True:
            signal.pause()


if __name__ == "__main__":
    raise SystemExit(main())
