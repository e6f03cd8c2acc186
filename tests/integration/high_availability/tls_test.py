#!/usr/bin/python3 -B
"""The same with certificates, as users and operators have it: tls_test.py BIN

A user logs in by one address and calls by both; her `zbs run` follows a job over the change. The active scheduler is killed; the other knows her, her job and its operator; who was revoked before stays so, and the registry tells other zones
the new address.
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys

from fail_over_test import DEADLINE_S, World, until

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "contract")]

from identities import context, own  # noqa: E402
from ports import free_port
from postgres_server import SKIPPED, PostgresServer, missing


def fail_over(world, registry_port):
    def registered():
        """Where the registry says that the zone is."""
        connection = http.client.HTTPSConnection("127.0.0.1", registry_port, timeout=10, context=context(own(world.folder / "state/identity")))
        try:
            connection.request("GET", "/v1/zones")
            return [json.loads(zone["text"])["url"] for zone in json.loads(connection.getresponse().read()).get("zones", [])]
        except OSError:
            return []
        finally:
            connection.close()

    one, two = world.schedulers
    home = {"PATH": "/usr/bin:/bin", "HOME": str(world.folder)}

    def run(program, *words, url="", credentials="ana"):
        return subprocess.run([world.bin / program, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_S, cwd=world.folder, stdin=subprocess.DEVNULL,
                              env=dict(home, ZBS_CREDENTIALS=str(world.folder / credentials), **({"ZBS_URL": url} if url else {})))

    def good(*words, **options):
        done = run(*words, **options)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    good("zbs-zone", "init", "--config", one.config)
    one.url, two.url = (scheduler.url.replace("http:", "https:") for scheduler in world.schedulers)
    token = good("zbs-registry", "token", "--state", world.folder / "registry", "--for", "org-a")
    good("zbs-zone", "enrol", re.search(r"zbs-enrol-1\+\S+", token).group(), "--config", one.config)
    one.start().wait_for(" listening on https://")
    until(lambda: registered() == [one.url], DEADLINE_S, registered)
    two.start().wait_for(" standing by on https://")
    for user in ("ana", "bob"):
        good("zbs", *good("zbs-zone", "user", "add", user, "--config", one.config).split()[1:], credentials=user)
    job = good("zbs", "submit", "--launcher", "mpich", "--no-record", "--output", "name", "--", "/bin/sh", "-c", "true").split()[0]
    good("zbs-zone", "user", "revoke", "bob", "--config", one.config)

    both = f"{one.url},{two.url}"
    followed = subprocess.Popen([world.bin / "zbs", "run", "--launcher", "mpich", "--no-record", "--", "/bin/sh", "-c", "echo begin; until [ -e go ]; do sleep 0.1; done; echo end; exit 3"],
                                cwd=world.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=dict(home, ZBS_CREDENTIALS=str(world.folder / "ana"), ZBS_URL=both))
    assert followed.stdout.readline() == "begin\n"

    one.process.kill()
    one.process.wait()
    assert json.loads(good("zbs", "show", job, "-o", "json", url=both))["id"] == job  # waits until the other has taken over
    two.wait_for(" listening on https://")
    until(lambda: registered() == [two.url], DEADLINE_S, registered)
    until(lambda: json.loads(good("zbs", "show", job, "-o", "json", url=both))["state"] == "completed", DEADLINE_S, "the job does not end")
    (world.folder / "go").touch()
    assert followed.communicate(timeout=DEADLINE_S)[0] == "end\n" and followed.returncode == 3, "who followed the job has not seen its end"
    refused = run("zbs", "list", url=two.url, credentials="bob")
    assert refused.returncode != 0, refused.stdout
    good("zbs", "submit", "--launcher", "mpich", "--no-record", "--", "/bin/sh", "-c", "true", url=both)
    good("zbs-zone", "ready", "--config", two.config)
    assert "revoke" in good("zbs-zone", "audit", "list", "--config", one.config)


def main():
    if missing():
        print(missing())
        return SKIPPED
    with PostgresServer() as server, World(sys.argv[1], server) as world:
        port, state, program = free_port(), world.folder / "registry", world.bin / "zbs-registry"
        subprocess.run([program, "init", "--state", state, "--organisation", "grid"], check=True, capture_output=True, timeout=DEADLINE_S)
        with open(world.folder / "registry.log", "wb") as log:
            registry = subprocess.Popen([program, "run", "--state", state, "--listen-address", "127.0.0.1", "--listen-port", str(port), "--allow-private-addresses"], stdin=subprocess.DEVNULL,
                                        stdout=log, stderr=log)
        try:
            until((state / "address").exists, DEADLINE_S, "the registry is not up")
            fail_over(world, port)
        finally:
            registry.terminate()
            registry.wait(DEADLINE_S)
    return 0


if __name__ == "__main__":
    sys.exit(main())
