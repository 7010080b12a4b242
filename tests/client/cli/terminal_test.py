"""What epsctl does on a terminal and what it does elsewhere: terminal_test.py BUILD_DIR

On a pseudo-terminal: charts, colors, questions, and --watch until Ctrl-C. In a pipe: JSON without an escape
byte, nothing asked, and no charts.
"""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest

from command_tree import ServedLedger

RELATION = ("--relation", "add-or-remove-one")
WAIT_SECONDS = 60
ESCAPE = "\033"


class Screen:
    """epsctl on a terminal of its own."""

    def __init__(self, server, *arguments, **environment):
        self._master, slave = pty.openpty()
        self.text = ""
        self.process = subprocess.Popen(
            [server.epsctl, "--server", server.grpc, *arguments], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, env={"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment},
            # The terminal turns Ctrl-C into SIGINT for the session that it controls.
            preexec_fn=lambda: os.close(os.open(os.ttyname(slave), os.O_RDWR)))
        os.close(slave)

    def type(self, text):
        os.write(self._master, text.encode())

    def wait_for(self, *texts):
        """Reads until all of the texts came since the call before."""
        return self._read(lambda: all(text in self.text for text in texts), texts)

    def _read(self, is_enough, what):
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_enough():
            ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError("waited in vain for %s in %r" % (what, self.text))
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the other end is closed
                data = b""
            if not data:
                break
            self.text += data.decode(errors="replace").replace("\r\n", "\n")
        read, self.text = self.text, ""
        return read

    def end(self):
        """(exit code, the rest)."""
        rest = self._read(lambda: False, "the end")
        os.close(self._master)
        return self.process.wait(WAIT_SECONDS), rest

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class TerminalTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.server = ServedLedger(self.build)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.create("adult")
        self.server.ctl("session", "create", "adult/run-1", *RELATION, "--no-own-cap")
        self.charge("--open-attempt")

    def create(self, name):
        self.server.ctl("budget", "create", name, "--epsilon", "1", "--delta", "1e-5", *RELATION,
                        "--privacy-unit", "person", "--alert-at", "0.01")

    def charge(self, *attempt):
        self.server.ctl("charge", "create", "adult/run-1", *attempt, "--gaussian", "40", "--count", "10")

    def on_terminal(self, *arguments, typed=None, **environment):
        with Screen(self.server, *arguments, **environment) as screen:
            if typed is None:
                return screen.end()
            asked = screen.wait_for("[y/N]")
            screen.type(typed + "\n")
            code, rest = screen.end()
            return code, asked + rest

    def state(self):
        return json.loads(self.server.ctl("budget", "get", "adult"))["state"]

    def test_tables_have_charts_on_a_terminal(self):
        self.server.ctl("lease", "acquire", "adult/run-1", "--attempt", "1", "--gaussian", "40", "--count", "20")
        for command in (("budget", "get", "adult"), ("budget", "list"), ("session", "get", "adult/run-1")):
            code, shown = self.on_terminal(*command)
            self.assertEqual(code, 0, shown)
            self.assertRegex(shown, "█|▇", command)
            self.assertIn(ESCAPE + "[1m", shown, command)
        self.assertIn("▓", self.on_terminal("budget", "get", "adult")[1])
        self.assertIn("in open leases", self.on_terminal("budget", "get", "adult")[1])
        _, shown = self.on_terminal("session", "get", "adult/run-1")
        self.assertRegex(shown, r"epsilon  [▁-█]+\|[▁-█]+  [\d.]+ at delta 1e-05 after 30 steps, \| ahead to [\d.]+ "
                                r"after \d+; cap 1 of budgets/adult")
        _, other = self.on_terminal("session", "get", "adult/run-1", "--delta", "1e-6")
        self.assertIn("at delta 1e-06 after 30 steps", other)

    def test_lines_fit_the_terminal(self):
        self.create("a-budget-with-a-name-of-some-length")
        for width in ("80", "100"):
            for command in (("budget", "get", "adult"), ("budget", "list"), ("budget", "tree", "adult"),
                            ("session", "list", "adult"), ("session", "guarantees", "adult/run-1"),
                            ("charge", "list", "adult/run-1"), ("ledger", "entries", "adult"),
                            ("compare", "--gaussian", "40", "--count", "100", "--delta", "1e-5")):
                code, shown = self.on_terminal(*command, COLUMNS=width, NO_COLOR="1")
                self.assertEqual(code, 0, shown)
                table = shown.split("\n\n")[0]
                self.assertLessEqual(max(map(len, table.split("\n"))), int(width), (command, shown))
        self.assertGreater(max(map(len, self.on_terminal("budget", "get", "adult", "-o", "wide")[1].split("\n"))), 80)

    def test_a_terminal_without_unicode_gets_ascii(self):
        for command in (("budget", "list"), ("session", "get", "adult/run-1")):
            code, shown = self.on_terminal(*command, LC_ALL="C")
            self.assertEqual(code, 0, shown)
            self.assertTrue(shown.isascii(), shown)
            self.assertRegex(shown, "[#*]")

    def test_what_needs_a_look_is_colored(self):
        self.assertIn(ESCAPE + "[33m", self.on_terminal("budget", "list")[1], "above an alert threshold")
        self.server.ctl("budget", "close", "adult", "--reason", "a test", "--yes")
        self.assertIn(ESCAPE + "[31mCLOSED" + ESCAPE + "[0m", self.on_terminal("budget", "list")[1])

    def test_no_color_and_dumb_terminals_get_no_escape(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            for command in (("budget", "get", "adult"), ("budget", "list"), ("session", "get", "adult/run-1"),
                            ("charge", "list", "adult/run-1"), ("server", "health")):
                code, shown = self.on_terminal(*command, **environment)
                self.assertEqual(code, 0, shown)
                self.assertNotIn(ESCAPE, shown, (environment, command))
        self.assertIn(ESCAPE, self.on_terminal("budget", "list", NO_COLOR="")[1], "empty is as good as unset")

    def test_a_pipe_gets_json_and_no_escape(self):
        for command in (("budget", "get", "adult"), ("budget", "list"), ("session", "get", "adult/run-1"),
                        ("charge", "list", "adult/run-1"), ("policy", "get", "adult"), ("server", "info"),
                        ("server", "health"), ("server", "whoami"), ("explain", "zcdp"), ("ledger", "verify", "adult"),
                        ("calibrate", "--count", "--gaussian", "40", "--epsilon", "1", "--delta", "1e-6")):
            output = self.server.ctl(*command)
            self.assertNotIn(ESCAPE, output, command)
            json.loads(output)
        table = self.server.ctl("budget", "list", "-o", "table")
        self.assertTrue(table.startswith("NAME") and table.isascii(), table)

    def test_what_cannot_be_taken_back_asks(self):
        close = ("budget", "close", "adult", "--reason", "a test")
        for answer in ("n", "", "yes please"):
            code, shown = self.on_terminal(*close, typed=answer)
            self.assertEqual(code, 1, shown)
            self.assertIn("budgets/adult will be closed for good", shown)
            self.assertIn("not done", shown)
        self.assertEqual(self.state(), "ACTIVE")
        self.server.ctl(*close, expect=2)
        self.server.ctl("session", "close", "adult/run-1", "--reason", "a test", expect=2)
        self.server.ctl("budget", "supersede", "adult", "next", "--epsilon", "2", "--delta", "1e-5", "--reason", "a",
                        expect=2)
        self.server.ctl("token", "revoke", "none", expect=2)
        self.assertEqual(self.state(), "ACTIVE")
        self.assertEqual(self.on_terminal(*close, typed="Yes")[0], 0)
        self.assertEqual(self.state(), "CLOSED")

    def test_watch_redraws_on_every_change_until_ctrl_c(self):
        for command, seen in ((("budget", "get", "adult"), "accepted"), (("session", "get", "adult/run-1"), "x gaussian 40"),
                              (("budget", "list"), "adult")):
            with Screen(self.server, *command, "--watch") as screen:
                first = screen.wait_for("Ctrl-C ends the watch.")
                self.assertIn(seen, first)
                self.assertIn(ESCAPE + "[H", first)
                self.charge("--attempt", "1")
                second = screen.wait_for("Ctrl-C ends the watch.")
                self.assertIn(ESCAPE + "[H", second)
                self.assertNotEqual(first, second)
                screen.type("\x03")
                code, rest = screen.end()
                self.assertEqual(code, 0, rest)

    def test_watch_prints_json_lines_in_a_pipe(self):
        command = [self.server.epsctl, "--server", self.server.grpc, "budget", "get", "adult", "--watch"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as watcher:
            try:
                before = json.loads(watcher.stdout.readline())
                self.charge("--attempt", "1")
                after = json.loads(watcher.stdout.readline())
                self.assertEqual(int(after["acceptedChargeCount"]), int(before["acceptedChargeCount"]) + 1)
                watcher.send_signal(signal.SIGINT)
                self.assertEqual((watcher.wait(WAIT_SECONDS), watcher.stdout.read()), (0, ""))
            finally:
                watcher.kill()

    def test_a_watched_list_tells_of_new_budgets(self):
        command = [self.server.epsctl, "--server", self.server.grpc, "budget", "list", "-w", "--limit", "2"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as watcher:
            try:
                self.assertEqual(json.loads(watcher.stdout.readline())["name"], "budgets/adult")
                self.create("digits")
                self.assertEqual(json.loads(watcher.stdout.readline())["name"], "budgets/digits")
                self.assertEqual((watcher.wait(WAIT_SECONDS), watcher.stdout.read()), (0, ""))
            finally:
                watcher.kill()

    def test_watch_takes_no_csv_and_ends_with_what_is_not_there(self):
        self.server.ctl("budget", "list", "--watch", "-o", "csv", expect=2)
        self.server.ctl("budget", "get", "none", "--watch", expect=5)
        self.server.ctl("budget", "get", "adult", "--limit", "1", expect=2)


if __name__ == "__main__":
    TerminalTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
