"""Many tenants, one of which means harm: tenants_test.py BUILD_DIR [--tenants N] [--seconds S] [--rate R] [--attack NAME]
[--measure]

Each tenant's token charges one step now and then, R steps a second in all, whether the ones before were answered or not.
A step is good if it is accepted within a second of when it was due. First for S seconds in quiet, then for S seconds beside
hostile_tenant.py, which gives way to others on this machine's processors as one on another machine would: the good ones
must come to .9 of the quiet ones.

    python3 tests/hostile/tenants_test.py build/release                                      # as in ctest
    python3 tests/hostile/tenants_test.py build/release --tenants 1000 --seconds 600         # the long form"""
import argparse
import http.client
import json
import os
import queue
import resource
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "end_to_end")]

from served_ledger import ServedLedger  # noqa: E402

TENANTS = 20
SECONDS = 8.0
RATE = 100.0
GOOD_SECONDS = 1.0
GOOD_SHARE = 0.9
WORKERS = 24
EVENT = {"gaussian": {"noiseMultiplier": 1000}}


class ManyTenants(ServedLedger):
    """The tokens of the ADMINs of so many tenants, and of the hostile one."""

    def __init__(self, build, count):
        super().__init__(build)
        self._count = count

    def _prepare(self, data_dir):
        def token(tenant):
            return subprocess.run([self.epsledgerd, "token", "create", "--data-dir", data_dir, "--tenant", tenant, "--role",
                                   "admin", "--days", "1"], check=True, capture_output=True, text=True).stdout.strip()
        self.tokens = [token("tenant-%d" % i) for i in range(self._count)]
        self.hostile_token = token("hostile")


class Caller:
    """One connection that calls for one tenant after the other."""

    def __init__(self, address):
        self._address = address
        self._connection = None

    def call(self, token, method, message):
        """The answer; OSError or http.client.HTTPException where there is none, ValueError where it is an error."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._address, timeout=60)
        try:
            self._connection.request("POST", "/epsledger.v1." + method, json.dumps(message),
                                     {"content-type": "application/json", "authorization": "Bearer " + token})
            answer = self._connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if answer.getheader("connection", "").lower() == "close":
            self.close()
        if answer.status != 200:
            raise ValueError("%d %s" % (answer.status, body[:200]))
        return json.loads(body)

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class Load:
    """Steps of all tenants at a rate, and how many were good."""

    def __init__(self, server, tokens, rate):
        self._server = server
        self._tokens = tokens
        self._rate = rate
        self._step = 0

    def _each(self, task):
        """task(caller, index) for all tenants, by all workers."""
        indices = queue.SimpleQueue()
        for index in range(len(self._tokens)):
            indices.put(index)
        failures = []

        def work():
            caller = Caller(self._server.http)
            try:
                while True:
                    task(caller, indices.get_nowait())
            except queue.Empty:
                pass
            except (OSError, ValueError, http.client.HTTPException) as error:
                failures.append(str(error))
            finally:
                caller.close()

        workers = [threading.Thread(target=work) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise RuntimeError(failures[0])

    def prepare(self):
        def make(caller, index):
            token = self._tokens[index]
            caller.call(token, "BudgetService/CreateBudget", {"budgetId": "people", "budget": {
                "cap": {"zcdp": {"rho": 1e6}}, "neighboringRelation": "ADD_OR_REMOVE_ONE", "privacyUnit": "person"}})
            caller.call(token, "SessionService/CreateSession", {
                "parent": "budgets/people", "sessionId": "run", "session": {
                    "mode": "ADAPTIVE", "noOwnCap": True, "neighboringRelation": "ADD_OR_REMOVE_ONE"}})
            caller.call(token, "SessionService/OpenAttempt", {"session": "budgets/people/sessions/run"})
        self._each(make)

    def run(self, seconds):
        """(steps that were due, good ones, why others were not)"""
        due = queue.Queue()
        good, bad = [], []

        def work():
            caller = Caller(self._server.http)
            while (item := due.get()) is not None:
                when, step = item
                try:
                    charge = caller.call(self._tokens[step % len(self._tokens)], "ChargeService/Charge", {
                        "attempt": "budgets/people/sessions/run/attempts/1", "chargeId": "c%d" % step, "count": 1,
                        "event": EVENT})
                    late = time.monotonic() - when
                    if charge.get("decision") != "ACCEPTED":
                        bad.append("not accepted: %s" % charge)
                    elif late > GOOD_SECONDS:
                        bad.append("%.1f s late" % late)
                    else:
                        good.append(late)
                except (OSError, ValueError, http.client.HTTPException) as error:
                    bad.append(str(error))
            caller.close()

        workers = [threading.Thread(target=work) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        began = time.monotonic()
        count = int(seconds * self._rate)
        for i in range(count):
            when = began + i / self._rate
            time.sleep(max(0.0, when - time.monotonic()))
            due.put((when, self._step))
            self._step += 1
        for _ in workers:
            due.put(None)
        for worker in workers:
            worker.join()
        return count, sorted(good), bad


class TenantsTest(unittest.TestCase):
    build = None
    tenants = TENANTS
    seconds = SECONDS
    rate = RATE
    measure = False
    attack = ()

    def test_one_hostile_tenant_takes_little_from_the_others(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with ManyTenants(self.build, self.tenants) as server:
            load = Load(server, server.tokens, self.rate)
            load.prepare()
            load.run(2)  # of a start
            quiet = load.run(self.seconds)
            hostile = subprocess.Popen(
                ["chrt", "--idle", "0", sys.executable, "-B", os.path.join(HERE, "hostile_tenant.py"), server.grpc,
                 server.hostile_token, *self.attack], stdout=subprocess.PIPE, text=True)
            try:
                self.assertEqual(hostile.stdout.readline(), "hostile\n")
                beside = load.run(self.seconds)
                self.assertIsNone(hostile.poll(), "the hostile tenant has ended")
            finally:
                hostile.kill()
                hostile.wait()
                hostile.stdout.close()
        print("| | steps due | good | p50 ms | p99 ms | of the others |")
        print("|---|---|---|---|---|---|")
        for name, (count, good, bad) in (("quiet", quiet), ("beside the hostile tenant", beside)):
            print("| %s | %d | %d | %.1f | %.1f | %s |" % (
                name, count, len(good), 1e3 * good[len(good) // 2] if good else float("nan"),
                1e3 * good[int(0.99 * len(good))] if good else float("nan"), bad[0] if bad else ""))
        if not self.measure:
            self.assertGreaterEqual(len(beside[1]), GOOD_SHARE * len(quiet[1]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--tenants", type=int, default=TENANTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="in quiet, and beside the hostile tenant")
    parser.add_argument("--rate", type=float, default=RATE, help="steps a second of all tenants together")
    parser.add_argument("--attack", action="append", default=[], help="of the hostile tenant: this alone")
    parser.add_argument("--measure", action="store_true", help="print what is seen, also where it is too little")
    options = parser.parse_args()
    TenantsTest.build = os.path.abspath(options.build)
    for option in ("tenants", "seconds", "rate", "measure", "attack"):
        setattr(TenantsTest, option, getattr(options, option))
    unittest.main(argv=sys.argv[:1])
