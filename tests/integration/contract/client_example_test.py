"""The Python client that docs/examples generates from the contract submits a job, waits for it and reads its output.

usage: client_example_test.py ZBS_ZONE SOURCE_DIR
"""
import ast
import importlib.util
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ZONE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
DEADLINE_S = 60
ANA = "spiffe://alpha/user/ana"

SETTINGS = 'name = "alpha-one"\norganisation = "alpha"\nstate = "{folder}/state"\nlisten = "127.0.0.1:0"\nrun_as = "self"\n[[machine]]\nname = "node-1"\nprocessors = 2\n'


def documented_id(name):
    """A fresh id of `name`, made by the lines of docs/protocol.md."""
    found = {}
    exec((SOURCE / "docs/protocol.md").read_text().split("```python\n")[1].split("```")[0], found)
    return found["own_id"](name)


def documented_line(command):
    """The command of docs/examples/README.md that begins with `command`."""
    [line] = (line for line in (SOURCE / "docs/examples/README.md").read_text().splitlines() if line.startswith(f"$ {command} "))
    return line.removeprefix("$ ")


class GeneratedClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-client-example-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        (cls.folder / "zone.toml").write_text(SETTINGS.format(folder=cls.folder))
        cls.process = subprocess.Popen([ZONE, "run", "--config", cls.folder / "zone.toml"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.addClassCleanup(cls.end)
        url = cls.process.stdout.readline().split()[-1]
        subprocess.run(documented_line("python3 schemas/bundle.py").replace("> ", f"> {cls.folder}/"), shell=True, cwd=SOURCE, check=True)
        spec = importlib.util.spec_from_file_location("zbs_zone", cls.folder / "zbs_zone.py")
        cls.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.module)
        token = (cls.folder / "state/local_token").read_text().strip()
        cls.zone = cls.module.Client(url, headers={"Zbs-Identity": ANA, "Zbs-Token": token})

    @classmethod
    def end(cls):
        cls.process.terminate()
        cls.process.wait(DEADLINE_S)
        cls.process.stdout.close()

    def test_a_job_from_submission_to_output(self):
        identifier = documented_id(ANA)
        request = {"id": identifier, "ranks": 2, "argv": ["/bin/sh", "-c", "echo rank $PMI_RANK"], "directory": str(self.folder), "walltime_s": 60, "environment": {"PATH": "/usr/bin:/bin"}}
        self.assertEqual(self.zone.schedule_application(request, dry_run=True)["zones"][0]["zone"], "alpha-one")
        self.assertEqual(self.zone.schedule_application(request)["id"], identifier)
        end = time.monotonic() + DEADLINE_S
        while (state := self.zone.get_application(identifier)["state"]) not in ("completed", "failed", "cancelled", "rejected") and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(state, "completed")
        self.assertEqual([one["id"] for one in self.zone.list_applications(limit=5)["applications"]], [identifier])
        self.assertIn("rank 1", self.zone.read_log(identifier, 1))

    def test_a_refusal_is_an_exception_with_the_problem(self):
        with self.assertRaises(self.module.Problem) as caught:
            self.zone.get_application(documented_id(ANA))
        self.assertEqual(caught.exception.status, 404)
        self.assertIn("detail", caught.exception.problem)

    def test_each_operation_has_its_method(self):
        for name in ("list_applications", "put_file", "read_part_result", "set_drain", "get_contract", "explain_application"):
            self.assertTrue(callable(getattr(self.zone, name)), name)

    def test_the_line_of_the_readme_works(self):
        """Against a zone with TLS, in the folder that `zbs login` writes by itself."""
        home = self.folder / "home"
        home.mkdir()
        config = self.folder / "tls.toml"
        config.write_text(SETTINGS.format(folder=self.folder / "tls").replace("alpha-one", "alpha-tls"))

        def output_of(*command):
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=DEADLINE_S, cwd=self.folder,
                                  env={k: v for k, v in os.environ.items() if not k.startswith(("ZBS_", "XDG_"))} | {"HOME": str(home)})
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            return done.stdout

        output_of(ZONE, "init", "--config", config)
        process = subprocess.Popen([ZONE, "run", "--config", config], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = process.stdout.readline().split()[-1]
            words = output_of(ZONE, "user", "add", "ana", "--config", config).split()
            output_of(pathlib.Path(ZONE).parent / "zbs", *words[1:])
            line = documented_line("python3 -c").replace("https://zone-a.example.org:7001", url).replace("/home/ana/", f"{home}/")
            self.assertIn(url, line)
            self.assertEqual(ast.literal_eval(output_of(*shlex.split(line)))["applications"], [])
        finally:
            process.terminate()
            process.wait(DEADLINE_S)
            process.stdout.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
