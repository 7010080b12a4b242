"""One peer in a process of its own: it may take too long, eat the memory or die, and we go on."""
import json
import os
import select
import subprocess
import sys

from peers import PEERS

# A cold start imports packages from a slow disk; that is not the peer's fault.
START_SECONDS = 180
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.py")


class PeerProcess:
    """Asks one peer. `version` says which; `absent` is the reason why it is not there, or None."""

    def __init__(self, name, python=sys.executable, timeout=120):
        self.name = name
        self.version = None
        self.absent = None
        self._python = python
        self._timeout = timeout
        self._process = None
        self._start()

    def ask(self, query, steps, fresh=False, **where):
        """The worker's answer (see peers.py); {"timeout": seconds} or {"error": ...} if none comes."""
        if self.absent:
            return {"absent": self.absent}
        if fresh or self._process is None:
            self.close()
            self._start()
            if self.absent:
                return {"absent": self.absent}
        question = {"query": query, "steps": steps, **where}
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._read(self._timeout)
        if "timeout" in answer or "died" in answer:
            self.close()
        return {"error": answer["died"]} if "died" in answer else answer

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self):
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1",
                           PYTHONDONTWRITEBYTECODE="1")
        self._process = subprocess.Popen(
            [self._python, WORKER, self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment)
        first = self._read(START_SECONDS)
        self.version = first.get("version")
        if self.version is None:
            self.absent = first.get("absent") or first.get("died") or "it does not start in time"
            self.close()

    def _read(self, timeout):
        # One line comes at a time, so nothing is left behind in the buffer that select cannot see.
        ready, _, _ = select.select([self._process.stdout], [], [], timeout)
        if not ready:
            return {"timeout": timeout}
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"died": "its process died"}


def start_peers(python, timeout, wanted=None):
    """A PeerProcess for each of PEERS, or for those wanted."""
    return [PeerProcess(name, python, timeout) for name in PEERS if wanted is None or name in wanted]
