"""A registry that says what a test wants, with a real registry's keys; and a trap: an address that counts who calls it."""
import base64
import http.server
import json
import socket
import ssl
import subprocess
import threading

PURPOSE = "zbs zone entry 1"  # what a zone signs, first line: services/common/codec/signed_entry.cpp


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


class LyingRegistry:
    """Takes every zone in, and shows `entries`; `looks` counts how often."""

    def __init__(self, address, port, identity):
        self.entries, self.looks, self.bodies = [], 0, []
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, value):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path.startswith("/v1/zones"):
                    registry.looks += 1
                self.answer(200, {"zones": registry.entries})

            def take(self):
                registry.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                self.answer(201 if self.command == "POST" else 200, {"zone": "a", "lease_s": 40})

            do_POST = do_PUT = do_DELETE = take

            def log_message(self, *_):
                pass

        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(identity.chain, identity.key)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def finish_request(self, request, client_address):  # in the connection's own thread, where a handshake may take its time
                with tls.wrap_socket(request, server_side=True) as connection:
                    super().finish_request(connection, client_address)

            def handle_error(self, *_):
                pass  # a zone that goes away

        self.server = Server((address, port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
