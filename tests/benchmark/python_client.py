"""What a step costs a Python trainer: the client beside an empty HTTP round trip, interleaved, over real epsledgerd.

    python_client.py --build-dir DIR [--rounds 20] [--steps 50]

Prints the median of one of each, the processor time of the client, and ratios to the empty round trip. Read the ratios."""
import argparse
import http.client
import json
import os
import statistics
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(ROOT, "client", "python"), os.path.join(ROOT, "tests", "end_to_end")]

import epsledger  # noqa: E402
from epsledger.events import Gaussian, PoissonSampled  # noqa: E402
from served_ledger import ServedLedger  # noqa: E402

EVENT = PoissonSampled(sampling_probability=0.001, event=Gaussian(noise_multiplier=10))


class Bare:
    """One kept connection of the standard library: what any client of this kind pays."""

    def __init__(self, target, attempt):
        self._connection = http.client.HTTPConnection(target)
        self._attempt = attempt
        self._last = 0

    def empty(self):
        self._exchange("GET", "/healthz", None)

    def charge(self):
        self._last += 1
        body = json.dumps({"attempt": self._attempt, "chargeId": "bare-%d" % self._last, "count": "1",
                           "event": EVENT.to_json()}).encode()
        assert json.loads(self._exchange("POST", "/epsledger.v1.ChargeService/Charge", body))["decision"] == "ACCEPTED"

    def _exchange(self, method, path, body):
        self._connection.request(method, path, body, {"content-type": "application/json"})
        response = self._connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer
        return answer


def measure(what, repetitions, seconds, cpu_seconds):
    for _ in range(repetitions):
        start, cpu_start = time.perf_counter(), time.thread_time()
        what()
        cpu_seconds.append(time.thread_time() - cpu_start)
        seconds.append(time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", required=True, help="holds server/epsledgerd and client/cli/epsctl")
    parser.add_argument("--rounds", type=int, default=20, help="each measures all, in turn")
    parser.add_argument("--steps", type=int, default=50, help="of each in a round")
    options = parser.parse_args()

    with ServedLedger(options.build_dir) as server, epsledger.connect(address="http://" + server.http) as client:
        client.create_budget(name="b", cap=epsledger.Cap.approximate_dp(epsilon=100, delta=1e-5), privacy_unit="person")
        session = client.open(session="s", budget="b")
        bare = Bare(server.http, client.open(session="bare", budget="b").attempt)
        lease = session.lease(EVENT, count=options.rounds * options.steps + 1)

        def step():
            with session.step(EVENT):
                pass

        def leased_step():
            with lease.step():
                pass

        measured = {"empty round trip, bare": bare.empty, "charge, bare": bare.charge, "session.step": step,
                    "lease.step": leased_step}
        seconds = {name: [] for name in measured}
        cpu_seconds = {name: [] for name in measured}
        for what in measured.values():
            what()  # connects
        for _ in range(options.rounds):
            for name, what in measured.items():
                measure(what, options.steps, seconds[name], cpu_seconds[name])
        lease.settle()

    empty = statistics.median(seconds["empty round trip, bare"])
    print("%-24s %10s %14s %8s" % ("", "median us", "client cpu us", "ratio"))
    for name in measured:
        median = statistics.median(seconds[name])
        print("%-24s %10.1f %14.1f %8.3f" % (name, median * 1e6, statistics.median(cpu_seconds[name]) * 1e6,
                                             median / empty))


if __name__ == "__main__":
    main()
