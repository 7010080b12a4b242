"""Back up, restore, upgrade: the drills of docker/OPERATIONS.md on real servers: backup_test.py BUILD_DIR

epsledger-backup and epsledger-restore are the scripts that are installed with the server. What must come back is
compared by the heads of the ledgers, which differ if one bit of the history does.
"""
import base64
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PACKAGE = os.path.join(ROOT, "cmake", "package")
sys.path.insert(0, os.path.join(ROOT, "client", "python"))

from served_ledger import ServedLedger  # noqa: E402

import epsledger  # noqa: E402
from epsledger.events import Gaussian  # noqa: E402

STEP = Gaussian(noise_multiplier=10)  # rho 1/200
STEPS_THAT_FIT = 12
CAP = "0.0601"


class StoppableLedger(ServedLedger):
    """A server that is stopped and started by hand, on the data directory that is there then."""

    def start(self, program=None):
        addresses = os.path.join(self._folder.name, "addresses")
        if os.path.exists(addresses):
            os.unlink(addresses)
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                [program or self.epsledgerd, "--data-dir", self.data_dir, "--listen", self.grpc, "--http-listen",
                 self.http, "--address-file", addresses], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self._wait_for(addresses)

    def folder(self, name):
        return os.path.join(self._folder.name, name)

    def run(self, *command, expect=0):
        """What an operator's command prints, on either stream."""
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600,
                              env=dict(os.environ, EPSLEDGERD=self.epsledgerd))
        if done.returncode != expect:
            raise AssertionError("%s ended with %d, not %d: %s%s" % (command, done.returncode, expect, done.stdout, done.stderr))
        return (done.stdout + done.stderr).strip()

    def backup(self, expect=0):
        return self.run(os.path.join(PACKAGE, "epsledger-backup"), self.data_dir, self.folder("backups"), expect=expect)

    def restore(self, backup, expect=0):
        return self.run(os.path.join(PACKAGE, "epsledger-restore"), backup, self.data_dir, expect=expect)

    def lose_everything(self):
        os.rename(self.data_dir, self.folder("lost.%d" % len(os.listdir(self._folder.name))))

    def head(self):
        head = json.loads(self.ctl("-o", "json", "ledger", "head", "people"))
        return int(head["sequence"]), base64.b64decode(head["hash"]).hex()


def heads_of(backup):
    """name of a ledger -> (entries, hash)"""
    with open(os.path.join(backup, "heads"), encoding="utf-8") as stream:
        return {name: (int(count), head) for name, count, head in re.findall(
            r"^(\S+): verified, (\d+) entries, head ([0-9a-f]{64}), Merkle root [0-9a-f]{64}$", stream.read(), re.MULTILINE)}


class Load:
    """Batches of charges from several threads, each counted once it is acknowledged."""

    BATCH = 8

    def __init__(self, server, budget, workers):
        self.acknowledged = 0
        self.errors = []
        self._server = server
        self._budget = budget
        self._sequence = 0
        self._changed = threading.Condition()
        self._paused = False
        self._busy = 0
        self._ended = False
        server.ctl("session", "create", budget + "/load", "--relation", "add-or-remove-one", "--no-own-cap")
        opened = server.post("SessionService/OpenAttempt", {"session": "budgets/%s/sessions/load" % budget})
        self._attempt = opened["name"]
        self._threads = [threading.Thread(target=self._charge, args=(number,)) for number in range(workers)]
        for thread in self._threads:
            thread.start()

    def _charge(self, worker):
        number = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or not self._paused)
                if self._ended:
                    return
                self._busy += 1
            number += 1
            items = [{"chargeId": "%d-%d-%d" % (worker, number, i), "count": "1",
                      "event": {"gaussian": {"noiseMultiplier": 1000}}} for i in range(self.BATCH)]
            try:
                answer = self._server.post("ChargeService/BatchCharge", {"attempt": self._attempt, "items": items,
                                                                                "mode": "ALL_OR_NOTHING"})
                sequence = max(int(item["accepted"]["sequence"]) for item in answer["results"])
            except Exception as error:  # noqa: BLE001  whatever it is, the test fails with it
                with self._changed:
                    self.errors.append(repr(error))
                    self._busy -= 1
                    self._changed.notify_all()
                return
            with self._changed:
                self.acknowledged += 1
                self._sequence = max(self._sequence, sequence)
                self._busy -= 1
                self._changed.notify_all()

    def newest_sequence(self):
        with self._changed:
            return self._sequence

    def wait_for(self, count):
        with self._changed:
            if not self._changed.wait_for(lambda: self.acknowledged >= count or self.errors, 300) or self.errors:
                raise AssertionError("%d of %d batches: %s" % (self.acknowledged, count, self.errors))

    def pause(self):
        """Returns when nothing is under way."""
        with self._changed:
            self._paused = True
            self._changed.wait_for(lambda: self._busy == 0)

    def go_on(self):
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def stop(self):
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()


class BackupTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.server = StoppableLedger(self.build)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.server.ctl("budget", "create", "people", "--rho", CAP, "--relation", "add-or-remove-one",
                        "--privacy-unit", "person")

    def trainer(self, session="run"):
        client = epsledger.connect(address="http://" + self.server.http,
                                   retry=epsledger.Retry(max_tries=200, initial_backoff=0.01, max_backoff=0.05))
        self.addCleanup(client.close)
        return client.open(session=session, budget="people", delta=1e-5)

    def charged(self):
        return int(json.loads(self.server.ctl("-o", "json", "budget", "get", "people"))["acceptedChargeCount"])

    def spend_what_is_left(self, session):
        steps = sum(1 for _ in session.guard(range(100), STEP))
        self.assertTrue(session.exhausted)
        return steps

    def assert_told_of_another_incarnation(self, session):
        with self.assertRaises(epsledger.CallFailed) as told:
            session.step(STEP)
        self.assertEqual(told.exception.code, "FAILED_PRECONDITION")
        self.assertIn("incarnation", str(told.exception))

    def incarnations(self):
        return json.loads(self.server.ctl("-o", "json", "server", "info"))["incarnations"]

    def statement(self):
        file = self.server.folder("statement.json")
        self.server.ctl("statement", "get", "people", "--delta", "1e-5", "--save", file)
        info = json.loads(self.server.ctl("-o", "json", "server", "info"))
        key = next(value for name, value in info.items() if "key" in name.lower())
        return file, base64.b64decode(key).hex()

    def test_a_restored_backup_is_the_ledger_of_its_hour_and_goes_on(self):
        session = self.trainer()
        for _ in range(5):
            session.step(STEP)
        statement, key = self.statement()
        head = self.server.head()
        self.server.stop()
        backup = self.server.backup()
        self.assertEqual(heads_of(backup)["budgets/people"], head)
        self.server.lose_everything()
        self.server.restore(backup)
        self.server.start()
        self.assertEqual(self.server.head(), head)
        # Who was there is told that this is another incarnation, before anything is charged.
        self.assert_told_of_another_incarnation(session)
        self.assertEqual(self.charged(), 5)
        # Started anew it goes on in the same session, to the very same cap.
        self.assertEqual(self.spend_what_is_left(self.trainer()), STEPS_THAT_FIT - 5)
        self.assertEqual(self.charged(), STEPS_THAT_FIT)
        # With the key in it: what was signed before is signed by the same server still.
        self.server.ctl("statement", "verify", statement, "--public-key", key)
        self.assertEqual(self.statement()[1], key)

    def test_an_old_backup_is_found_out_by_who_saw_more_and_writes_nothing_then(self):
        session = self.trainer()
        session.step(STEP)
        self.server.stop()
        yesterday = self.server.backup()
        self.server.start()
        for _ in range(4):
            session.step(STEP)
        self.server.stop()
        today = self.server.backup()
        self.server.lose_everything()
        self.server.restore(yesterday)
        self.server.start()
        self.assertEqual(self.charged(), 1)
        with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
            session.step(STEP)
        self.assertEqual(unknown.exception.code, "DATA_LOSS")
        # Nor does anybody else get a charge; reading goes on, for whoever looks into it.
        with self.assertRaises(epsledger.LedgerBehind):
            self.trainer("another-run")
        self.assertEqual(self.charged(), 1)
        self.assertIn("restored from an old backup", self.refused_charge())
        # The remedy is the newest copy that there is: with it the client that found out goes on.
        self.server.stop()
        self.server.lose_everything()
        self.server.restore(today)
        self.server.start()
        session = self.trainer()
        self.assertEqual(self.spend_what_is_left(session), STEPS_THAT_FIT - 5)

    def refused_charge(self):
        done = subprocess.run([self.server.epsctl, "--server", self.server.grpc, "--timeout", "5", "charge", "create",
                               "people/run", "--open-attempt", "--gaussian", "10"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        self.assertNotIn(done.returncode, (0, 3))
        return done.stderr

    def test_what_was_lost_with_no_copy_of_it_is_charged_again(self):
        session = self.trainer()
        self.server.stop()
        yesterday = self.server.backup()
        self.server.start()
        for _ in range(4):
            session.step(STEP)
        self.server.stop()
        self.server.lose_everything()
        self.server.restore(yesterday)
        self.server.start()
        with self.assertRaises(epsledger.OutcomeUnknown):
            session.step(STEP)
        # A restart does not make it forget that something is missing.
        self.server.stop()
        self.server.start()
        self.assertIn("lift-quarantine", self.refused_charge())
        quarantines = json.loads(self.server.ctl("-o", "json", "server", "info"))["quarantines"]
        self.assertEqual([(one["rootBudget"], one["canBeLifted"]) for one in quarantines], [("budgets/people", True)])
        self.server.ctl("ledger", "lift-quarantine", "people", "--reason", "four charges of 3 January are charged by hand")
        self.assertEqual(json.loads(self.server.ctl("-o", "json", "server", "info"))["quarantines"], [])
        # Four are forgotten: whoever released them charges them first.
        self.server.ctl("session", "create", "people/lost", "--relation", "add-or-remove-one", "--no-own-cap")
        self.server.ctl("charge", "create", "people/lost", "--open-attempt", "--charge-id", "lost-in-restore",
                        "--gaussian", "10", "--count", "4")
        # Who saw them stays refused, and stops nobody else any more.
        with self.assertRaises(epsledger.OutcomeUnknown) as known:
            session.step(STEP)
        self.assertIn("known to be lost", str(known.exception))
        self.assertEqual(self.spend_what_is_left(self.trainer("next-run")), STEPS_THAT_FIT - 4)
        self.server.stop()
        self.server.start()
        self.assertEqual(json.loads(self.server.ctl("-o", "json", "server", "info"))["quarantines"], [])
        self.server.ctl("ledger", "lift-quarantine", "people", "--reason", "again", expect=3)

    def test_a_folder_behind_a_symbolic_link_is_copied_and_not_the_link(self):
        self.trainer().step(STEP)
        head = self.server.head()
        self.server.stop()
        real = self.server.folder("on-another-disk")
        os.rename(self.server.data_dir, real)
        os.symlink(real, self.server.data_dir)
        backup = self.server.backup()
        self.assertFalse(os.path.islink(backup))
        self.assertNotIn("heads", os.listdir(real))
        files = sorted(os.listdir(backup))
        os.unlink(self.server.data_dir)
        shutil.rmtree(real)
        latest = self.server.folder("latest")
        os.symlink(backup, latest)
        self.server.restore(latest)
        self.assertEqual(sorted(os.listdir(backup)), files)  # it stays as it is
        self.server.start()
        self.assertEqual(self.server.head(), head)

    @unittest.skipIf(os.geteuid() != 0, "files are given to another user by root alone")
    def test_what_is_restored_belongs_to_the_owner_of_the_folder(self):
        self.server.stop()
        backup = self.server.backup()
        self.server.lose_everything()
        os.mkdir(self.server.data_dir, 0o700)
        os.chown(self.server.data_dir, 12345, 12346)
        self.server.restore(backup)
        for name in os.listdir(self.server.data_dir):
            status = os.stat(os.path.join(self.server.data_dir, name))
            self.assertEqual((name, status.st_uid, status.st_gid), (name, 12345, 12346))

    def test_backups_under_load_have_all_that_was_acknowledged_before_each(self):
        self.server.ctl("budget", "create", "wide", "--rho", "1000", "--relation", "add-or-remove-one", "--privacy-unit",
                        "person")
        load = Load(self.server, "wide", workers=4)
        self.addCleanup(load.stop)
        backups = []
        for number in range(5):
            load.wait_for(load.acknowledged + 400)  # some of them behind a checkpoint
            before = load.newest_sequence()
            if number == 3:  # the process may go in the middle of it
                load.pause()
                self.server.kill()
                backups.append((before, self.server.backup()))
                self.server.start()
                load.go_on()
            else:
                backups.append((before, self.server.backup()))
        load.stop()
        self.assertEqual(load.errors, [])
        self.assertEqual(self.server.get("/readyz")[0], 200)
        for before, backup in backups:
            self.assertEqual(sorted(os.listdir(backup)), ["heads", "ledger.sqlite", "ledger.sqlite-anchor", "statement.key"])
            self.assertGreaterEqual(heads_of(backup)["budgets/wide"][0], before)
            said = self.server.run(self.server.epsledgerd, "restore", "--from", backup, "--drill")
            self.assertIn("the drill went well: 2 budgets", said)
        self.assertEqual(len(os.listdir(self.server.folder("backups"))), len(backups))  # a drill leaves nothing
        # What the newest one lacks is what came after it.
        self.server.stop()
        self.server.lose_everything()
        self.server.restore(backups[-1][1])
        self.server.start()
        self.assertEqual([life["reason"].split(" ")[0] for life in self.incarnations()], ["first", "restored"])

    def test_a_log_grows_while_it_is_copied_and_is_moved_after_it(self):
        session = self.trainer()
        session.step(STEP)
        anchor = os.open(os.path.join(self.server.data_dir, "ledger.sqlite-anchor"), os.O_RDONLY)
        self.addCleanup(os.close, anchor)
        log = os.path.join(self.server.data_dir, "ledger.sqlite-wal")
        fcntl.flock(anchor, fcntl.LOCK_SH)  # as somebody who copies and does not come to an end
        self.server.ctl("budget", "create", "wide", "--rho", "1000", "--relation", "add-or-remove-one", "--privacy-unit",
                        "person")
        load = Load(self.server, "wide", workers=4)
        self.addCleanup(load.stop)
        load.wait_for(600)
        self.assertGreater(os.path.getsize(log), 7 << 20)  # a checkpoint comes after 4 MiB
        # A server stops and starts meanwhile.
        load.pause()
        head = self.server.head()
        self.server.stop()
        self.server.start()
        self.assertEqual(self.server.head(), head)
        self.assertGreater(os.path.getsize(log), 7 << 20)
        fcntl.flock(anchor, fcntl.LOCK_UN)
        load.go_on()
        load.wait_for(load.acknowledged + 200)
        load.stop()
        self.assertEqual(load.errors, [])
        self.server.stop()
        self.assertFalse(os.path.exists(log))

    def test_after_kill_9_a_backup_has_all_that_was_acknowledged(self):
        session = self.trainer()
        for _ in range(3):
            session.step(STEP)
        head = self.server.head()
        self.server._process.kill()
        self.server._process.wait()
        self.assertEqual(heads_of(self.server.backup())["budgets/people"], head)

    def test_nothing_is_restored_over_a_ledger(self):
        self.server.stop()
        backup = self.server.backup()
        self.assertIn("move it away", self.server.restore(backup, expect=1))

    def test_a_backup_that_is_not_as_it_was_taken_is_not_restored(self):
        self.trainer().step(STEP)
        self.server.stop()
        backup = self.server.backup()
        self.server.lose_everything()
        database = os.path.join(backup, "ledger.sqlite")
        with open(database, "rb") as stream:
            content = bytearray(stream.read())
        # The number of the noise in the newest charge, 10.0 as its eight bytes.
        place = content.rindex(bytes.fromhex("4024000000000000"))
        content[place + 2] ^= 1
        with open(database, "wb") as stream:
            stream.write(content)
        self.server.restore(backup, expect=1)
        self.assertFalse(os.path.exists(os.path.join(self.server.data_dir, "ledger.sqlite")))

    def test_a_folder_that_is_copied_by_hand_is_another_incarnation(self):
        session = self.trainer()
        session.step(STEP)
        self.server.stop()
        original = self.server.folder("original")
        os.rename(self.server.data_dir, original)
        shutil.copytree(original, self.server.data_dir)
        self.server.start()
        self.assert_told_of_another_incarnation(session)
        self.assertIn("copied or restored", self.incarnations()[-1]["reason"])
        # A restart is none, and a folder that is only moved is none.
        self.server.stop()
        shutil.rmtree(self.server.data_dir)
        os.rename(original, self.server.data_dir)
        self.server.start()
        self.assertEqual(len(self.incarnations()), 1)
        session.step(STEP)

    def test_an_older_backup_under_a_newer_name_is_not_taken_for_it(self):
        session = self.trainer()
        self.server.stop()
        old = self.server.backup()
        self.server.start()
        session.step(STEP)
        self.server.stop()
        new = self.server.backup()
        self.server.lose_everything()
        shutil.copy(os.path.join(new, "heads"), os.path.join(old, "heads"))
        self.assertIn("has not the heads", self.server.restore(old, expect=1))

    def test_an_export_while_it_serves_is_a_ledger_to_go_on_with(self):
        session = self.trainer()
        for _ in range(5):
            session.step(STEP)
        file = self.server.folder("people.ledger")
        self.server.ctl("ledger", "export", "people", file)
        head = self.server.head()
        self.server.stop()
        self.server.lose_everything()
        self.assertIn(head[1], self.server.run(self.server.epsledgerd, "ledger", "verify", file))
        self.server.run(self.server.epsledgerd, "ledger", "import", file, "--data-dir", self.server.data_dir)
        self.server.start()
        self.assertEqual(self.server.head(), head)
        self.assert_told_of_another_incarnation(session)
        self.assertEqual(self.spend_what_is_left(self.trainer()), STEPS_THAT_FIT - 5)

    def test_an_upgrade_keeps_the_ledger_and_the_sessions_that_run(self):
        session = self.trainer()
        for _ in range(5):
            session.step(STEP)
        head = self.server.head()
        self.server.stop()
        self.server.backup()
        new_program = self.server.folder("epsledgerd-of-the-new-version")
        shutil.copy(self.server.epsledgerd, new_program)
        # Before it serves: the new program replays what the old one wrote, and comes to the same heads.
        self.assertIn(head[1], self.server.run(new_program, "ledger", "verify", "--data-dir", self.server.data_dir))
        self.server.start(new_program)
        self.assertEqual(self.server.head(), head)
        self.assertEqual(self.spend_what_is_left(session), STEPS_THAT_FIT - 5)


if __name__ == "__main__":
    BackupTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
