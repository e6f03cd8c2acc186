"""A registry that says what a test wants, with a real registry's keys; and a trap: an address that counts who calls it."""
import base64
import socket
import subprocess
import threading

from stub_service import StubService

PURPOSE = "zbs zone entry 1"  # what a zone signs, first line: services/common/codec/json/signed_entry.cpp


def sign(identity, text, purpose=PURPOSE):
    """`text` as the holder of these keys signs it."""
    done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", identity.key], input=f"{purpose}\n{text}".encode(), capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr
    with open(identity.chain) as file:
        return {"text": text, "chain": file.read(), "signature": base64.b64encode(done.stdout).decode()}


class Trap:
    """Listens and counts connections; never answers."""

    def __init__(self, address="127.0.0.1"):
        self.calls = 0
        self.socket = socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET, dualstack_ipv6=":" in address)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.calls += 1
            connection.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class LyingRegistry(StubService):
    """Takes every zone in, and shows `entries`; `looks` counts how often."""

    def __init__(self, address, port, identity):
        self.entries, self.looks = [], 0
        super().__init__(address, port, identity, self.answer)

    def answer(self, method, path, _):
        if method != "GET":
            return 201 if method == "POST" else 200, {"zone": "a", "lease_s": 40}
        self.looks += path.startswith("/v1/zones")
        return 200, {"zones": self.entries}
