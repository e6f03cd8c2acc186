"""What a zone starts in place of MPI, where a test is about what the services say: scripts that run until a signal."""
import json

MPIEXEC = """#!/usr/bin/python3
# Stand-in for mpiexec -launcher manual: asks for one proxy per line of the host file, runs until a signal.
import os, socket, time
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)
port = listener.getsockname()[1]
with open("hosts") as hosts:
    for proxy, _ in enumerate(hosts):
        print(f"HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --control-port 127.0.0.1:{port} --rmk user --launcher manual --demux poll --pgid 0 --retries 10 --usize -2 --proxy-id {proxy}")
print("HYDRA_LAUNCH_END", flush=True)
for name, text in ((".zbs-out.0", "hello from rank 0\\n"), (".zbs-err.1", "a warning\\n")):
    with open(name, "w") as output:
        output.write(text)
while not os.path.exists("@FOLDER@/end"):
    time.sleep(0.02)
"""
PROXY = """#!/bin/bash
# Stand-in for a proxy whose ranks leave a model.
for word; do [ "$last" != --control-port ] || exec 3<>"/dev/tcp/${word%:*}/${word##*:}"; last=$word; done
/bin/cp @FOLDER@/model.json "$ZBS_PROFILE_OUT"
[ -z "$ZBS_STAGED" ] || { cd "$ZBS_STAGED" && /bin/cp in.dat out.dat && /bin/ln -s /etc/passwd secret.dat; }
while [ ! -e @FOLDER@/end ]; do /bin/sleep 0.02; done
"""
MODEL = {"format": "zbs-model/1", "program": "./ring", "ranks": 2, "compute": [0.5, 0.5], "edges": [[0, 1, 1024, 4]]}


def write_stand_ins(folder):
    """Puts the scripts into `folder` and gives the settings that name them; what they start ends once `folder`/end is there."""
    for name, text in (("mpiexec", MPIEXEC), ("proxy", PROXY)):
        path = folder / name
        path.write_text(text.replace("@FOLDER@", str(folder)))
        path.chmod(0o755)
    (folder / "model.json").write_text(json.dumps(MODEL))
    return f'[mpi]\nmpiexec = "{folder}/mpiexec"\nproxy = "{folder}/proxy"\nprofiler = "{folder}/no-preload.so"\n'
