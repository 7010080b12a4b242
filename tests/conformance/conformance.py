"""conformance.py [--only TEXT] [--set FILE] [--names] DRIVER [ARGUMENT ...]

Plays the conformance set against one client. DRIVER is a program that moves the client: it reads one command a line as
JSON from standard input and writes one verdict a line to standard output (README.md says which). Prints every
difference; ends with 0 if there is none, with 1 otherwise.
"""
import argparse
import json
import pathlib
import subprocess
import sys

try:
    import grpc as _grpc  # noqa: F401
except ImportError:
    print("skipped: the scripted server needs python3-grpcio")
    sys.exit(77)

from scripted_server import CHARGING, KEYS, Script, ScriptedServer

SET = pathlib.Path(__file__).with_name("exchanges.jsonl")
RETRY = {"callTimeoutMs": 10_000, "overallTimeoutMs": 20_000, "maxTries": 3, "initialBackoffMs": 1, "maxBackoffMs": 2}
# The words that an error of this verdict has, for people.
PLAIN_WORDS = {"unknown": ["counts as spent"]}


class Driver:
    """The program that moves the client."""

    def __init__(self, command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the driver ended with %r at %s" % (self._process.wait(), json.dumps(command)))
        return json.loads(line)

    def close(self):
        self._process.stdin.close()
        return self._process.wait()


class Player:
    """Plays exchanges, and says what differs."""

    def __init__(self, server, driver):
        self._server = server
        self._driver = driver
        self._keys = set()  # (attempt, key) of every charge so far

    def play(self, number, exchange):
        """Returns the differences of one exchange."""
        session = "exchange-%d" % number
        name = "budgets/people/sessions/" + session
        self._server.script = Script(name, [])
        connect = dict(exchange.get("connect", {}))
        address = connect.pop("address", self._server.address)
        got = self._driver.ask({"do": "connect", "address": address, "retry": {**RETRY, **exchange.get("retry", {})},
                                **connect})
        wrong = differences(exchange.get("connected", {"is": "ok"}), got, {})
        keys = []
        for at, step in enumerate(exchange["steps"]):
            if wrong:
                return wrong
            wrong = ["step %d: %s" % (at + 1, one) for one in self._play_step(step, session, name, keys)]
        return wrong

    def _play_step(self, step, session, name, keys):
        command = dict(step["do"])
        key = keys[command.pop("of") - 1] if "of" in command else None
        if key is not None:
            command["charge_id"] = key
        if command["do"] == "open":
            command.update(budget="people", session=session)
        if "event" in command:
            command["event_bytes"] = self._server.event_bytes(command["event"])
        script = self._server.script = Script(name, step.get("server", []), key)
        got = self._driver.ask(command)
        wrong = script.end()
        keys.append(script.key)
        asked = next(((method, request) for method, request in script.seen if method in CHARGING), None)
        if asked is not None and key is None:
            whole = (asked[1]["attempt"], script.key)
            if whole in self._keys:
                wrong.append("the key %s of %s was used before" % (whole[1], whole[0]))
            self._keys.add(whole)
        wanted = dict(step["verdict"])
        implied, elsewhere = {}, wanted.pop("elsewhere", False)
        if asked is not None:
            method, request = asked
            if got.get("is") == "unknown":
                implied["charge_id"] = request[KEYS[method]]
            if got.get("is") in ("permit", "refused") and not elsewhere:
                implied["charge"] = "%s/charges/%s" % (request["attempt"], request[KEYS[method]])
        if "ids_of" in wanted:
            implied["ids"] = [keys[one - 1] for one in wanted.pop("ids_of")]
        return wrong + differences(wanted, got, implied)


def differences(wanted, got, implied):
    """Returns how a verdict differs from the wanted one."""
    allowed = wanted["is"] if isinstance(wanted["is"], list) else [wanted["is"]]
    if got.get("is") not in allowed:
        return ["verdict: got %s, want %s" % (json.dumps(got), " or ".join(allowed))]
    wrong = ["%s: got %r, want %r" % (field, got.get(field), want) for field, want in {**wanted, **implied}.items()
             if field not in ("is", "says", "never_says") and got.get(field) != want]
    text = got.get("text", "")
    words = wanted.get("says", []) + PLAIN_WORDS.get(got["is"], [])
    if got["is"] == "refused":
        words = words + [got.get("reason", "")]
    if got["is"] not in ("ok", "permit", "lease") and not text:
        wrong.append("text: got none, want plain words")
    wrong += ["text: got %r, want it to say %r" % (text, word) for word in words if word not in text]
    wrong += ["text: got %r, want it never to say %r" % (text, word) for word in wanted.get("never_says", [])
              if word in text]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only exchanges with this text in their name")
    parser.add_argument("--set", default=str(SET), help="the file of exchanges")
    parser.add_argument("--names", action="store_true", help="print the name of each exchange before it is played")
    parser.add_argument("driver", nargs=argparse.REMAINDER, help="the program and its arguments")
    options = parser.parse_args()
    if not options.driver:
        parser.error("DRIVER: got none, want a program")
    with open(options.set, encoding="utf-8") as lines:
        exchanges = [json.loads(line) for line in lines]
    chosen = [(number, one) for number, one in enumerate(exchanges, 1) if options.only in one["name"]]
    server, driver = ScriptedServer(), Driver(options.driver)
    failed = 0
    try:
        player = Player(server, driver)
        for number, exchange in chosen:
            if options.names:
                print(exchange["name"], flush=True)
            wrong = player.play(number, exchange)
            failed += bool(wrong)
            for one in wrong:
                print("%s (rules %s): %s" % (exchange["name"], ", ".join(exchange["rules"]), one), flush=True)
        code = driver.close()
    finally:
        server.stop()
    if code:
        print("the driver ended with %d" % code)
    print("%d exchanges, %d failed" % (len(chosen), failed))
    return 1 if failed or code or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
