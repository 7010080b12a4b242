"""Heads outside of the server: published, and held against a ledger that is an old copy: published_heads_test.py BUILD_DIR

EPSLEDGER_MUTILATIONS sets how many files of heads are damaged, one byte each (default 100; the long form is 2000).
"""
import base64
import http.server
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

from served_ledger import ServedLedger

PATIENCE_SECONDS = 60
CHARGE = ("--gaussian", "10")


class Receiver:
    """Takes the lines that are sent to it, and says no, to `refused` of them, as long as `refuses`."""

    def __enter__(self):
        self.lines = []
        self.refuses = False
        self.refused = 0
        self.changed = threading.Condition()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802  the name that http.server calls
                line = self.rfile.read(int(self.headers["content-length"])).decode()
                with receiver.changed:
                    if receiver.refuses:
                        receiver.refused += 1
                    else:
                        receiver.lines.append(line)
                    self.send_response(503 if receiver.refuses else 204)
                    receiver.changed.notify_all()
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/heads" % self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class PublishedHeadsTest(unittest.TestCase):
    build = None

    def serve(self, folder, *flags):
        self.heads = os.path.join(folder, "heads.jsonl")
        server = ServedLedger(self.build, flags=["--publish-heads", self.heads, "--publish-heads-interval", "1", *flags])
        server.__enter__()
        self.addCleanup(server.__exit__)
        for budget in ("people", "other"):
            server.ctl("budget", "create", budget, "--rho", "1", "--relation", "add-or-remove-one", "--privacy-unit", "person")
            server.ctl("session", "create", budget + "/run", "--relation", "add-or-remove-one", "--no-own-cap")
            server.ctl("charge", "create", budget + "/run", "--open-attempt", "--charge-id", "first", *CHARGE)
        return server

    def scratch(self):
        folder = os.path.join(os.environ.get("TMPDIR", "/tmp"), "epsledger-heads.%d.%s" % (os.getpid(), self._testMethodName))
        os.mkdir(folder, 0o700)
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def lines(self):
        if not os.path.exists(self.heads):
            return []
        with open(self.heads, encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]

    def charge(self, server, budget, name, expect=0):
        return server.ctl("--timeout", "5", "charge", "create", budget + "/run", "--attempt", "1", "--charge-id", name, *CHARGE,
                          expect=expect)

    def await_head(self, head, lines):
        wanted = (head["rootBudget"].removeprefix("budgets/"), int(head["sequence"]), base64.b64decode(head["hash"]).hex())
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any((one["ledger"], one["sequence"], one["hash"]) == wanted for line in lines() for one in line["heads"]):
            self.assertLess(time.monotonic(), deadline, "the head was not published")
            time.sleep(0.05)

    def verify(self, server, *flags, expect=0):
        done = subprocess.run([server.epsledgerd, "ledger", "verify", "--data-dir", server.data_dir, *flags], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_heads_go_to_the_file_and_to_the_url_and_are_what_the_ledger_has(self):
        with Receiver() as receiver:
            server = self.serve(self.scratch(), "--publish-heads-url", receiver.url)
            self.await_head(server.head_of("people"), self.lines)
            self.await_head(server.head_of("people"), lambda: [json.loads(line) for line in receiver.lines])
            # What could not be sent is not forgotten: the next line has it.
            receiver.refuses = True
            self.charge(server, "people", "while-nobody-listens")
            self.await_head(server.head_of("people"), self.lines)
            with receiver.changed:
                self.assertTrue(receiver.changed.wait_for(lambda: receiver.refused > 0, PATIENCE_SECONDS))
            receiver.refuses = False
            self.await_head(server.head_of("people"), lambda: [json.loads(line) for line in receiver.lines])
            self.charge(server, "other", "the-last-one")
            last = server.head_of("other")
            server.stop()  # an orderly end publishes what there is
            self.await_head(last, self.lines)
            incarnations = {line["incarnation"] for line in self.lines()}
            self.assertEqual(len(incarnations), 1)
            self.assertIn("verified", self.verify(server, "--heads", self.heads))
            with open(server.log, encoding="utf-8") as log:
                said = log.read()
            self.assertIn("heads are not published: the answer was 503", said)
            self.assertIn("heads are published again", said)

    def test_an_old_copy_is_found_out_by_what_was_published_and_is_let_go_on_by_an_admin(self):
        server = self.serve(self.scratch())
        self.await_head(server.head_of("other"), self.lines)
        server.stop()
        shutil.copytree(server.data_dir, server.data_dir + ".yesterday")
        server.start_again()
        self.charge(server, "people", "lost")
        lost = server.head_of("people")
        server.stop()
        # start_again has not the flags of the first start: by hand what the server would publish.
        self.publish_by_serving(server)
        self.await_head(lost, self.lines)
        os.rename(server.data_dir, server.data_dir + ".original")
        os.rename(server.data_dir + ".yesterday", server.data_dir)
        said = self.verify(server, "--heads", self.heads, expect=1)
        self.assertIn("budgets/people: BAD: entry %s" % lost["sequence"], said)
        self.assertIn("was published, and is not in it", said)
        self.verify(server)  # by itself it has nothing to say
        self.start_publishing(server)
        self.charge(server, "people", "next", expect=None)
        self.assertEqual([one["rootBudget"] for one in self.quarantines(server)], ["budgets/people"])
        self.charge(server, "other", "next")
        server.ctl("ledger", "lift-quarantine", "people", "--reason", "charged by hand")
        self.charge(server, "people", "next")
        server.stop()
        self.start_publishing(server)
        self.assertEqual(self.quarantines(server), [])
        self.charge(server, "people", "after-the-next-start")
        server.stop()
        # What an admin has accepted is no fault any more, and the log says who it was.
        said = self.verify(server, "--heads", self.heads)
        self.assertIn("and that was accepted", said)
        self.assertIn("out of quarantine since", said)
        self.assertIn("charged by hand", said)
        # The original, which has everything, is not held to what its copy published.
        shutil.rmtree(server.data_dir)
        os.rename(server.data_dir + ".original", server.data_dir)
        self.assertIn("were not compared", self.verify(server, "--heads", self.heads))
        self.start_publishing(server)
        self.assertEqual(self.quarantines(server), [])

    def quarantines(self, server):
        return json.loads(server.ctl("-o", "json", "server", "info"))["quarantines"]

    def start_publishing(self, server):
        server._place += ["--publish-heads", self.heads, "--publish-heads-interval", "1"]
        try:
            server.start_again()
        finally:
            del server._place[-4:]

    def publish_by_serving(self, server):
        self.start_publishing(server)
        server.stop()

    def test_a_file_of_heads_that_was_changed_anywhere_is_no_file_of_heads(self):
        server = self.serve(self.scratch())
        self.await_head(server.head_of("other"), self.lines)
        server.stop()
        shutil.copytree(server.data_dir, server.data_dir + ".yesterday")
        self.start_publishing(server)
        self.charge(server, "people", "lost")
        server.stop()
        shutil.rmtree(server.data_dir)
        os.rename(server.data_dir + ".yesterday", server.data_dir)
        self.verify(server, "--heads", self.heads, expect=1)
        with open(self.heads, "rb") as stream:
            whole = stream.read()
        choose = random.Random(1)
        changed = self.heads + ".changed"
        for case in range(int(os.environ.get("EPSLEDGER_MUTILATIONS", "100"))):
            content = bytearray(whole)
            place = choose.randrange(len(content))
            content[place] ^= 1 << choose.randrange(8)
            with open(changed, "wb") as stream:
                stream.write(content)
            with self.subTest(case=case, place=place):
                self.verify(server, "--heads", changed, expect=1)
        for end in range(len(whole)):
            if end % 37 == 0 and whole[end - 1] != ord("\n"):
                with open(changed, "wb") as stream:
                    stream.write(whole[:end])
                with self.subTest(end=end):
                    self.verify(server, "--heads", changed, expect=1)
        # The server does not start on one either, and says which line it is.
        content = bytearray(whole)
        content[whole.index(b'"hash":"') + 8] ^= 1
        with open(self.heads, "wb") as stream:
            stream.write(content)
        with self.assertRaisesRegex(RuntimeError, "line 1: it was changed, or another key signed it"):
            self.start_publishing(server)

    def test_a_url_that_never_answers_holds_up_no_stop(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        server = self.serve(self.scratch(), "--publish-heads-url", "http://127.0.0.1:%d/" % silent.getsockname()[1])
        self.assertEqual(server.stop(), 0)

    def test_what_cannot_be_a_place_for_heads_is_refused_by_name(self):
        folder = self.scratch()
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        server = self.serve(folder)
        data = server.data_dir
        server.stop()
        for flag, value, said in (("--publish-heads", folder, "want a file"),
                                  ("--publish-heads", fifo, "want a file"),
                                  ("--publish-heads", os.path.join(folder, "none", "heads"), "there is no folder"),
                                  ("--publish-heads", os.path.join(data, "ledger.sqlite-wal"), "is a file of the ledger"),
                                  ("--address-file", os.path.join(data, "ledger.sqlite"), "is a file of the ledger"),
                                  ("--publish-heads-url", "ftp://x/", "want the URL"),
                                  ("--publish-heads-url", "garbage", "want the URL")):
            with self.subTest(flag=flag, value=value):
                done = subprocess.run([server.epsledgerd, "--data-dir", data, "--listen", "127.0.0.1:0", flag, value],
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(said, done.stderr)
        for path in (folder, fifo, "/dev/zero"):
            self.verify(server, "--heads", path, expect=1)
        self.verify(server, "--heads", self.heads)

    def test_a_file_of_another_key_is_not_believed(self):
        server = self.serve(self.scratch())
        self.await_head(server.head_of("people"), self.lines)
        server.stop()
        os.unlink(os.path.join(server.data_dir, "statement.key"))
        with self.assertRaisesRegex(RuntimeError, "another key signed it"):
            self.start_publishing(server)
        self.verify(server, "--heads", self.heads, expect=1)


if __name__ == "__main__":
    PublishedHeadsTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
