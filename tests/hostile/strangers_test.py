"""Strangers at the port of gRPC, beside a client that charges: strangers_test.py BUILD_DIR [--attack NAME]
[--seconds N] [--measure]

Each attack of attacks.py runs against a server that wants tokens and may open 1,024 files. Afterwards, and meanwhile, the
client with a token is served, readiness says so, and the server has not grown by more than 64 MiB in all. --measure
prints what was seen and asserts nothing of the client's times, which are for a quiet machine."""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(ROOT, "client", "python"), os.path.join(ROOT, "tests", "end_to_end")]

from attacks import ATTACKS, connection_churn  # noqa: E402
from served_ledger import ServedLedger  # noqa: E402

import epsledger  # noqa: E402
from epsledger.budget import Cap  # noqa: E402
from epsledger.events import Gaussian  # noqa: E402

MAX_GROWTH_BYTES = 64 << 20
FILES = 1024
SECONDS = 1.0
CHARGES = 500


class TokenLedger(ServedLedger):
    """A server that wants tokens, and the token of an ADMIN."""

    def _prepare(self, data_dir):
        said = subprocess.run([self.epsledgerd, "token", "create", "--data-dir", data_dir, "--tenant", "victim", "--role",
                               "admin", "--days", "1"], check=True, capture_output=True, text=True)
        self.token = said.stdout.strip()


def resident_bytes(pid):
    with open("/proc/%d/statm" % pid, encoding="utf-8") as stream:
        return int(stream.read().split()[1]) * resource.getpagesize()


def charge_for_ever(address, token):
    """The client, in a process of its own: a line for each charge, the milliseconds that it took or why it failed."""
    with epsledger.connect(address=address, transport="grpc", token=token) as client:
        session = client.open(session="run", budget="people")
        while True:
            began = time.perf_counter()
            try:
                session.charge(Gaussian(noise_multiplier=1000))
                print(1e3 * (time.perf_counter() - began), flush=True)
            except epsledger.EpsledgerError as error:
                print("failed: %s" % error, flush=True)


def come_for_ever(address, token):
    """New clients, one after the other, in a process of their own: a line for each that was let in, or why it was not."""
    while True:
        try:
            # They get the processor's leavings, so what they cannot do at once says nothing of the server.
            come(address, token, epsledger.Retry(call_timeout=60, first_contact_timeout=60))
            print("let in", flush=True)
        except epsledger.EpsledgerError as error:
            print("failed: %s" % error, flush=True)


def come(address, token, retry=epsledger.Retry()):
    with epsledger.connect(address=address, transport="grpc", token=token, retry=retry) as late:
        if not late.budget("people").cells:
            raise ValueError("a budget without cells")


def giving_way(*arguments):
    """A command of Python that takes what others leave of this machine's processors, as one on another machine would."""
    return ["chrt", "--idle", "0", sys.executable, "-B", *arguments]


class Victim:
    """Charges one step after the other, each a call, and says how long each took."""

    def __init__(self, server):
        self._process = subprocess.Popen(
            [sys.executable, "-B", os.path.abspath(__file__), "--victim", server.grpc],
            env=dict(os.environ, EPSLEDGER_TOKEN=server.token), stdout=subprocess.PIPE, text=True)
        self._lock = threading.Lock()
        self._times = []
        self.failures = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        with self._process.stdout:
            for line in self._process.stdout:
                with self._lock:
                    if line.startswith("failed"):
                        self.failures.append(line)
                    else:
                        self._times.append(float(line))

    def wait_for(self, count):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with self._lock:
                if self.failures or len(self._times) >= count:
                    return
            time.sleep(0.02)

    def take(self):
        """What was answered since the last time."""
        with self._lock:
            times, self._times = self._times, []
        return times

    def stop(self):
        self._process.terminate()
        self._process.wait()
        self._reader.join()


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))] if times else float("nan")


