"""A service of a test's own, over real TLS and with real keys: it gives prepared answers and keeps every byte that it receives."""
import http.server
import json
import ssl
import threading


class StubService:
    """`answer(method, path, body)` gives status and JSON, or a function that writes the answer to the stream by itself; `received` holds each request: line, headers, body."""

    def __init__(self, address, port, identity, answer):
        self.received = []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                service.received.append(self.raw_requestline + bytes(self.headers) + body)
                status, value = answer(self.command, self.path, body)
                if callable(value):
                    self.close_connection = True
                    return value(self.wfile)
                text = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

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
                pass  # a client that goes away

        self.server = Server((address, port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
