"""The zone's pages in headless Chromium: browser_test.py BIN NODE_MODULES NODE [PART/PARTS | names of cases]"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration" / "federation"))
import federation  # noqa: E402
from federation import Federation  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)>\"'`&amp;\u202e\u0007${7*7}"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def applications(f):
    """What the cases find: one that is over, one that runs, one with a hostile command, and a profile."""
    folder = pathlib.Path(f.folder)
    hostile = folder / "<b>job & 'co'.sh"
    hostile.write_text("#!/bin/sh\necho \"$1\"\necho '<script>alert(2)</script>'\n")
    hostile.chmod(0o755)
    done = f.submit("-n", "2", "--no-record", "--", str(hostile), HOSTILE)
    f.wait_state(done, ("completed",), 60)
    spread = folder / "spread.sh"
    spread.write_text("#!/bin/sh\n")
    spread.chmod(0o755)
    chain = {"format": "zbs-model/1", "program": str(spread), "ranks": 6, "compute": [1.0] * 6,
             "edges": [[0, 3, 1e6, 10], [1, 4, 1e6, 10], [2, 5, 1e6, 10], [0, 1, 10, 1], [3, 5, 1e6, 10]]}
    (folder / "chain.json").write_text(json.dumps(chain))
    assert f.zbs("profile", "import", str(folder / "chain.json")).returncode == 0
    spread = f.submit("-n", "6", "--no-record", "--", str(spread))
    f.wait_state(spread, ("completed",), 60)
    runs = f.submit("-n", "3", "--walltime", "20m", "--no-record", "--", "/bin/sleep", "1100")
    f.wait_state(runs, ("running",), 60)
    model = {"format": "zbs-model/1", "program": "/opt/<i>ring</i>", "ranks": 6, "compute": [1.0] * 6,
             "edges": [[0, 1, 1e6, 10], [1, 2, 2e6, 10], [2, 3, 3e3, 10], [3, 4, 2e6, 10], [4, 5, 1e6, 10]]}
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    made = f.zbs("profile", "import", str(path), "-o", "json")
    assert made.returncode == 0, made.stderr
    return {"done": done, "runs": runs, "spread": spread, "profile": json.loads(made.stdout)["id"], "hostile": HOSTILE}


def main():
    binaries, modules, node, *names = sys.argv[1:]
    chromium = os.environ.get("ZBS_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        skip("there is no Chromium; install it, or set ZBS_CHROMIUM")
    if not modules or not pathlib.Path(modules, "playwright-core").exists():
        skip("the dashboard's npm packages are not there (ZBS_BUILD_DASHBOARD)")
    federation.BIN = os.path.abspath(binaries)
    with Federation() as f:
        known = applications(f)
        dashboard = subprocess.Popen([federation.BIN + "/zbs", "dashboard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=f.environment)
        try:
            known["address"] = dashboard.stdout.readline().strip()
            assert re.match(r"http://127\.0\.0\.1:", known["address"]), known["address"]
            known["chromium"], known["modules"], known["folder"] = chromium, modules, f.folder
            done = subprocess.run([node, str(HERE / "pages.mjs"), json.dumps(known), *names], timeout=500)
        finally:
            dashboard.send_signal(signal.SIGTERM)
            dashboard.wait(30)
            dashboard.stdout.close()
            f.zbs("cancel", known["runs"])
            f.wait_state(known["runs"], ("cancelled",), 60)
    sys.exit(done.returncode)


main()
