"""The Debian packages in a clean system that systemd runs: installed, used by its services, killed, purged.

usage: package_test.py SOURCE_DIR PACKAGES   (PACKAGES: folder of the .deb files, as scripts/packages leaves it)

Needs a Docker engine or root, and Debian's mirror. Minutes, hence not among the tests of ctest.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, PACKAGES = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
sys.path.insert(1, str(SOURCE / "tests/integration/docs"))
import pages  # noqa: E402
from composed import until  # noqa: E402
from docker_engine import DockerEngine, why_not  # noqa: E402

IMAGE, NAME = "zbs-clean-systemd", "zbs-package-test"
BASE = ["systemd", "systemd-sysv", "dbus", "ca-certificates", "mpich", "procps", "man-db", "bash-completion"]
UNITS = {"zbs-zone": "zbs-server", "zbs-registry": "zbs-server", "zbs-node": "zbs-node"}
STARTER = "zbs-steps"  # comes and goes with zbs-node; steps are units of their own
EXPOSURE = 3.0  # of systemd-analyze security
RIGHTS = ("SYS_ADMIN", "SYS_NICE", "SYS_PTRACE", "IPC_LOCK")  # that units keep of what root of a machine has, and root of a container has not
FILES = "find / -xdev \\( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /packages -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \\) -prune -o -print | LC_ALL=C sort"


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine = DockerEngine(SOURCE / "build/docker")
        cls.enterClassContext(cls.engine)
        subprocess.run([SOURCE / "docker/base_image", IMAGE, *BASE], env=cls.engine.environment, check=True)
        groups = tempfile.mkdtemp(prefix="zbs-systemd-")  # systemd wants a hierarchy of control groups, if only its own
        cls.addClassCleanup(pathlib.Path(groups).rmdir)
        mounts = ["-v", "/sys/fs/cgroup:/sys/fs/cgroup:rw", "--cgroupns=host"]
        if not pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists():
            subprocess.run(["mount", "-t", "cgroup", "-o", "none,name=systemd", "cgroup", groups], check=True)
            cls.addClassCleanup(subprocess.run, ["umount", groups], check=True)
            mounts = ["-v", f"{groups}:/sys/fs/cgroup/systemd:rw"]
        cls.engine.run("rm", "-f", NAME, check=False)
        cls.addClassCleanup(cls.engine.run, "rm", "-f", NAME)
        cls.engine.run("run", "-d", "--name", NAME, *(word for right in RIGHTS for word in ("--cap-add", right)), "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--tmpfs", "/run",
                       "--tmpfs", "/run/lock", *mounts, "-v", f"{PACKAGES}:/packages:ro", "-e", "container=docker", IMAGE, "/sbin/init")
        until(lambda: cls.inside("systemctl is-system-running", check=False).stdout.strip() in ("running", "degraded"), "systemd does not start")

    @classmethod
    def inside(cls, script, check=True, given=None):
        return cls.engine.run("exec", "-i", NAME, "bash", "-c", script, check=check, input=given)

    def write(self, path, text):
        self.inside(f"cat > {path}", given=text)

    def as_ana(self, command, check=True):
        return self.inside(f"runuser -u ana -- sh -c 'cd && {command}'", check=check)

    def test_life_of_an_installation(self):
        self.inside("apt-get update -qq && apt-get install -y -qq --no-install-recommends libcpprest2.10 libhwloc15 libmetis5 libspdlog1.10-fmt9 libtomlplusplus3 libsqlite3-0 libpq5")
        before = set(self.inside(FILES).splitlines())
        accounts = self.inside("cat /etc/passwd /etc/group")
        self.inside("apt-get install -y -qq --no-install-recommends /packages/*.deb")
        self.installed()
        self.services()
        self.jobs()
        self.upgrade()
        job = self.as_ana("zbs submit -n 1 -- /bin/sleep 2000").split()[-1]
        until(lambda: f"{job} running" in self.as_ana("zbs list -o csv --columns id,state").replace(",", " "), lambda: self.as_ana("zbs list"))
        self.inside("apt-get purge -y -qq zbs-server zbs-node zbs-client libzbs-profile; userdel -r ana; userdel -r guest")  # while the services and a job run
        self.assertEqual(self.inside("pgrep -a zbs-; pgrep -f 'sleep 2000'", check=False).stdout, "", "running after purge")
        left = sorted(set(self.inside(FILES).splitlines()) - before)
        self.assertEqual([path for path in left if "zbs" in path], [], "left after purge")
        self.assertEqual(self.inside("cat /etc/passwd /etc/group"), accounts)

    def upgrade(self):
        """With the commands of the operator's guide: what ran runs again, as the new program, and jobs go on."""
        chapter = re.search(r"^## Upgrade\n(.*?)^## ", (SOURCE / "docs/operator.md").read_text(), re.MULTILINE | re.DOTALL).group(1)
        (command,) = [command for step in pages.steps(chapter) if isinstance(step, pages.Elsewhere) for command in step.commands]
        job = self.as_ana("zbs submit -n 2 -- /bin/sh -c \"while [ ! -e /tmp/upgraded ]; do sleep 0.1; done; echo done\"").split()[-1]
        until(lambda: f"{job} running" in self.as_ana("zbs list -o csv --columns id,state").replace(",", " "), lambda: self.as_ana("zbs list"))
        before = {unit: self.inside(f"systemctl show -P MainPID {unit}") for unit in (*UNITS, STARTER)}
        self.inside(command.replace("./build", "").replace("install", "install --reinstall --no-install-recommends"))  # there is one version only
        for unit, old in before.items():
            self.assertEqual(self.inside(f"systemctl is-active {unit}", check=False).stdout, "active\n", unit)
            self.assertNotEqual(self.inside(f"systemctl show -P MainPID {unit}"), old, unit)
        self.inside("touch /tmp/upgraded")
        until(lambda: self.as_ana(f"timeout 60 zbs wait {job}", check=False).returncode == 0, lambda: self.as_ana(f"zbs show {job}") + self.inside("journalctl --no-pager | grep -v runuser | tail -n 100"))
        self.assertEqual(self.as_ana(f"zbs logs {job}"), "done\ndone\n")

    def installed(self):
        self.assertEqual(self.inside("zbs --version"), "zbs 0.1.0\n")
        for page in ("zbs-run.1", "zbs-zone.8", "zbs-registry-token.8", "zbs-node.8", "zbs-step.8"):
            name, section = page.rsplit(".", 1)
            self.assertIn(name, self.inside(f"man -P cat {section} {name}"), page)
        offered = self.inside("source /usr/share/bash-completion/completions/zbs; COMP_WORDS=(zbs can) COMP_CWORD=1; _zbs; echo ${COMPREPLY[@]}")
        self.assertEqual(offered, "cancel\n")
        for unit in UNITS:
            self.assertEqual(self.inside(f"systemctl is-enabled {unit}", check=False).stdout, "disabled\n", "a service that nobody has set up must not start")
            self.assertLessEqual(self.exposure(unit), EXPOSURE, unit)
        self.assertEqual(self.inside(f"systemctl is-enabled {STARTER}", check=False).stdout, "static\n")
        self.assertLessEqual(self.exposure(STARTER), EXPOSURE)
        self.assertEqual(self.inside("systemd-analyze verify /lib/systemd/system/zbs-steps.slice 2>&1"), "")

    def exposure(self, unit):
        self.assertEqual(self.inside(f"systemd-analyze verify /lib/systemd/system/{unit}.service 2>&1"), "")
        exposure = float(re.search(r"level for \S+: ([\d.]+)", self.inside(f"systemd-analyze security --no-pager {unit}")).group(1))
        print(f"systemd-analyze security {unit}: {exposure}", flush=True)
        return exposure

    def services(self):
        """As the operator's guide says, by its own commands and files."""
        self.inside("useradd -m ana && useradd -m guest")
        chapter = re.search(r"^## As services of a machine\n(.*?)^## ", (SOURCE / "docs/operator.md").read_text(), re.MULTILINE | re.DOTALL).group(1)
        output, exports = "", []
        for step in pages.steps(chapter):
            if isinstance(step, pages.File):
                self.write(step.name, step.text)
                continue
            if "apt-get install" not in step.commands[0]:  # done before, to look at what was installed
                output = self.inside("\n".join(["set -e", *exports, *step.commands]))
                exports += [command for command in step.commands if command.startswith("export ")]
        for unit in UNITS:
            self.assertEqual(self.inside(f"systemctl is-active {unit}"), "active\n")
            self.assertEqual(self.inside(f"systemctl is-enabled {unit}"), "enabled\n")
        self.as_ana(re.search(r"zbs login --code \S+", output).group())

    def jobs(self):
        said = self.as_ana("timeout 60 zbs run -q -n 2 -- /bin/sh -c \"id -un; env\"")
        self.assertEqual(said.count("guest\n"), 2, said)
        self.assertNotIn("NOTIFY_SOCKET", said)
        self.what_a_job_may()
        self.steps_are_units()
        self.what_the_agent_does_itself()
        self.what_hangs()
        # A zone and an agent that are killed are started again by systemd and find their job, which goes on.
        job = self.as_ana("zbs submit -n 2 -- /bin/sh -c \"while [ ! -e /tmp/go ]; do sleep 0.1; done; echo done\"").split()[-1]
        until(lambda: f"{job} running" in self.as_ana("zbs list -o csv --columns id,state").replace(",", " "), lambda: self.as_ana("zbs list"))
        for unit in ("zbs-zone", "zbs-node", STARTER):
            old = self.inside(f"systemctl show -P MainPID {unit}")
            self.inside(f"kill -9 {old}")
            until(lambda: self.inside(f"systemctl show -P MainPID {unit}") not in (old, "0\n") and self.inside(f"systemctl is-active {unit}", check=False).stdout == "active\n",
                  lambda: self.inside("journalctl --no-pager -n 40"))
        self.inside("mkdir -p /etc/zbs/zone.d; echo 'contact = 3' > /etc/zbs/zone.d/10.toml")
        self.assertNotEqual(self.inside("systemctl reload zbs-zone", check=False).returncode, 0)
        self.assertIn("/etc/zbs/zone.d/10.toml:1: 'contact' must be a text in quotes", self.inside("journalctl --no-pager -u zbs-zone -n 20"))
        self.inside("rm -r /etc/zbs/zone.d; systemctl reload zbs-zone zbs-registry zbs-node; touch /tmp/go")
        self.as_ana(f"timeout 60 zbs wait {job}")
        self.assertEqual(self.as_ana(f"zbs logs {job}"), "done\ndone\n")
        self.assertIn("guest", self.as_ana("timeout 60 zbs run -q -n 1 -- /usr/bin/id -un"))
        for unit in (*UNITS, STARTER):
            self.assertEqual(self.inside(f"systemctl is-active {unit}"), "active\n")

    def units_of_steps(self):
        return self.inside("systemctl list-units --all --plain --no-legend 'zbs-step-*' | cut -d' ' -f1").split()

    def steps_are_units(self):
        """Begun by systemd, in their slice, not open to their starter's bounds; gone with their step, also with a killed supervisor, and stopped as any unit."""
        begin = lambda: self.as_ana("zbs submit -n 1 -- /bin/sh -c \"trap true TERM; sleep 1000 & wait; wait\"").split()[-1]  # noqa: E731
        state = lambda job: self.as_ana("zbs list -o csv --columns id,state").partition(job + ",")[2].partition("\n")[0]  # noqa: E731
        for how in ("kill -9 {pid}", "systemctl stop {unit}"):
            job = begin()
            until(lambda: state(job) == "running" and len(self.units_of_steps()) == 1, lambda: (self.units_of_steps(), self.as_ana("zbs list"), self.inside("journalctl --no-pager -n 60")))
            (unit,) = self.units_of_steps()
            properties = dict(line.split("=", 1) for line in self.inside(f"systemctl show {unit}").splitlines() if "=" in line)
            self.assertEqual((properties["Slice"], properties["ActiveState"], properties["NoNewPrivileges"], properties["ProtectHome"]), ("zbs-steps.slice", "active", "yes", "no"), unit)
            self.assertIn("zbs-step --operation", self.inside(f"tr '\\0' ' ' < /proc/{properties['MainPID']}/cmdline"))
            self.assertEqual(self.inside(f"cut -d' ' -f4 /proc/{properties['MainPID']}/stat"), "1\n")
            self.assertEqual(self.inside("cat /proc/$(systemctl show -P MainPID zbs-steps)/task/*/children"), "", "no job is a child of the starter")
            self.inside(how.format(pid=properties["MainPID"], unit=unit))
            until(lambda: state(job) not in ("running", ""), lambda: self.as_ana("zbs list"))
            until(lambda: self.units_of_steps() == [], self.units_of_steps)
            self.assertEqual(self.inside("pgrep -f 'sleep 1000'", check=False).stdout, "", how)
        self.inside("mkdir -p /etc/systemd/system/zbs-step-.service.d && printf '[Service]\\nLimitNPROC=4321\\n' > /etc/systemd/system/zbs-step-.service.d/site.conf && systemctl daemon-reload")
        self.assertEqual(self.as_ana("timeout 60 zbs run -q -n 1 -- /bin/bash -c \"ulimit -u\""), "4321\n", "a site's own settings for steps")
        self.inside("rm -r /etc/systemd/system/zbs-step-.service.d && systemctl daemon-reload")

    def what_hangs(self):
        """A service that hangs is started again by its watchdog, one that works is not."""
        for unit in UNITS:
            self.inside(f"mkdir -p /run/systemd/system/{unit}.service.d")
            self.write(f"/run/systemd/system/{unit}.service.d/test.conf", "[Service]\nWatchdogSec=4\nTimeoutAbortSec=1\n")
        self.inside("systemctl daemon-reload; systemctl restart " + " ".join(UNITS))
        for unit in UNITS:
            old = self.inside(f"systemctl show -P MainPID {unit}")
            self.inside(f"kill -STOP {old}")
            until(lambda: self.inside(f"systemctl show -P MainPID {unit}") not in (old, "0\n") and self.inside(f"systemctl is-active {unit}", check=False).stdout == "active\n",
                  lambda: self.inside("journalctl --no-pager -n 40"))
        self.assertEqual(self.inside("systemctl show -P NRestarts " + " ".join(UNITS)).split(), ["1"] * len(UNITS))
        self.inside("rm -r /run/systemd/system/zbs-*.service.d; systemctl daemon-reload; systemctl restart " + " ".join(UNITS))
        until(lambda: "given" in self.as_ana("timeout 60 zbs run -q -n 1 -- /bin/echo given", check=False).stdout, lambda: self.inside("journalctl --no-pager -n 60"))

    def what_the_agent_does_itself(self):
        """What its unit must not forbid: giving files to accounts, fetching theirs, suspending, slices, nice levels."""
        self.as_ana("mkdir got && echo given > in.txt")
        self.as_ana("timeout 60 zbs run -q -n 1 --stage-in in.txt --stage-out \"out*\" --results got -- /bin/sh -c \"id -un > out.txt; cat in.txt >> out.txt\"")
        self.assertEqual(self.as_ana("cat got/out.txt"), "guest\ngiven\n")
        zone = self.inside("cat /etc/zbs/zone.toml")
        self.write("/home/guest/count", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo $i\n")
        self.inside("chmod 0644 /home/guest/count")
        for queue in ("gang:slices=2", "elmer:threshold=1", "scojo"):
            self.write("/etc/zbs/zone.toml", f"queue = \"{queue}\"\n{zone}\n[time_sharing]\nslice_s = 0.1\n")
            self.inside("systemctl restart zbs-zone")
            until(lambda: "given" in self.as_ana("timeout 60 zbs run -q -n 2 -- /bin/echo given", check=False).stdout, lambda: self.inside("journalctl --no-pager -n 60"))
            jobs = [self.as_ana("zbs submit -n 2 -- /bin/sh /home/guest/count").split()[-1] for _ in range(2)]
            for job in jobs:
                self.as_ana(f"timeout 60 zbs wait {job}")
                self.assertEqual(self.as_ana(f"zbs logs {job}"), "300000\n" * 2, queue)
        self.write("/etc/zbs/zone.toml", zone)
        self.inside("systemctl restart zbs-zone")
        said = self.inside("journalctl --no-pager -u zbs-node -u zbs-steps")
        said = said.replace("Failed to configure loopback network device, ignoring: Operation not permitted", "")  # PrivateNetwork= in a container, which has no CAP_NET_ADMIN
        self.assertNotRegex(said, "(?i)not permitted|read-only file system|permission denied")

    def what_a_job_may(self):
        """What its agent may not: jobs are started by another unit."""
        able = lambda command, who: f"{command} && echo {who} may || echo {who} may not"
        private = "unshare --user --map-root-user true"
        may = [able(command, who) for who, command in (("write-home", "touch /home/guest/of-a-job"), ("write-tmp", "touch /tmp/of-a-job"), ("own-group-bit", "mkdir -p /home/guest/d && chmod 2755 /home/guest/d"),
                                                       ("namespace", private), ("write-root", "touch /root/x"), ("write-etc", "touch /etc/x"), ("see-starter", "ls /run/zbs-steps"), ("see-state", "ls /var/lib/zbs-node/files"))]
        self.write("/home/guest/try", "exec 2>/dev/null\n" + "\n".join(may) + "\ngrep -E \"NoNewPrivs|CapEff\" /proc/self/status\n")
        self.inside("chmod 0755 /home/guest && chmod 0644 /home/guest/try")
        said = self.as_ana("timeout 60 zbs run -q -n 1 -- /bin/sh /home/guest/try")
        for line in ("write-home may", "write-tmp may", "own-group-bit may", "write-root may not", "write-etc may not", "see-starter may not", "see-state may not"):
            self.assertIn(line + "\n", said)
        self.write("/home/guest/old.pl", "print syscall(139, 3) < 0 ? $! : 'taken';\n")  # sysfs(3), on amd64: of @obsolete
        self.inside("chmod 0644 /home/guest/old.pl")
        self.assertEqual(self.as_ana("timeout 60 zbs run -q -n 1 -- /usr/bin/perl /home/guest/old.pl"), "Operation not permitted", "what is forbidden is refused; it kills nobody")
        outside = self.inside(f"runuser -u guest -- sh -c '{able(private, 'namespace')}' 2>/dev/null")
        self.assertIn(outside, said, "namespaces of a job's own")
        self.assertEqual(self.inside("stat -c %U /tmp/of-a-job /home/guest/of-a-job"), "guest\nguest\n", "not in a /tmp of the agent's own")
        self.inside("rm /tmp/of-a-job")


if __name__ == "__main__":
    if fault := why_not():
        sys.exit("package_test: " + fault)
    unittest.main(argv=sys.argv[:1], verbosity=2)
