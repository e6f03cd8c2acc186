"""`zbs-zone doctor` against zones with one thing wrong each: it names the thing and the remedy, and changes nothing.

usage: zone_doctor_test.py BIN
"""
import ctypes
import json
import os
import pathlib
import pwd
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from ports import free_port  # noqa: E402
from programs import open_to_all  # noqa: E402

PROGRAMS = open_to_all(sys.argv[1])
DEADLINE_S = 60


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-doctor-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.state, self.config = self.folder / "state", self.folder / "zone.toml"
        self.port = free_port()
        self.write()
        self.zone("init")

    def write(self, more="", machines='[[machine]]\nname = "node-1"\nprocessors = 1\n'):
        self.config.write_text(f'name = "zone-a"\norganisation = "org-a"\ncontact = "operator@org-a.example"\nstate = "{self.state}"\nlisten = "127.0.0.1:{self.port}"\n'
                               f'allow_private_addresses = true\nrun_as = "self"\n{machines}{more}')

    def zone(self, *command, check=True):
        done = subprocess.run([PROGRAMS / "zbs-zone", *command, "--config", self.config], capture_output=True, text=True, timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
        self.assertTrue(not check or done.returncode == 0, done.stdout + done.stderr)
        return done

    def files(self):
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in self.folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))}

    def checks(self, exit_code):
        before = self.files()
        done = self.zone("doctor", "--json", check=False)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        self.assertEqual(self.files(), before, "it changed something")
        document = json.loads(done.stdout)
        self.assertEqual(document["version"], 1)
        self.assertEqual(document["verdict"] == "fail", exit_code == 1)
        for one in document["checks"]:
            self.assertTrue(one["remedy"] or one["verdict"] == "ok", one)
        return {one["check"]: one for one in document["checks"]}

    def start(self):
        process = subprocess.Popen([PROGRAMS / "zbs-zone", "run", "--config", self.config], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(lambda: (process.terminate(), process.wait(DEADLINE_S)))
        self.assertIn("listening", process.stdout.readline())
        return process

    def test_zone_that_could_start(self):
        checks = self.checks(0)
        self.assertEqual((checks["port"]["verdict"], checks["service"]["verdict"]), ("ok", "warn"))
        self.assertIn("spiffe://org-a/zone/zone-a, ends in", checks["zone's certificate"]["found"])
        said = self.zone("doctor").stdout
        self.assertIn("-> start it:", said)

    def test_zone_that_runs(self):
        self.start()
        self.assertIn("organisation 'nope' is not known here; 'zbs-zone peer list' shows who is", self.zone("peer", "show", "nope", check=False).stderr)
        checks = self.checks(0)
        self.assertEqual(checks["service"]["verdict"], "ok")
        self.assertEqual(checks["database"]["verdict"], "ok")
        self.assertNotIn("port", checks, "its own port is not taken by a stranger")

    def test_a_zone_that_drains_runs_and_is_not_ready(self):
        self.start()
        self.zone("drain")
        checks = self.checks(0)
        self.assertEqual(checks["service"]["verdict"], "warn")
        self.assertIn("runs, and is not ready: this zone drains", checks["service"]["found"])
        self.assertIn("'zbs-zone undrain'", checks["service"]["remedy"])
        self.assertNotIn("port", checks)
        self.assertIn("drains", self.zone("ready", check=False).stderr)
        self.zone("undrain")
        self.assertEqual(self.checks(0)["service"]["verdict"], "ok")

    def test_keys_of_another_zone(self):
        """As of a copied folder whose configuration has another name."""
        self.config.write_text(self.config.read_text().replace('"zone-a"', '"zone-b"'))
        wrong = "the certificate is of spiffe://org-a/zone/zone-a, the configuration of spiffe://org-a/zone/zone-b"
        self.assertIn(wrong, self.checks(1)["zone's certificate"]["found"])
        done = self.configuration("check")
        self.assertEqual(done.returncode, 1)
        self.assertIn(wrong, done.stderr)

    def test_many_new_operators_at_once(self):
        runs = [subprocess.Popen([PROGRAMS / "zbs-zone", "operator", "--config", self.config], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(6)]
        ends = [run.communicate(timeout=DEADLINE_S)[0] for run in runs]
        self.assertEqual([run.returncode for run in runs], [0] * 6, ends)
        self.assertEqual(self.checks(0)["operator's certificate"]["verdict"], "ok")

    def test_port_taken(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", self.port))
            other.listen()
            port = self.checks(1)["port"]
            self.assertIn("in use", port["found"])
            self.assertIn(str(self.port), port["found"])
            done = subprocess.run([PROGRAMS / "zbs-zone", "run", "--config", self.config], capture_output=True, text=True, timeout=DEADLINE_S)
            self.assertEqual(done.returncode, 5)
            self.assertIn(f"{self.config}:5: cannot bind 127.0.0.1:{self.port}: Address already in use; 'ss -ltnp' names the program that listens there: end it, or set another port with 'listen'", done.stderr)
            self.assertIn(f"{self.config}:5", port["found"])
            self.assertIn("'ss -ltnp'", port["remedy"])

    def test_port_taken_from_a_registry_and_an_agent(self):
        registry = self.folder / "registry"
        run = lambda *words: subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S)  # noqa: E731
        self.assertEqual(run(PROGRAMS / "zbs-registry", "init", "--state", registry, "--organisation", "grid").returncode, 0)
        self.zone("node", "add", "node-1", "--out", self.folder / "identity")
        node = self.folder / "node.toml"
        node.write_text(f'name = "node-1"\nzone = "https://127.0.0.1:1"\nzone_name = "zone-a"\nstate = "{self.folder}/node"\nidentity = "{self.folder}/identity"\n'
                        f'run_as = "self"\nlisten = "127.0.0.1:{self.port}"\n')
        with socket.socket() as other:
            other.bind(("127.0.0.1", self.port))
            other.listen()
            taken = f"cannot bind 127.0.0.1:{self.port}: Address already in use; 'ss -ltnp' names the program that listens there: end it, or set another port with "
            done = run(PROGRAMS / "zbs-registry", "run", "--state", registry, "--listen-port", str(self.port))
            self.assertEqual(done.returncode, 5)
            self.assertIn(taken + "'--listen-port' of 'zbs-registry run' (as a service: ZBS_REGISTRY_OPTIONS in /etc/default/zbs-registry)", done.stderr)
            done = run(PROGRAMS / "zbs-registry", "run", "--state", registry, "--listen-address", "192.0.2.1", "--listen-port", str(self.port))  # for documentation: nobody's
            self.assertIn("set '--listen-address' of 'zbs-registry run'", done.stderr)
            done = run(PROGRAMS / "zbs-node", "run", "--config", node)
            self.assertEqual(done.returncode, 5)
            self.assertIn(f"zbs-node: {node}:7: {taken}'listen'", done.stderr)

    def test_an_enrolment_that_fails(self):
        registry, port = self.folder / "registry", free_port()

        def ask(*command):
            return subprocess.run([PROGRAMS / "zbs-registry", *command, "--state", registry], capture_output=True, text=True, timeout=DEADLINE_S, check=True).stdout

        ask("init", "--organisation", "grid")
        service = subprocess.Popen([PROGRAMS / "zbs-registry", "run", "--state", registry, "--listen-port", str(port), "--allow-private-addresses"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.wait, DEADLINE_S)
        self.addCleanup(service.terminate)
        service.stdout.readline()  # it listens
        self.zone("enrol", ask("token", "--for", "org-a").split()[0])
        service.terminate()
        service.wait(DEADLINE_S)
        self.start()
        found = {"verdict": "warn"}  # until the first attempt has failed
        deadline = time.monotonic() + DEADLINE_S
        while found["verdict"] == "warn":
            self.assertLess(time.monotonic(), deadline, found)
            checks = {one["check"]: one for one in json.loads(self.zone("doctor", "--json", check=False).stdout)["checks"]}
            found = checks["registry"]
        self.assertEqual(found["verdict"], "fail")
        self.assertRegex(found["found"], f"^not enrolled at https://127.0.0.1:{port}: .*cannot connect to 127.0.0.1:{port}: connection refused")
        self.assertNotIn("code", found["remedy"])

    def test_an_address_of_another_host(self):
        self.config.write_text(self.config.read_text().replace("127.0.0.1", "192.0.2.1"))  # for documentation: nobody's
        port = self.checks(1)["port"]
        self.assertIn("Cannot assign requested address", port["found"])
        self.assertIn("an address of this host", port["remedy"])

    def test_what_the_start_refuses_fails(self):
        good = self.config.read_text()
        for listen in (f"0.0.0.0:{self.port}", f"[::]:{self.port}"):
            self.config.write_text(good.replace(f"127.0.0.1:{self.port}", listen))
            refused = self.zone("run", check=False).stderr
            settings = self.checks(1)["settings"]
            self.assertIn("set 'advertise'", settings["found"])
            self.assertEqual(f"zbs-zone: {settings['found']}\n", refused)
            self.assertIn("correct that setting", settings["remedy"])

    def test_a_zone_without_keys_says_what_it_is(self):
        process = subprocess.Popen([PROGRAMS / "zbs-zone", "run", "--config", self.plain()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            self.assertIn("listening", process.stdout.readline())
        finally:
            process.terminate()
            said = process.communicate(timeout=DEADLINE_S)[1]
        self.assertIn("plain HTTP on loopback", said)
        self.assertIn("no_certificate", said)

    def plain(self):
        path = self.folder / "plain.toml"
        path.write_text(f'name = "zone-p"\norganisation = "org-p"\nstate = "{self.folder}/plain"\nlisten = "127.0.0.1:0"\nrun_as = "self"\n[[machine]]\nname = "node-1"\nprocessors = 1\n')
        return path

    def test_settings_with_a_misspelt_key(self):
        self.write("[timing]\nleaze_s = 40\n")
        self.assertIn("did you mean 'timing.lease_s'?", self.checks(1)["settings"]["found"])
        self.assertIn("zone.toml:12", self.checks(1)["settings"]["found"])

    def configuration(self, *words):
        return self.zone("config", *words, check=False)

    def test_config_check_names_the_fault_where_it_stands(self):
        good = self.zone("config", "check")
        self.assertRegex(good.stdout, rf"^good: \d+ settings, of {self.config}\n$")
        part = self.folder / "zone.d/10.toml"
        part.parent.mkdir()
        files = [str(self.config), str(part), str(self.folder / "zone.d/20.toml")]
        for path in files[1:]:
            pathlib.Path(path).write_text("contact = 'ana'\n")
        self.assertRegex(self.zone("config", "check").stdout, rf"^good: \d+ settings, of {', '.join(files)}\n$", "also the one in which nothing counts")
        self.assertEqual(json.loads(self.zone("config", "check", "--json").stdout)["files"], files)
        pathlib.Path(files[2]).unlink()
        for text, line, message in (("\nqueue = 'easy\n", 2, "is a quote missing"), ("[timing]\ncontact = 'ana'\n", 2, "put it above the first table"), ("leaze_s = 3\n", 1, "is not a setting"),
                                 ("listen = '0.0.0.0:7001'\n", 1, "set 'advertise'"), ("[mpi]\ninterface = '203.0.113.0/24'\n", 2, "interface"),
                                 ("listen = 'localhost:7001'\n", 1, "'localhost' is not an IP address"), ("listen = ':7001'\n", 1, "the host is missing"),
                                 ("listen = '192.0.2.1:7001'\n", 1, "cannot bind 192.0.2.1:7001: Cannot assign requested address; set 'listen' to an address of this host"),
                                 ("step_supervisor = '/nope'\n", 1, "/nope cannot be run: No such file or directory; install it"), ("step_supervisor = '/tmp'\n", 1, "/tmp cannot be run: Is a directory"),
                                 ("[database]\nurl = 'postgresql://zbs:hunter2@db/zbs'\n", 2, "?passfile=FILE")):
            with self.subTest(message):
                part.write_text(text)
                done = self.configuration("check")
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                self.assertIn(f"zbs-zone: {part}:{line}: ", done.stderr)
                self.assertIn(message, done.stderr)
                self.assertIn(message, json.loads(self.configuration("check", "--json").stdout)["detail"])
                started = subprocess.run([PROGRAMS / "zbs-zone", "run", "--config", self.config], capture_output=True, text=True, timeout=DEADLINE_S)
                self.assertEqual(started.stderr, done.stderr, "the service says the same")
                self.assertIn(started.returncode, (2, 3, 5))
                self.assertNotIn("hunter2", done.stderr)
        self.assertEqual(self.configuration("show").returncode, 0)
        part.write_text("listen = 'localhost:7001'\n")
        self.assertIn("'localhost' is not an IP address", self.checks(1)["settings"]["found"])
        part.write_text("leaze_s = 3\n")
        self.assertEqual(self.configuration("show").returncode, 2)

    def without_the_right(self, *command):
        """As a service without CAP_NET_BIND_SERVICE, also where root runs the tests."""
        pr_capbset_drop, cap_net_bind_service = 24, 10
        return subprocess.run([PROGRAMS / command[0], *command[1:]], capture_output=True, text=True, timeout=DEADLINE_S, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: ctypes.CDLL(None).prctl(pr_capbset_drop, cap_net_bind_service, 0, 0, 0))

    @unittest.skipIf(int(pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) < 2, "all ports are for all here")
    def test_config_check_sees_a_port_that_is_not_for_all(self):
        port = int(pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) - 1
        self.config.write_text(self.config.read_text().replace(f":{self.port}", f":{port}"))
        checked, started = (self.without_the_right("zbs-zone", *words, "--config", self.config) for words in (("config", "check"), ("run",)))
        self.assertNotEqual(checked.returncode, 0)
        self.assertIn(f"zbs-zone: {self.config}:5: port {port} is below {port + 1}, and this account may not listen there; set 'listen' to a port from {port + 1} on, or give the service the right", checked.stderr)
        self.assertEqual((checked.returncode, started.returncode, started.stderr), (1, 4, checked.stderr), "the service says the same")
        self.zone("node", "add", "node-1", "--out", self.folder / "identity", check=False)
        node = self.node_file(f'listen = "127.0.0.1:{port}"')
        self.assertIn(f"zbs-node: {node}:7: port {port} is below", self.without_the_right("zbs-node", "config", "check", "--config", node).stderr)
        if os.geteuid() == 0:
            allowed = self.zone("config", "check", "--json")
            self.assertEqual(allowed.returncode, 0, allowed.stderr)
            self.assertIn("a unit of systemd only with 'AmbientCapabilities=CAP_NET_BIND_SERVICE'", json.loads(allowed.stdout)["notes"][0])

    def test_config_check_sees_keys_that_are_missing_or_cannot_be_read(self):
        node = self.node_file('listen = "127.0.0.1:0"', add=True)
        for program, config, identity, line in (("zbs-zone", self.config, self.state / "identity", 4), ("zbs-node", node, self.folder / "identity", 5)):
            whole = self.folder / "whole"
            shutil.copytree(identity, whole)
            for spoil, message, code in ((lambda: (identity / "key.pem").unlink(), "key.pem is missing; restore it", 3), (lambda: (identity / "key.pem").chmod(0o644), "run 'chmod 600", 4),
                                      (lambda: (identity / "certificate.pem").write_text("none"), "certificate.pem", 2)):
                with self.subTest(program=program, message=message):
                    spoil()
                    checked, started = (subprocess.run([PROGRAMS / program, *words, "--config", config], capture_output=True, text=True, timeout=DEADLINE_S) for words in (("config", "check"), ("run",)))
                    self.assertNotEqual(checked.returncode, 0)
                    self.assertIn(f"{program}: {config}:{line}: the ", checked.stderr)
                    self.assertIn(message, checked.stderr)
                    self.assertEqual((checked.returncode, started.returncode, started.stderr), (1, code, checked.stderr), "the service says the same")
                    shutil.rmtree(identity)
                    shutil.copytree(whole, identity)
            shutil.rmtree(whole)
            self.assertEqual(subprocess.run([PROGRAMS / program, "config", "check", "--config", config], capture_output=True, timeout=DEADLINE_S).returncode, 0)
        shutil.rmtree(self.folder / "identity")
        self.assertIn(f"{node}:5: an agent needs keys, and there are none", subprocess.run([PROGRAMS / "zbs-node", "config", "check", "--config", node], capture_output=True, text=True, timeout=DEADLINE_S).stderr)
        shutil.rmtree(self.state)
        self.assertEqual(self.zone("config", "check").returncode, 0, "on loopback it needs none")
        self.config.write_text(self.config.read_text().replace("127.0.0.1", "0.0.0.0") .replace("allow_private", 'advertise = "zone.example"\nallow_private'))
        done = self.configuration("check")
        self.assertIn(f"zbs-zone: {self.config}:5: beyond loopback a zone needs keys, and there are none in {self.state}/identity; make them with 'zbs-zone init --config {self.config}'", done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "only root can look as another account")
    def test_config_check_by_root_looks_as_the_account_of_the_state_folder(self):
        self.folder.chmod(0o755)
        for path in (self.state, *self.state.rglob("*")):
            os.chown(path, 65534, 65534)
        owner = pwd.getpwuid(65534).pw_name
        good = self.zone("config", "check", "--json")
        self.assertEqual(json.loads(good.stdout)["notes"], [f"checked as '{owner}', whose the state folder {self.state} is, not as root"])
        self.assertIn(f"note: checked as '{owner}'", good.stderr)
        pr_capbset_drop, cap_setuid = 24, 7
        kept = subprocess.run([PROGRAMS / "zbs-zone", "config", "check", "--json", "--config", self.config], capture_output=True, text=True, timeout=DEADLINE_S,
                              preexec_fn=lambda: ctypes.CDLL(None).prctl(pr_capbset_drop, cap_setuid, 0, 0, 0))  # as in a container with few rights
        self.assertIn(f"note: checked as root, not as '{owner}', whose the state folder {self.state} is: cannot go on as '{owner}': Operation not permitted", kept.stderr)
        os.chown(self.state / "identity/certificate.pem", 0, 0)
        done = self.configuration("check")
        self.assertIn(f"{self.config}:4: the zone's keys: {self.state}/identity/certificate.pem cannot be read by '{owner}', who runs this: Permission denied; as root, 'chown {owner} ", done.stderr)
        self.config.chmod(0o600)
        self.assertIn(f"zbs-zone: {self.config}", self.configuration("check").stderr)
        self.assertIn("Permission denied", self.configuration("check").stderr)

    @unittest.skipIf(os.geteuid() != 0, "only root can look as another account")
    def test_root_looks_as_the_account_of_the_state_folder(self):
        self.folder.chmod(0o755)
        for path in (self.state, *self.state.rglob("*")):
            os.chown(path, 65534, 65534)
        owner = pwd.getpwuid(65534).pw_name
        as_owner = f"checked as '{owner}', whose the state folder {self.state} is, not as root"
        service = subprocess.Popen([PROGRAMS / "zbs-zone", "run", "--config", self.config], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, user=65534, group=65534, extra_groups=[])
        try:
            self.assertIn("listening", service.stdout.readline())
            checks = self.checks(0)
        finally:
            service.terminate()
            service.communicate(timeout=DEADLINE_S)
        self.assertEqual((checks["account"]["verdict"], checks["account"]["found"]), ("ok", as_owner))
        self.assertEqual({checks[name]["verdict"] for name in ("state folder", "zone's certificate", "operator's certificate", "service", "database")}, {"ok"})
        self.assertNotIn("port", checks)
        (self.state / "identity/key.pem").chmod(0o400)
        os.chown(self.state / "identity/key.pem", 1, 1)  # there, and whole
        kept = self.checks(1)["zone's certificate"]
        self.assertIn("Permission denied", kept["found"])
        self.assertNotIn("backup", kept["remedy"])
        (self.state / "identity/key.pem").unlink()
        self.assertIn("put back what a backup of", self.checks(1)["zone's certificate"]["remedy"])

    @unittest.skipIf(os.geteuid() != 0, "the files have to be another account's")
    def test_an_account_that_may_not_look_is_told_so_and_given_no_other_remedy(self):
        self.folder.chmod(0o755)
        self.start()
        done = subprocess.run([PROGRAMS / "zbs-zone", "doctor", "--json", "--config", self.config], capture_output=True, text=True, timeout=DEADLINE_S, user=65534, group=65534, extra_groups=[])
        checks = {one["check"]: one for one in json.loads(done.stdout)["checks"]}
        self.assertEqual(done.returncode, 1, done.stderr)
        for name in ("account", "settings", "state folder", "keys", "database"):
            self.assertIn("run this as the user that the zone runs as", checks[name]["remedy"], name)
        self.assertIn("first what 'keys' says", checks["service"]["remedy"])
        self.assertNotIn("port", checks)

    @unittest.skipIf(int(pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) < 2 or os.geteuid() != 0, "all ports are for all here, or none")
    def test_a_port_that_root_may_take_and_the_zone_may_not(self):
        port = int(pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) - 1
        self.config.write_text(self.config.read_text().replace(f":{self.port}", f":{port}"))
        self.assertNotIn("Permission", self.checks(0)["port"]["found"])
        self.folder.chmod(0o755)
        for path in (self.state, *self.state.rglob("*")):
            os.chown(path, 65534, 65534)
        self.assertIn(f"127.0.0.1:{port}: Permission denied", self.checks(1)["port"]["found"])

    def test_state_that_is_no_folder(self):
        shutil.rmtree(self.state)
        self.state.write_text("")
        self.assertIn("is no folder", self.checks(1)["state folder"]["found"])

    def node_file(self, listen, add=False):
        if add:
            self.zone("node", "add", "node-1", "--out", self.folder / "identity")
        node = self.folder / "node.toml"
        node.write_text(f'name = "node-1"\nzone = "https://127.0.0.1:1"\nzone_name = "zone-a"\nstate = "{self.folder}/node"\nidentity = "{self.folder}/identity"\nrun_as = "self"\n{listen}\n')
        return node

    def refused_alike(self, program, config, place, message):
        """What the check refuses the start refuses, with the same words; neither makes anything."""
        before = sorted(self.folder.rglob("*"))
        checked, started = (subprocess.run([PROGRAMS / program, *words, "--config", config], capture_output=True, text=True, timeout=DEADLINE_S) for words in (("config", "check"), ("run",)))
        self.assertEqual((checked.returncode, checked.stdout), (1, ""), checked.stderr)
        self.assertIn(f"{program}: {place}: ", checked.stderr)
        self.assertIn(message, checked.stderr)
        self.assertEqual(started.stderr, checked.stderr, "the service says the same")
        self.assertNotIn(started.returncode, (0, 1))
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def both_refuse_of_steps_and_folders(self):
        (self.folder / "file").write_text("")
        (self.folder / "link").symlink_to("nowhere")
        return ((f'hidden_paths = ["rel"]', "'hidden_paths': folder 'rel' is to be kept from jobs; give its path from the root"), ('hidden_paths = ["/nope"]', "'hidden_paths': folder /nope is to be kept from jobs, but is not there"),
                ('default_account = "nosuchuser"', "'default_account': "), (f'state = "{self.folder}/file"', "file is no folder; set 'state'"),
                (f'state = "{self.folder}/file/below"', f"below cannot be made: {self.folder}/file is no folder"), (f'state = "{self.folder}/link"', f"state folder {self.folder}/link cannot be used: {self.folder}/link: No such file or directory; correct it"))

    def test_config_check_sees_what_steps_and_folders_lack(self):
        for text, message in (*self.both_refuse_of_steps_and_folders(), ('queue = "easy"\nqueue_log = "/nonexistent/x/y"', "'queue_log' /nonexistent/x/y cannot be written: No such file or directory; name another file"),
                           (f'queue = "easy"\nqueue_log = "{self.config}"', "exists and is no log of a queue"), (f'queue = "easy"\nqueue_log = "{self.folder}"', "cannot be written: "),
                           (f'queue = "easy"\npart_log = "{self.config}"', "exists and is no log of parts")):
            with self.subTest(text):
                part = self.folder / "zone.d/10.toml"
                part.parent.mkdir(exist_ok=True)
                part.write_text(text + "\n")
                self.refused_alike("zbs-zone", self.config, f"{part}:{1 + text.count(chr(10))}", message)

    def test_a_zone_that_runs_passes_its_own_check(self):
        account = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.config.write_text(f'queue = "easy"\nqueue_log = "{self.folder}/queue.log"\nhidden_paths = ["{self.folder}"]\ndefault_account = "{account}"\n' + self.config.read_text())
        self.zone("config", "check")
        self.assertFalse((self.folder / "queue.log").exists(), "the check makes nothing")
        self.start()
        self.assertTrue((self.folder / "queue.log").exists())
        self.zone("config", "check")

    def test_config_check_of_an_agent_sees_what_steps_and_folders_lack(self):
        for number, (text, message) in enumerate((*self.both_refuse_of_steps_and_folders(), ('control_group = "/nonexistent"', "'control_group': /nonexistent is not there, and no control group can be made in its place: No such file or directory; set it to auto, none"),
                                               (f'control_group = "{self.folder}"', "is no control group that this service may divide"), ('step_starter = "/nonexistent/s"', "their starter at /nonexistent/s is out of reach: No such file or directory; see 'systemctl status zbs-steps'"),
                                               ('zone = "https://127.0.0.1:7901/x"', "'zone': 'https://127.0.0.1:7901/x' is no service's address: nothing may follow host and port; write https://127.0.0.1:7901"))):
            with self.subTest(text):
                node = self.node_file('listen = "127.0.0.1:0"', add=number == 0)
                part = self.folder / "node.d/10.toml"
                part.parent.mkdir(exist_ok=True)
                part.write_text(text + "\n")
                self.refused_alike("zbs-node", node, f"{part}:1", message)

    def test_an_agent_that_runs_passes_its_own_check(self):
        manager = self.folder / "systemd-run"
        manager.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec setsid -f "$@"\n')
        manager.chmod(0o700)
        starter = subprocess.Popen([PROGRAMS / "zbs-step", "serve", "--socket", self.folder / "steps.socket", "--units", manager], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (starter.terminate(), starter.communicate(timeout=DEADLINE_S)))
        starter.stdout.readline()  # it says that it serves
        node = self.node_file(f'listen = "127.0.0.1:0"\nhidden_paths = ["{self.folder}"]\nstep_starter = "{self.folder}/steps.socket"', add=True)
        check = lambda: subprocess.run([PROGRAMS / "zbs-node", "config", "check", "--config", node], capture_output=True, text=True, timeout=DEADLINE_S)  # noqa: E731
        self.assertEqual(check().returncode, 0, check().stderr)
        self.assertFalse((self.folder / "node").exists(), "the check makes nothing")
        agent = subprocess.Popen([PROGRAMS / "zbs-node", "run", "--config", node], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (agent.terminate(), agent.communicate(timeout=DEADLINE_S)))
        self.assertIn("listening", agent.stdout.readline())
        self.assertEqual(check().returncode, 0, check().stderr)

    def test_config_check_of_an_agent_and_its_start_say_the_same(self):
        self.zone("node", "add", "node-1", "--out", self.folder / "identity")
        node = self.folder / "node.toml"
        for text, message in (('listen = "localhost:7001"', "'localhost' is not an IP address"), ('listen = "192.0.2.1:7001"', "cannot bind 192.0.2.1:7001: Cannot assign requested address; set 'listen'"),
                           ('step_supervisor = "/nope"', "/nope cannot be run: No such file or directory; install it")):
            with self.subTest(message):
                node.write_text(f'name = "node-1"\nzone = "https://127.0.0.1:1"\nzone_name = "zone-a"\nstate = "{self.folder}/node"\nidentity = "{self.folder}/identity"\nrun_as = "self"\n{text}\n')
                checked, started = (subprocess.run([PROGRAMS / "zbs-node", *words, "--config", node], capture_output=True, text=True, timeout=DEADLINE_S) for words in (("config", "check"), ("run",)))
                self.assertEqual((checked.returncode, checked.stdout), (1, ""), checked.stderr)
                self.assertIn(f"zbs-node: {node}:7: ", checked.stderr)
                self.assertIn(message, checked.stderr)
                self.assertEqual(started.stderr, checked.stderr, "the agent says the same")
                self.assertIn(started.returncode, (2, 3, 5))

    def test_config_show_tells_what_is_in_force_and_no_password(self):
        (self.folder / "zone.d").mkdir()
        (self.folder / "zone.d/20.toml").write_text("contact = 'ana'\n[database]\nurl = 'postgresql://zbs:hunter2@db/zbs?password=hunter2'\n")
        self.write("[time_sharing]\n", 'queue = "gang:slices=2"\n[[machine]]\nname = "node-1"\nagent = true\n')
        table = self.zone("config", "show", "--origin").stdout
        self.assertRegex(table, rf"(?m)^contact +ana +{self.folder}/zone.d/20.toml:1$")
        self.assertRegex(table, r"(?m)^time_sharing.slice_s +0.2 +default$")
        self.assertRegex(table, r"(?m)^database.url +postgresql://zbs:\*\*\*@db/zbs\?password=\*\*\* ")
        self.assertNotIn("20.toml", self.zone("config", "show").stdout)
        for form in ("table", "wide", "json", "jsonl", "csv", "name"):
            self.assertNotIn("hunter2", self.zone("config", "show", "-o", form).stdout)

    def test_which_zone_is_asked_once(self):
        done = subprocess.run([PROGRAMS / "zbs-zone", "config", "check"], capture_output=True, text=True, timeout=DEADLINE_S, env={k: v for k, v in os.environ.items() if k != "ZBS_ZONE_CONFIG"})
        self.assertEqual((done.returncode, done.stderr.count("which zone?")), (2, 1), done.stderr)

    def test_wrong_usage_ends_with_2_of_commands_that_ask_whether_all_is_well_too(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ZBS_")}
        for program, *words in (("zbs-node", "ready"), ("zbs-node", "config", "check"), ("zbs-zone", "ready"), ("zbs-zone", "config", "check"), ("zbs-zone", "doctor"), ("zbs-zone", "audit", "verify")):
            done = subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, timeout=DEADLINE_S, env=env)
            self.assertEqual((done.returncode, done.stderr.count("which " + program.removeprefix("zbs-") + "?")), (2, 1), (program, words, done.stderr))
            if (program, *words) == ("zbs-zone", "doctor"):
                continue  # has a row for it
            done = subprocess.run([PROGRAMS / program, *words, "--config", "/nowhere"], capture_output=True, text=True, timeout=DEADLINE_S, env=env)
            self.assertEqual(done.returncode, 1, (program, words, done.stderr))

    def test_database_of_a_newer_program_and_a_damaged_one(self):
        self.start().terminate()
        self.doCleanups_of_service()
        database = self.state / "zone.db"
        with sqlite3.connect(database) as connection:
            connection.execute("PRAGMA user_version = 999")
        connection.close()
        found = self.checks(1)["database"]
        self.assertIn("schema version 999", found["found"])
        self.assertIn("start the newer program", found["found"])
        with open(database, "r+b") as file:
            file.seek(8192)
            file.write(os.urandom(4096 * 4))
        self.assertIn("damaged", self.checks(1)["database"]["found"])

    def test_an_audit_log_that_was_changed_and_one_that_was_cut(self):
        self.start()
        for user in ("ana", "bo"):
            self.zone("block", f"spiffe://org-b/user/{user}")
        self.assertRegex(self.zone("doctor").stdout, r"(?m)^ok +audit log: whole, [1-9]\d* entries$")
        self.doCleanups_of_service()
        path = self.state / "audit.db"
        whole = path.read_bytes()
        self.assertEqual(self.checks(0)["audit log"]["verdict"], "ok")
        for trigger, edit, found in (("changes", "UPDATE audit SET who = 'spiffe://org-a/user/eve' WHERE number = 2", "entry 2 of the audit log was changed"),
                                     ("forgets", "DELETE FROM audit WHERE number = (SELECT max(number) FROM audit)", "entries were noted, so the end was cut off")):
            with self.subTest(found):
                with sqlite3.connect(path) as audit:
                    audit.execute(f"DROP TRIGGER audit_never_{trigger}")
                    audit.execute(edit)
                audit.close()
                row = self.checks(1)["audit log"]
                self.assertIn(found, row["found"])
                self.assertIn("keep a copy of the log", row["remedy"])
                path.write_bytes(whole)
        self.assertEqual(self.checks(0)["audit log"]["verdict"], "ok")
        path.unlink()
        self.assertIn("audit.db", self.checks(1)["audit log"]["found"])

    def doCleanups_of_service(self):
        for function, arguments, options in reversed(self._cleanups[1:]):
            function(*arguments, **options)
        del self._cleanups[1:]

    def test_folder_that_others_can_read(self):
        self.state.chmod(0o755)
        found = self.checks(1)["state folder"]
        self.assertIn("chmod 700", found["remedy"])

    def test_keys_that_are_gone(self):
        (self.state / "identity/operator/key.pem").unlink()
        self.assertEqual(self.checks(1)["operator's certificate"]["verdict"], "fail")

    def test_programs_and_interfaces_that_are_not_there(self):
        self.write('[mpi]\nmpiexec = "/nonexistent/mpiexec"\ninterface = "zbs-none0"\n')
        checks = self.checks(1)
        self.assertIn("/nonexistent/mpiexec", checks["mpiexec"]["found"])
        self.assertIn("zbs-none0", checks["MPI interface"]["found"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