class StrangersTest(unittest.TestCase):
    build = None
    attacks = ATTACKS
    seconds = SECONDS
    measure = False

    def test_no_stranger_stops_a_client_or_fills_the_memory(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if not self.measure:
            self.assertGreater(hard, 2 * FILES, "this test opens more files than the server may")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with TokenLedger(self.build) as server:
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
            self._run(server)

    def _attack(self, server, attack):
        """The most memory that the server had meanwhile, and how far the attack got. While connections are made and
        dropped, new clients are let in."""
        attacker = subprocess.Popen(
            giving_way(os.path.join(os.path.dirname(os.path.abspath(__file__)), "attacks.py"), attack.__name__, server.grpc,
                       str(self.seconds)), stdout=subprocess.PIPE, text=True)
        newcomers = subprocess.Popen(
            giving_way(os.path.abspath(__file__), "--newcomers", server.grpc), env=dict(os.environ, EPSLEDGER_TOKEN=server.token),
            stdout=subprocess.PIPE, text=True) if attack is connection_churn else None
        largest = 0
        while attacker.poll() is None:
            largest = max(largest, resident_bytes(server.pid))
            time.sleep(0.02)
        said = attacker.communicate()[0].strip()
        if newcomers is not None:
            first = newcomers.stdout.readline()  # one at least, however short the attack was
            newcomers.terminate()
            let_in = first + newcomers.communicate()[0]
            self.assertNotIn("failed", let_in)
            self.assertIn("let in", let_in)
        self.assertEqual(attacker.returncode, 0, "%s could not be made" % attack.__name__)
        return largest, said

    def _run(self, server):
        with epsledger.connect(address=server.grpc, transport="grpc", token=server.token) as admin:
            admin.create_budget(name="people", cap=Cap.zcdp(rho=10 ** 6), privacy_unit="person")
        victim = Victim(server)
        try:
            victim.wait_for(CHARGES)
            victim.take()  # of a start
            victim.wait_for(CHARGES)
            quiet = victim.take()
            self.assertEqual(victim.failures, [])
            start = peak = resident_bytes(server.pid)
            rows = []
            for attack in self.attacks:
                victim.take()
                largest, said = self._attack(server, attack)
                peak = max(peak, largest)
                times = victim.take()
                rows.append((attack.__name__, (largest - start) / 2 ** 20, len(times), percentile(times, 0.5),
                             percentile(times, 0.99), said))
                self.assertEqual(victim.failures, [], attack.__name__)
                self.assertGreater(len(times), 0, "no charge was answered during " + attack.__name__)
                self.assertEqual(server.get("/readyz")[0], 200, attack.__name__)
            # A new client is served too, not only the one that was there before.
            come(server.grpc, server.token)
        finally:
            victim.stop()
        print("| attack | memory grew by, MiB | charges | p50 ms (quiet %.1f) | p99 ms (quiet %.1f) | how far it got |"
              % (statistics.median(quiet), percentile(quiet, 0.99)))
        print("|---|---|---|---|---|---|")
        for name, growth, charges, middle, tail, how in rows:
            print("| %s | %.1f | %d | %.1f | %.1f | %s |" % (name, growth, charges, middle, tail, how))
        if not self.measure:
            self.assertLess(peak - start, MAX_GROWTH_BYTES)


if __name__ == "__main__" and sys.argv[1:2] == ["--victim"]:
    charge_for_ever(sys.argv[2], os.environ["EPSLEDGER_TOKEN"])
elif __name__ == "__main__" and sys.argv[1:2] == ["--newcomers"]:
    come_for_ever(sys.argv[2], os.environ["EPSLEDGER_TOKEN"])
elif __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--attack", action="append", choices=[attack.__name__ for attack in ATTACKS])
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each attack")
    parser.add_argument("--measure", action="store_true", help="print what is seen, also where it is too much")
    options = parser.parse_args()
    StrangersTest.build = os.path.abspath(options.build)
    StrangersTest.seconds = options.seconds
    StrangersTest.measure = options.measure
    if options.attack:
        StrangersTest.attacks = [attack for attack in ATTACKS if attack.__name__ in options.attack]
    unittest.main(argv=sys.argv[:1])
