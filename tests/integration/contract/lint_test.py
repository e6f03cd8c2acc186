"""The OpenAPI documents pass spectral's rules, without a warning: lint_test.py SOURCE_DIR WORK_DIR

Spectral comes from npm into WORK_DIR the first time; skipped (77) where there is no npm or it cannot be had.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

SOURCE, WORK = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "schemas"))
from bundle import bundle_text  # noqa: E402

SPECTRAL = WORK / "node_modules/.bin/spectral"
DOCUMENTS = {service: WORK / f"{service}.json" for service in ("zone", "registry", "node")}


def why_not():
    """Installs spectral where it is missing; why it cannot be had, or nothing."""
    if not shutil.which("npm"):
        return "npm is not installed (Debian: apt install npm)"
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = (SOURCE / "schemas/lint/package-lock.json").read_text()
    mark = WORK / "installed"
    if mark.exists() and mark.read_text() == wanted:
        return ""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCE / "schemas/lint" / name, WORK)
    try:
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=WORK, capture_output=True, text=True, timeout=240)
    except subprocess.TimeoutExpired:
        return "npm did not install spectral within 240 s"
    if done.returncode != 0:
        return "npm could not install spectral: " + done.stderr[-500:]
    mark.write_text(wanted)
    return ""


def lint(*documents):
    return subprocess.run([SPECTRAL, "lint", "--fail-severity", "warn", "--ruleset", SOURCE / "schemas/lint/rules.yaml", *documents], capture_output=True, text=True, timeout=120)


class Lint(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for service, file in DOCUMENTS.items():
            file.write_text(bundle_text(service))

    def test_documents_have_no_fault(self):
        done = lint(*DOCUMENTS.values())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_fault_would_be_found(self):
        document = json.loads(DOCUMENTS["zone"].read_text())
        document["paths"]["/v1/whoami"]["get"]["security"] = [{"nobody": []}]
        faulty = WORK / "faulty.json"
        faulty.write_text(json.dumps(document))
        done = lint(faulty)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("oas3-operation-security-defined", done.stdout)


if __name__ == "__main__":
    if fault := why_not():
        print("skipped:", fault)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
