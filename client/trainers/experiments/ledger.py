"""A real epsledgerd for experiments: on loopback, with a temporary ledger that is deleted afterwards."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

START_LIMIT_SECONDS = 120


class Ledger:
    """with Ledger(build_dir) as ledger: ... ledger.address, ledger.create_budget(...)."""

    def __init__(self, build_dir):
        self.build_dir = pathlib.Path(build_dir)
        self.folder = None
        self.process = None
        self.address = None
        self._budgets = 0

    def program(self, path):
        """Returns the path of a built program such as "client/cli/epsctl"."""
        program = self.build_dir / path
        if not program.exists():
            raise SystemExit("experiments: %s is not built" % program)
        return str(program)

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="epsledger-experiments."))
        address_file = self.folder / "address"
        (self.folder / "ledger").mkdir()
        with open(self.folder / "server.log", "w") as log:
            self.process = subprocess.Popen(
                [self.program("server/epsledgerd"), "--data-dir", str(self.folder / "ledger"),
                 "--listen", "127.0.0.1:0", "--address-file", str(address_file)],
                stdout=log, stderr=log)
        try:
            self._wait_until_it_serves(address_file)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _wait_until_it_serves(self, address_file):
        deadline = time.monotonic() + START_LIMIT_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise SystemExit("experiments: the server ended:\n" + (self.folder / "server.log").read_text())
            if address_file.exists() and address_file.read_text().strip():
                self.address = address_file.read_text().strip()
                check = subprocess.run([self.program("server/epsledgerd"), "healthcheck", "--server", self.address],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if check.returncode == 0:
                    return
            time.sleep(0.05)
        raise SystemExit("experiments: the server did not serve within %d s" % START_LIMIT_SECONDS)

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def epsctl(self, *arguments):
        """Runs epsctl and returns its output."""
        done = subprocess.run([self.program("client/cli/epsctl"), "--server", self.address, *map(str, arguments)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit("experiments: epsctl %s: %s" % (" ".join(map(str, arguments)), done.stderr.strip()))
        return done.stdout

    def create_budget(self, cap, relation="add-or-remove-one"):
        """Creates a budget for one run, so that runs do not pay for each other, and returns its name. `cap` holds
        epsctl's flags: {"mu": 0.268}, {"epsilon": 1, "delta": 1e-5}; True for a flag without a value."""
        self._budgets += 1
        name = "experiment-%d" % self._budgets
        flags = []
        for key, value in cap.items():
            flags += ["--" + key] if value is True else ["--" + key, repr(value) if isinstance(value, float) else value]
        self.epsctl("budget", "create", name, *flags, "--relation", relation, "--privacy-unit", "record")
        return name


def environment():
    """Returns the environment for trainers: plain output, not redrawn."""
    return dict(os.environ, CI="true")
