#!/usr/bin/python3
"""Many who watch one budget while it is charged: watchers.py --build-dir build/release

Charges a budget at a steady rate while watchers follow /v1/events, and fails unless every watcher was told
every charge once and in order, a watcher that does not read was let go of, and the server's memory did not
grow with the number of events. Prints the latency of single charges with the watchers and without, in turns,
and their ratio; no time is a reason to fail.
"""
import argparse
import base64
import http.client
import json
import multiprocessing
import pathlib
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BATCH = 20
# An event so cheap that nothing is refused.
EVENT = {"gaussian": {"noiseMultiplier": 1e6}}
SEQUENCE = re.compile(rb'\nid: budgets/people:(\d+)\nevent: charge\n')
# What may be added by a longer run: buffers of sockets and of the allocator.
MEMORY_SLACK_KB = 64 * 1024


class Server:
    def __init__(self, build, folder):
        self.address_file = folder / "address"
        self.log = open(folder / "log", "w")
        self.process = subprocess.Popen(
            [build / "server/epsledgerd", "--data-dir", folder / "ledger", "--listen", "127.0.0.1:0",
             "--http-listen", "127.0.0.1:0", "--address-file", self.address_file], stdout=self.log, stderr=self.log)
        while not self.address_file.exists():
            if self.process.poll() is not None:
                sys.exit("the server ended: " + (folder / "log").read_text())
            time.sleep(0.05)
        host = self.address_file.read_text().split("http://")[1].split()[0]
        self.host, self.port = host.split(":")[0], int(host.split(":")[1])

    def memory_kb(self):
        text = pathlib.Path("/proc/%d/status" % self.process.pid).read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Caller:
    """One connection for Connect JSON."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection(server.host, server.port)

    def call(self, method, request):
        try:
            self.connection.request("POST", "/epsledger.v1." + method, json.dumps(request),
                                    {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # closed when idle, or after many requests
            self.connection.close()
            return self.call(method, request)
        body = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit("%s: %s" % (method, body))
        return body


class Charger(threading.Thread):
    """Charges `rate` times a second, in batches, until it is stopped."""

    def __init__(self, server, attempt, rate):
        super().__init__(daemon=True)
        self.caller, self.attempt, self.rate = Caller(server), attempt, rate
        self.count, self.going = 0, True

    def run(self):
        begin = time.monotonic()
        while self.going:
            ids = ["%012d" % (self.count + i) for i in range(BATCH)]
            self.caller.call("ChargeService/BatchCharge", {
                "attempt": self.attempt, "mode": "PER_ITEM",
                "items": [{"chargeId": name, "event": EVENT, "count": "1"} for name in ids]})
            self.count += BATCH
            time.sleep(max(0.0, begin + self.count / self.rate - time.monotonic()))


class Watchers:
    """Connections that read what they are told: the newest sequence number of each, and how many before it.

    In a process of their own: what they do with the interpreter would be waited for by whoever measures.
    """

    def __init__(self, server, count):
        self.host, self.port, self.count = server.host, server.port, count
        self.head = multiprocessing.Value("q", 0)  # where they end, when it is known
        self.results, results = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=self.run, args=(results,), daemon=True)
        self.process.start()
        self.results.recv()  # they are connected

    def finish(self, head):
        """Waits for them to come to `head`, for a minute. Gives (first, last, told, wrong, ended)."""
        self.head.value = head
        found = self.results.recv()
        self.process.join()
        return found

    def run(self, results):
        self.selector = selectors.DefaultSelector()
        self.texts = [b""] * self.count
        self.first, self.last = [None] * self.count, [None] * self.count
        self.told, self.wrong, self.ended = [0] * self.count, [], 0
        for index in range(self.count):
            connection = connect(self)
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, index)
        results.send("connected")
        end = None
        while end is None or (time.monotonic() < end and any(last != self.head.value for last in self.last)):
            if end is None and self.head.value:
                end = time.monotonic() + 60
            for key, _ in self.selector.select(0.1):
                try:
                    bytes_read = key.fileobj.recv(1 << 18)
                except BlockingIOError:
                    continue
                if not bytes_read:
                    self.ended += 1
                    self.selector.unregister(key.fileobj)
                    continue
                self.take(key.data, bytes_read)
        results.send((self.first, self.last, self.told, self.wrong, self.ended))

    def take(self, index, bytes_read):
        # Chunk sizes stand between chunks, on lines of their own; what is looked for is never split by one,
        # since an event is one chunk or several whole ones.
        text = self.texts[index] + bytes_read
        end = 0
        for found in SEQUENCE.finditer(text):
            sequence = int(found.group(1))
            if self.first[index] is None:
                self.first[index] = sequence
            elif sequence <= self.last[index]:
                self.wrong.append((index, self.last[index], sequence))
            self.last[index] = sequence
            self.told[index] += 1
            end = found.end() - 1
        self.texts[index] = text[max(end, len(text) - 4096):]


def connect(server, receive_buffer=None):
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.connect((server.host, server.port))
    connection.sendall(b"GET /v1/events?budget=people HTTP/1.1\r\nHost: localhost\r\n\r\n")
    # The first comment says that the stream has begun.
    connection.settimeout(30)
    return connection


def latencies(server, attempt, prefix, seconds):
    caller, found, begin = Caller(server), [], time.monotonic()
    while time.monotonic() - begin < seconds:
        start = time.perf_counter()
        caller.call("ChargeService/Charge", {"attempt": attempt, "chargeId": "%s-%08d" % (prefix, len(found)),
                                             "event": EVENT, "count": "1"})
        found.append(time.perf_counter() - start)
        time.sleep(0.01)
    return found


def is_let_go(connection, patience):
    """Reads what was sent, up to its end: True if the server ended the stream."""
    connection.settimeout(patience)
    end = time.monotonic() + patience
    try:
        while connection.recv(1 << 16):
            if time.monotonic() > end:
                return False
    except ConnectionResetError:
        return True
    except socket.timeout:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", required=True, type=pathlib.Path)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--rate", type=int, default=1000, help="charges a second")
    parser.add_argument("--seconds", type=float, default=60, help="with the watchers, and half of it without")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(arguments.build_dir, pathlib.Path(folder))
        try:
            check(server, arguments)
        finally:
            server.stop()


def check(server, arguments):
    caller = Caller(server)
    caller.call("BudgetService/CreateBudget", {"budgetId": "people", "budget": {
        "cap": {"zcdp": {"rho": 1}}, "neighboringRelation": "ADD_OR_REMOVE_ONE", "privacyUnit": "person"}})
    for session in ("background", "measured"):
        caller.call("SessionService/CreateSession", {
            "parent": "budgets/people", "sessionId": session,
            "session": {"mode": "ADAPTIVE", "neighboringRelation": "ADD_OR_REMOVE_ONE", "noOwnCap": True}})
    attempts = [caller.call("SessionService/OpenAttempt", {"session": "budgets/people/sessions/" + name})["name"]
                for name in ("background", "measured")]
    charger = Charger(server, attempts[0], arguments.rate)
    charger.start()
    alone = latencies(server, attempts[1], "alone", arguments.seconds / 2)
    watchers = Watchers(server, arguments.watchers)
    sleeper = connect(server, receive_buffer=4096)  # never reads
    begin, begin_count = time.monotonic(), charger.count
    watched = latencies(server, attempts[1], "first", arguments.seconds / 3)
    memory = server.memory_kb()
    watched += latencies(server, attempts[1], "second", arguments.seconds * 2 / 3)
    grown = server.memory_kb() - memory
    rate = (charger.count - begin_count) / (time.monotonic() - begin)
    charger.going = False
    charger.join()
    head = int(caller.call("AuditService/GetLedgerHead", {"budget": "budgets/people"})["sequence"])
    first, last, told, wrong, ended = watchers.finish(head)
    behind = [index for index in range(arguments.watchers) if last[index] != head]
    ratio = statistics.median(watched) / statistics.median(alone)
    print("%d watchers, %.0f charges a second in batches of %d, %d entries: every watcher told %d to %d charges"
          % (arguments.watchers, rate, BATCH, head, min(told), max(told)))
    print("a single charge: median %.2f ms alone, %.2f ms watched, ratio %.2f; memory grew by %d kB"
          % (1e3 * statistics.median(alone), 1e3 * statistics.median(watched), ratio, grown))
    problems = []
    if behind or ended:
        problems.append("%d watchers did not reach the head, %d were ended" % (len(behind), ended))
    if wrong:
        problems.append("told twice or out of order: %s" % wrong[:5])
    # From when they watch every entry is a charge: the priced events and attempts came before.
    missed = [index for index in range(arguments.watchers)
              if last[index] is not None and told[index] != last[index] - first[index] + 1]
    if missed:
        problems.append("%d watchers missed charges" % len(missed))
    if grown > MEMORY_SLACK_KB:
        problems.append("memory grew by %d kB" % grown)
    # Less than this the sockets' own buffers may hold, and nobody waits for anything.
    if max(told) * 500 > 16 << 20 and not is_let_go(sleeper, 30):
        problems.append("a watcher that does not read was kept")
    if problems:
        sys.exit("watchers: " + "; ".join(problems))


if __name__ == "__main__":
    main()
