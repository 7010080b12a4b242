"""A disk that is full under a real server, and has room again: full_disk_test.py BUILD_DIR

The disk is a tmpfs in a mount namespace of the test's own. Ends with 77 where neither root nor a user namespace
can make one.
"""
import errno
import json
import os
import shutil
import subprocess
import sys
import time
import unittest
import urllib.error

from served_ledger import ServedLedger

SIZE = 8 << 20
ROOM_TO_LEAVE = 24 << 10
PATIENCE_SECONDS = 60


class LedgerOnSmallDisk(ServedLedger):
    def _prepare(self, data_dir):
        os.mkdir(data_dir, 0o700)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d,mode=0700" % SIZE, "tmpfs", data_dir], check=True)
        self.disk = data_dir

    def __exit__(self, *arguments):
        self.stop()
        subprocess.run(["umount", self.disk], check=False)
        super().__exit__(*arguments)

    def fill(self):
        """Takes all room but a little, and then what is left as far as charges do not."""
        free = os.statvfs(self.disk)
        with open(os.path.join(self.disk, "filler"), "wb") as stream:
            stream.write(b"x" * (free.f_bavail * free.f_bsize - ROOM_TO_LEAVE))

    def make_room(self):
        os.unlink(os.path.join(self.disk, "filler"))

    def charge(self, name):
        """(exit code, what it says)"""
        done = subprocess.run([self.epsctl, "--server", self.grpc, "--timeout", "3", "charge", "create", "people/run",
                               "--attempt", "1", "--charge-id", name, "--pure-dp", "0.001"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        return done.returncode, done.stderr

    def why_not_serving(self):
        return json.loads(self.ctl("-o", "json", "server", "info")).get("notServingReason", "")

    def wait_until_serving(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.why_not_serving():
            if time.monotonic() > deadline:
                raise AssertionError("still not serving: " + self.why_not_serving())
            time.sleep(0.05)


class FullDiskTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.server = LedgerOnSmallDisk(self.build)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.server.ctl("budget", "create", "people", "--pure-epsilon", "10", "--relation", "add-or-remove-one",
                        "--privacy-unit", "person")
        self.server.ctl("session", "create", "people/run", "--relation", "add-or-remove-one", "--no-own-cap")
        self.server.ctl("charge", "create", "people/run", "--open-attempt", "--charge-id", "first", "--pure-dp", "0.001")
        self.acknowledged = {"first"}

    def charge_until_refused(self):
        for number in range(100000):
            name = "charge-%d" % number
            code, said = self.server.charge(name)
            if code != 0:
                return said
            self.acknowledged.add(name)
        raise AssertionError("the disk does not fill")

    def charges(self):
        lines = self.server.ctl("-o", "jsonl", "charge", "list", "people/run").splitlines()
        return {json.loads(line)["name"].rsplit("/", 1)[-1] for line in lines}

    def reads_go_on(self):
        self.assertGreaterEqual(self.charges(), self.acknowledged)
        self.server.ctl("ledger", "verify", "people")
        self.server.ctl("ledger", "export", "people", os.path.join(self.server._folder.name, "people.ledger"))
        self.server.ctl("statement", "get", "people", "--delta", "1e-6")
        self.assertEqual(self.server.get("/metrics")[0], 200)
        status, _, body = self.server.get("/readyz")
        self.assertEqual(status, 503)
        self.assertIn("can only be read", body)

    def test_it_is_read_while_it_is_full_and_charged_when_there_is_room(self):
        self.server.fill()
        self.assertIn("can only be read", self.charge_until_refused())
        self.reads_go_on()
        self.assertIn("full", self.server.why_not_serving())
        self.server.make_room()
        self.server.wait_until_serving()
        self.assertEqual(self.server.charge("after")[0], 0)
        self.assertLessEqual(self.acknowledged | {"after"}, self.charges())
        # What was refused meanwhile was not charged, or is charged under its own key.
        self.server.ctl("ledger", "verify", "people")
        self.server.kill()
        self.server.start_again()
        self.assertLessEqual(self.acknowledged | {"after"}, self.charges())

    def test_a_server_starts_on_a_full_disk_and_goes_on_when_there_is_room(self):
        self.server.fill()
        self.charge_until_refused()
        self.server.kill()
        try:
            with open(os.path.join(self.server.disk, "filler"), "ab", buffering=0) as stream:  # to the last byte
                while stream.write(b"x" * 4096):
                    pass
        except OSError as error:
            self.assertEqual(error.errno, errno.ENOSPC)
        self.server.start_again()
        self.reads_go_on()
        self.assertNotEqual(self.server.charge("refused")[0], 0)
        self.server.make_room()
        self.server.wait_until_serving()
        self.assertEqual(self.server.charge("after")[0], 0)
        self.assertLessEqual(self.acknowledged | {"after"}, self.charges())


    def test_what_a_client_proves_to_be_lost_is_not_forgotten_for_want_of_room(self):
        yesterday = self.server.data_dir + ".yesterday"
        self.server.stop()
        shutil.copytree(self.server.data_dir, yesterday)
        self.server.start_again()
        charge = {"attempt": "budgets/people/sessions/run/attempts/1", "count": "1", "event": {"pureDp": {"epsilon": 0.001}}}
        seen = self.server.post("ChargeService/Charge", {**charge, "chargeId": "lost"})
        head = {"rootBudget": "budgets/people", "sequence": seen["sequence"], "hash": seen["hash"], "tag": seen["headTag"]}
        self.server.stop()
        for name in os.listdir(self.server.data_dir):
            os.unlink(os.path.join(self.server.data_dir, name))
        for name in os.listdir(yesterday):
            shutil.copy(os.path.join(yesterday, name), os.path.join(self.server.data_dir, name))
        self.server.start_again()
        self.server.fill()
        self.assertIn("can only be read", self.charge_until_refused())
        with self.assertRaises(urllib.error.HTTPError) as told:
            self.server.post("ChargeService/Charge", {**charge, "chargeId": "next", "lastSeenHead": head})
        with told.exception as error:
            self.assertIn(b"LEDGER_DAMAGED", error.read())
        self.server.make_room()
        self.server.wait_until_serving()
        self.assertNotEqual(self.server.charge("after")[0], 0)
        self.server.kill()
        self.server.start_again()
        self.assertNotEqual(self.server.charge("after-the-restart")[0], 0)
        info = json.loads(self.server.ctl("-o", "json", "server", "info"))
        self.assertEqual([one["rootBudget"] for one in info["quarantines"]], ["budgets/people"])


if __name__ == "__main__":
    if os.environ.get("EPSLEDGER_OWN_MOUNTS") != "1":
        inside = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
        if subprocess.run(inside + ["sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True).returncode != 0:
            print("no mount namespace can be made here")
            sys.exit(77)
        os.environ["EPSLEDGER_OWN_MOUNTS"] = "1"
        os.execvp(inside[0], inside + [sys.executable, "-B", *sys.argv])
    FullDiskTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
