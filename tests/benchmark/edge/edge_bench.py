"""Cost of the zone's TLS edge beside a bare Beast server and nginx, and how it stands idle and stalled connections.

usage: edge_bench.py BIN [--seconds S] [--rounds N] [--json]

All servers run on this machine with the same certificate and two threads (nginx: two workers); the rounds alternate
between them, so that what else happens on the machine hits all alike. Ratios are of medians over the rounds.
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from ports import free_port  # noqa: E402


def start_zone(binaries, folder):
    config = folder / "zone.toml"
    config.write_text(f'name = "z"\norganisation = "org-z"\nstate = "{folder}/z"\n[[machine]]\nname = "m0"\nprocessors = 4\n[rates]\nanonymous_per_s = 0\nconnection_per_s = 0\n')
    subprocess.run([binaries / "zbs-zone", "init", "--config", config], check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen([binaries / "zbs-zone", "run", "--config", config], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline().rsplit(":", 1)[1])


def start_beast(binaries, folder):
    keys = folder / "z/identity"
    process = subprocess.Popen([binaries / "bench/bare_beast", keys / "certificate.pem", keys / "key.pem"], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def start_nginx(folder):
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.path.exists(program):
        return None, None
    keys = folder / "z/identity"
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(f"""daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/nginx.log; {'user root;' if os.getuid() == 0 else ''}
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 100000000; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {keys}/certificate.pem; ssl_certificate_key {keys}/key.pem; ssl_protocols TLSv1.3; ssl_session_cache off; ssl_session_tickets off;
    location / {{ default_type application/json; return 200 '{{"status":"ok"}}'; }} }} }}
""")
    process = subprocess.Popen([program, "-c", config, "-p", folder], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nginx did not start: {(folder / 'nginx.log').read_text()}")


def measure(binaries, port, mode, seconds):
    done = subprocess.run([binaries / "bench/edge_load", str(port), mode, "2", str(seconds)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024


def connect(port, context):
    plain = socket.create_connection(("127.0.0.1", port), 10)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as HTTP clients do; else the request waits 40 ms for an acknowledgement
    return context.wrap_socket(plain)


def ask(connection):
    connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert connection.recv(4096).startswith(b"HTTP/1.1 200")


def serve_times(port, context, tries=50):
    times = []
    for _ in range(tries):
        start = time.monotonic()
        with connect(port, context) as client:
            ask(client)
        times.append((time.monotonic() - start) * 1000)
    return {"new_client_median_ms": round(statistics.median(times), 2), "new_client_max_ms": round(max(times), 2)}


def crowd(process, port, idle=2000, stalled=800):
    """New clients among idle TLS connections and ones that never begin their handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    before = resident_mib(process.pid)
    silent = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(stalled)]
    begin = time.monotonic()
    quiet = [connect(port, context) for _ in range(idle)]
    opened = time.monotonic() - begin
    times = serve_times(port, context)
    during = resident_mib(process.pid)
    start = time.monotonic()
    dropped = 0
    for connection in silent + quiet:
        connection.settimeout(15)
        try:
            if connection.recv(1) == b"":
                dropped += 1
        except OSError as fault:
            dropped += not isinstance(fault, TimeoutError)
    ended = time.monotonic() - start
    for connection in silent + quiet:
        connection.close()
    return {"idle": idle, "stalled": stalled, "opened_s": round(opened, 2), **times, "resident_before_mib": round(before), "resident_mib": round(during), "dropped": dropped, "all_dropped_after_s": round(ended, 1)}


def bodies(process, port, count=2000):
    """New clients beside connections without an identity, each in the middle of the largest body that such a caller may send."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    before = resident_mib(process.pid)
    size = 256 * 1024
    head = f"POST /v1/peerings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n".encode()
    senders, refused, peak = [], 0, before
    for i in range(count):
        try:
            connection = connect(port, context)
            connection.settimeout(1)
            connection.sendall(head + b" " * (size - 1024))
            senders.append(connection)
        except OSError:
            refused += 1
        if i % 100 == 0:
            peak = max(peak, resident_mib(process.pid))
    times = serve_times(port, context)
    peak = max(peak, resident_mib(process.pid))
    for connection in senders:
        connection.close()
    return {"senders": count, "refused": refused, "resident_before_mib": round(before), "resident_peak_mib": round(peak), **times}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    servers, processes = {}, []
    with tempfile.TemporaryDirectory(prefix="zbs-edge-") as name:
        folder = pathlib.Path(name)
        try:
            for title, launch in (("zone", lambda: start_zone(options.bin, folder)), ("beast", lambda: start_beast(options.bin, folder)), ("nginx", lambda: start_nginx(folder))):
                process, port = launch()
                if process:
                    processes.append(process)
                    servers[title] = port
            result = {"command": " ".join(sys.argv), "cores": os.cpu_count(), "seconds": options.seconds, "rounds": options.rounds}
            for mode in ("new", "keep"):
                rounds = {title: [] for title in servers}
                for _ in range(options.rounds):
                    for title, port in servers.items():
                        rounds[title].append(measure(options.bin, port, mode, options.seconds))
                        print(".", end="", file=sys.stderr, flush=True)
                medians = {title: statistics.median(r["median_us"] for r in measured) for title, measured in rounds.items()}
                result[mode] = {title: {"median_us": medians[title], "requests_per_s": statistics.median(r["requests_per_s"] for r in rounds[title]),
                                        "p99_us": statistics.median(r["p99_us"] for r in rounds[title]), "beside_beast": round(medians[title] / medians["beast"], 2)} for title in servers}
            print(file=sys.stderr)
            result["bodies"] = bodies(processes[0], servers["zone"])
            result["crowd"] = crowd(processes[0], servers["zone"])
        finally:
            for process in processes:
                process.terminate()
                process.wait(20)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{result['command']}   ({result['cores']} cores; {options.rounds} rounds of {options.seconds} s each, in turn)")
    for mode, title in (("new", "a new TLS connection and one request"), ("keep", "one request on a kept connection")):
        print(f"\n{title}\n  {'server':8}{'median us':>12}{'p99 us':>12}{'requests/s':>14}{'beside beast':>14}")
        for server, row in result[mode].items():
            print(f"  {server:8}{row['median_us']:12.1f}{row['p99_us']:12.1f}{row['requests_per_s']:14.0f}{row['beside_beast']:14.2f}")
    row = result["bodies"]
    print(f"\n{row['senders']} connections without an identity, each with a body of 256 KiB under way ({row['refused']} refused): a new client is served in {row['new_client_median_ms']} ms "
          f"(median of 50; longest {row['new_client_max_ms']} ms), at most {row['resident_peak_mib']} MiB resident ({row['resident_before_mib']} before)")
    row = result["crowd"]
    print(f"\n{row['idle']} idle and {row['stalled']} stalled connections: a new client is served in {row['new_client_median_ms']} ms (median of 50; longest {row['new_client_max_ms']} ms), "
          f"{row['resident_mib']} MiB resident ({row['resident_before_mib']} before), {row['dropped']} dropped within {row['all_dropped_after_s']} s")


if __name__ == "__main__":
    main()
