"""Commands of `zbs` that wait for applications outlast a home zone that is away for a while.

usage: absence_test.py ZBS SOURCE_DIR [CLASS[.TEST]...]; each class is a test of its own for CTest
"""
import contextlib
import http.server
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from manners import ONE, VIEW, ZBS, Manners, Zone

BACK = "zbs: the home zone is back\n"


class Absence(Manners):
    def setUp(self):
        super().setUp()
        Zone.answers["/v1/applications/" + ONE] = VIEW
        Zone.answers["/v1/applications/" + ONE + "/logs"] = {"files": [], "complete": False}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def arrive(self, handler=Zone):
        """From now on the zone answers at the port."""
        zone = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        threading.Thread(target=zone.serve_forever, daemon=True).start()
        self.addCleanup(zone.server_close)
        self.addCleanup(zone.shutdown)
        return zone

    def arrive_silent(self):
        """From now on the zone accepts calls, and answers them once the event is set that this returns."""
        answers = threading.Event()

        class Silent(Zone):
            def do_GET(self):
                answers.wait(timeout=60)
                super().do_GET()

        self.arrive(Silent)
        return answers

    def leave(self, zone):
        zone.shutdown()
        zone.server_close()

    def end(self, state, code):
        Zone.answers["/v1/applications/" + ONE] = dict(VIEW, state=state, exit_code=code)
        Zone.answers["/v1/applications/" + ONE + "/logs"] = {"files": [], "complete": True}

    def start(self, *words):
        process = subprocess.Popen([ZBS, *words], cwd=self.folder, env=self.environment(ZBS_URL=f"http://127.0.0.1:{self.port}"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.__exit__, None, None, None)
        self.addCleanup(process.kill)
        return process

    def expect_away(self, process):
        line = process.stderr.readline()
        self.assertIn("zbs: the home zone is away: ", line)
        self.assertIn("waits up to 30 minutes", line)


class Waits(Absence):
    """`zbs wait`, `zbs logs -f`, `zbs list --watch`, and commands that show whether a zone is there."""

    def test_wait_and_logs_go_on_once_the_zone_is_back(self):
        self.end("completed", 0)
        commands = [self.start("wait", ONE), self.start("logs", "-f", ONE)]
        for waiting in commands:
            self.expect_away(waiting)
        self.arrive()
        for waiting in commands:
            self.assertEqual(waiting.wait(timeout=30), 0, waiting.args)
            self.assertEqual(waiting.stderr.read(), BACK, waiting.args)

    def test_a_zone_that_accepts_calls_and_does_not_answer_is_away(self):
        self.end("completed", 0)
        answers = self.arrive_silent()
        commands = [self.start(*words) for words in (("wait", ONE), ("logs", "-f", ONE), ("run", "-q", "--id", ONE, "--", "/bin/true"))]
        for waiting in commands:
            line = waiting.stderr.readline()
            self.assertRegex(line, f"^zbs: the home zone is away: GET http://127.0.0.1:{self.port}/v1/applications/{ONE}.* has no answer after 2 s; ", waiting.args)
        answers.set()
        for waiting in commands:
            self.assertEqual(waiting.wait(timeout=30), 0, waiting.args)
            self.assertEqual(waiting.stderr.read(), BACK, waiting.args)

    def test_a_timeout_counts_while_a_call_has_no_answer(self):
        answers = self.arrive_silent()
        started = time.monotonic()
        waiting = self.start("wait", "--timeout", "3s", ONE)
        self.assertEqual(waiting.wait(timeout=30), 6)
        self.assertLess(time.monotonic() - started, 12, "the deadline of a call is 15 s")
        self.assertIn("the home zone is still away", waiting.stderr.read())
        answers.set()

    def test_wait_goes_on_if_the_zone_leaves_while_it_waits(self):
        looked = threading.Event()
        Zone.answers["/v1/applications/" + ONE] = lambda _: looked.set() or VIEW
        zone = self.arrive()
        waiting = self.start("wait", ONE)
        self.assertTrue(looked.wait(timeout=30))
        self.leave(zone)
        self.expect_away(waiting)
        self.end("failed", 3)
        self.arrive()
        self.assertEqual(waiting.wait(timeout=30), 3)
        self.assertTrue(waiting.stderr.read().startswith(BACK))

    def test_a_timeout_of_wait_holds_while_the_zone_is_away_and_names_the_way_back(self):
        waiting = self.start("wait", ONE, "--timeout", "3s")
        self.expect_away(waiting)
        self.assertEqual(waiting.wait(timeout=30), 6)
        self.assertEqual(waiting.stderr.read(), f"zbs: the home zone is still away\nzbs: {ONE} goes on without this command; 'zbs wait {ONE}' and 'zbs logs -f {ONE}' return to it\n")

    def test_a_list_that_is_drawn_again_outlasts_it(self):
        zone = self.arrive()
        drawn = self.start("list", "--watch=0.1")
        self.assertTrue(drawn.stdout.readline())
        self.leave(zone)
        self.expect_away(drawn)
        self.arrive()
        self.assertEqual(drawn.stderr.readline(), BACK)
        self.assertIsNone(drawn.poll())

    def test_a_zone_that_drains_is_asked_once_whether_it_is_ready(self):
        asked = []

        class Draining(Zone):
            def do_GET(self):
                if self.path != "/readyz":
                    return super().do_GET()
                asked.append(self.path)
                self.reply(503, {"title": "Service Unavailable", "status": 503, "detail": "this zone drains", "code": "unavailable"})

        Zone.answers |= {"/v1/nodes": {"zone": "x", "organisation": "org-a", "nodes": []}, "/v1/peerings": {"peers": []}, "/v1/whoami": {"zone": "x"}}
        self.arrive(Draining)
        for words, printed in ((("zone", "list"), r"x .* draining "), (("doctor",), "x at http.* is draining: this zone drains")):
            command = self.start(*words)
            out, err = command.communicate(timeout=60)
            self.assertRegex(out, printed)
            self.assertEqual((err, asked), ("", ["/readyz"]), words)
            asked.clear()

    def test_an_interrupt_while_it_waits_names_the_way_back(self):
        back = f"zbs: {ONE} goes on without this command; 'zbs wait {ONE}' and 'zbs logs -f {ONE}' return to it\n"
        zone = self.arrive()
        drawn = self.start("list", "--watch=0.1")
        self.assertTrue(drawn.stdout.readline())
        self.leave(zone)
        commands = [self.start("wait", ONE), self.start("logs", "-f", ONE)]
        for waiting in (drawn, *commands):
            self.expect_away(waiting)
        for waiting in commands:
            waiting.send_signal(signal.SIGINT)
            self.assertEqual(waiting.wait(timeout=30), -signal.SIGINT, waiting.args)
            self.assertEqual(waiting.stderr.read(), back, waiting.args)
        drawn.send_signal(signal.SIGTERM)
        self.assertEqual(drawn.wait(timeout=30), -signal.SIGTERM)
        self.assertEqual(drawn.stderr.read(), "zbs: applications go on without this command; 'zbs list' shows them\n")


class Runs(Absence):
    """`zbs run`, which an interrupt makes cancel the application."""

    def follow(self):
        """`zbs run`, whose zone has left after it took the application."""
        looked = threading.Event()
        Zone.answers["/v1/applications/" + ONE] = lambda _: looked.set() or VIEW
        zone = self.arrive()
        running = self.start("run", "-q", "--id", ONE, "--", "/bin/true")
        self.assertTrue(looked.wait(timeout=30))
        self.leave(zone)
        self.expect_away(running)
        return running

    def test_run_goes_on_once_the_zone_is_back(self):
        running = self.follow()
        self.end("completed", 0)
        self.arrive()
        self.assertEqual(running.wait(timeout=30), 0)
        self.assertEqual(running.stderr.read(), BACK)

    def test_an_interrupt_during_the_absence_cancels_once_the_zone_is_back(self):
        running = self.follow()
        running.send_signal(signal.SIGINT)
        self.assertIn("cancelling " + ONE, running.stderr.readline())
        self.expect_away(running)
        self.end("cancelled", 143)
        self.arrive()
        self.assertEqual(running.wait(timeout=30), 143)
        self.assertIn("/v1/applications/" + ONE, Zone.sent)

    def test_signals_within_a_second_count_once(self):
        running = self.follow()
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):  # stopped meanwhile, it sees both at once
            running.send_signal(number)
        self.assertIn("cancelling " + ONE, running.stderr.readline())
        self.expect_away(running)
        self.end("cancelled", 143)
        self.arrive()
        self.assertEqual(running.wait(timeout=30), 143)
        self.assertNotIn("left", running.stderr.read())

    def test_the_second_interrupt_leaves_and_names_what_to_do(self):
        running = self.follow()
        running.send_signal(signal.SIGINT)
        self.assertIn("cancelling " + ONE, running.stderr.readline())
        for _ in range(300):  # those within a second of the first count for nothing
            running.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.assertEqual(running.wait(timeout=0.1), 5)
                break
        self.assertIn(f"'zbs cancel {ONE}' repeats it\n", running.stderr.read())


class ShortCommands(Absence):
    """The patience of a client with several addresses is 30 s."""

    def test_a_short_command_names_the_address_that_does_not_answer_yet(self):
        several = f"http://127.0.0.1:{self.port},http://127.0.0.1:{self.port}"
        short, both = self.start("list"), self.start("list", "--url", several)
        line = f"zbs: no answer from http://127.0.0.1:{self.port} yet; still trying\n"
        self.assertEqual(short.stderr.readline(), line)
        self.assertEqual(both.stderr.readline(), line)
        self.assertEqual(short.wait(timeout=60), 5)
        self.assertRegex(short.stderr.read(), "^zbs: GET http.*connection refused.*; does a zone run at that address and port[?]")
        self.assertEqual(both.wait(timeout=90), 5)
        self.assertRegex(both.stderr.read(), "^zbs: none of the 2 addresses answers as the active scheduler; the last: GET http.*; does a zone run at one of them[?]")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for programs in the background
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
