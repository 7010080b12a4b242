"""A real epsledgerd on free ports with a scratch data directory, and epsctl beside it, for tests in Python."""
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

START_SECONDS = 60


class HeldPort:
    """A free port of 127.0.0.1 that is nobody else's until close(), also between two starts of the server on it: bound
    and never listening. The kernel lets a server listen beside it that sets SO_REUSEADDR, as gRPC and Boost do."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        # Not before bind(), or two of us could get the same.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.address = "127.0.0.1:%d" % self._socket.getsockname()[1]
        self.close = self._socket.close


class ServedLedger:
    """with ServedLedger(build) as server: ... BUILD holds server/epsledgerd and client/cli/epsctl; `flags` are more
    of the server's; `place` says where the ledger is, if not in a scratch folder: --data-dir or --postgres."""

    def __init__(self, build, flags=(), place=()):
        self._flags = list(flags)
        self._place = list(place)
        self.epsledgerd = os.path.join(build, "server", "epsledgerd")
        self.epsctl = os.path.join(build, "client", "cli", "epsctl")
        for program in (self.epsledgerd, self.epsctl):
            if not os.access(program, os.X_OK):
                raise FileNotFoundError("%s is not built" % program)

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="epsledger-served.")
        self._ports = [HeldPort(), HeldPort()]
        addresses = os.path.join(self._folder.name, "addresses")
        self.log = os.path.join(self._folder.name, "log")
        self.data_dir = os.path.join(self._folder.name, "data")
        if not self._place:
            self._prepare(self.data_dir)
            self._place = ["--data-dir", self.data_dir]
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                [self.epsledgerd, *self._place, "--listen", self._ports[0].address, "--http-listen",
                 self._ports[1].address, "--address-file", addresses, *self._flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            self.grpc, self.http = self._wait_for(addresses)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _prepare(self, data_dir):
        """What a subclass wants in the data directory before the server starts."""

    def _wait_for(self, addresses):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            if os.path.exists(addresses):
                with open(addresses, encoding="utf-8") as stream:
                    lines = stream.read().split("\n")
                if len(lines) > 2:  # what is after the last newline is empty
                    return lines[0], lines[1].split("://")[-1]
            time.sleep(0.02)
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            raise RuntimeError("epsledgerd did not start: " + stream.read()[-2000:])

    def stop(self):
        """Returns the server's exit code, which is negative if it had to be killed. The data directory stays until the end of
        the `with`."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self._process.wait()

    @property
    def pid(self):
        return self._process.pid

    def kill(self):
        self._process.kill()
        self._process.wait()

    def start_again(self):
        """On the same addresses and the same place."""
        addresses = os.path.join(self._folder.name, "addresses")
        os.unlink(addresses)
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                [self.epsledgerd, *self._place, "--listen", self.grpc, "--http-listen", self.http, "--address-file",
                 addresses], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self._wait_for(addresses)

    def __exit__(self, *_):
        self.stop()
        for port in self._ports:
            port.close()
        self._folder.cleanup()

    def ctl(self, *arguments, expect=0):
        """What epsctl prints; its exit code must be the expected one, or may be any if that is None."""
        run = subprocess.run([self.epsctl, "--server", self.grpc, *arguments], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=60)
        if expect is not None and run.returncode != expect:
            raise AssertionError("epsctl %s ended with %d, not %d: %s"
                                 % (" ".join(arguments), run.returncode, expect, run.stderr))
        return run.stdout

    def get(self, target, headers=None):
        """(status, content type, body) of a GET."""
        request = urllib.request.Request("http://%s%s" % (self.http, target), headers=headers or {})
        try:
            answer = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.headers.get("content-type", ""), answer.read().decode()

    def post(self, method, message):
        """The answer to a call over HTTP, "ChargeService/BatchCharge", as a dictionary."""
        request = urllib.request.Request("http://%s/epsledger.v1.%s" % (self.http, method),
                                         json.dumps(message).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def head_of(self, budget):
        """What the ledger's newest entry is, whatever incarnation says so."""
        head = json.loads(self.ctl("ledger", "head", budget, "-o", "json"))
        return {field: head[field] for field in ("rootBudget", "sequence", "hash", "merkleRoot")}

    def spend(self):
        """Budgets in every state, sessions of both modes, charges, a refusal, leases and an audit."""
        relation = ("--relation", "add-or-remove-one")
        event = ("--gaussian", "1.1", "--sampling-probability", "0.01")
        self.ctl("budget", "create", "people", "--epsilon", "3", "--delta", "1e-5", *relation,
                 "--privacy-unit", "person", "--label", "team=vision", "--alert-at", "0.01,0.9",
                 "--partition", "by country")
        self.ctl("budget", "create", "one-country", "--parent", "people", "--epsilon", "2", "--delta", "1e-6",
                 *relation, "--privacy-unit", "person")
        for name in ("frozen", "old", "closed"):
            self.ctl("budget", "create", name, "--rho", "0.5", *relation, "--privacy-unit", "person")
        self.ctl("budget", "freeze", "frozen", "--reason", "a test")
        self.ctl("budget", "supersede", "old", "new", "--rho", "1", "--reason", "a test", "--yes")
        self.ctl("budget", "close", "closed", "--reason", "a test", "--yes")
        self.ctl("session", "create", "people/first-run", *relation, "--no-own-cap", "--group", "search")
        self.ctl("session", "create", "people/capped", *relation, "--epsilon", "1", "--delta", "1e-6")
        self.ctl("session", "create", "people/planned", *relation, "--gaussian", "50", "--count", "10",
                 "--plan-delta", "1e-6")
        self.ctl("session", "create", "one-country/below", *relation, "--no-own-cap")
        self.ctl("charge", "create", "people/first-run", "--open-attempt", "--charge-id", "block-1", *event,
                 "--count", "100")
        self.ctl("charge", "create", "people/first-run", "--attempt", "1", "--charge-id", "block-2", *event,
                 "--count", "10000000", expect=3)
        for lease in ("lease-1", "lease-2"):
            self.ctl("lease", "acquire", "people/first-run", "--attempt", "1", "--lease-id", lease, *event,
                     "--count", "10")
        self.ctl("lease", "settle", "people/first-run/1/lease-1", "--used", "4")
        self.ctl("charge", "create", "people/capped", "--open-attempt", "--charge-id", "block-1", "--gaussian", "50",
                 "--sampler", "full-batch", "--clip-norm", "1", "--library", "test", "--library-version", "1")
        self.ctl("audit", "--method", "two-arm-threshold", "--two-arm-counts", "930/1000,14/1000",
                 "--delta", "1e-5", "--record", "people/first-run", "--source", "a test")
