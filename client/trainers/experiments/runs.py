"""Runs trainer programs against a ledger, a few at a time, and reads their logs."""
import concurrent.futures
import dataclasses
import json
import pathlib
import statistics
import subprocess
import threading

import ledger as ledgers

MOST_AT_A_TIME = 2


@dataclasses.dataclass(frozen=True)
class Trainer:
    """One configuration. Every run has its own budget with this cap."""
    program: str  # path below the build folder
    cap: dict
    flags: tuple
    relation: str = "add-or-remove-one"
    wants_model: bool = False
    log_every: int = 1_000_000  # steps between two lines of the log; each line asks the ledger twice
    own_seed: bool = False  # each run starts from first parameters of its own: --seed 1, 2, ...


@dataclasses.dataclass
class Run:
    """The output of one run: its log's first and last record and, if wanted, the file of its model."""
    told: dict
    result: dict
    model: pathlib.Path


class Kept:
    """Results of runs in a file of JSON lines, so that an interrupted table can continue."""

    def __init__(self, path):
        self._path = path
        self._lock = threading.Lock()
        lines = path.read_text().splitlines() if path and path.exists() else []
        self._results = {line["run"]: Run(line["told"], line["result"], None) for line in map(json.loads, lines)}

    @staticmethod
    def _name(trainer, number):
        flags = list(trainer.flags)
        if "--feature-cache" in flags:  # a location, not a setting
            del flags[flags.index("--feature-cache"):flags.index("--feature-cache") + 2]
        return json.dumps([trainer.program, trainer.cap, trainer.relation, flags, number] + ["own seed"] * trainer.own_seed)

    def find(self, trainer, number):
        # A model's file is deleted with its ledger.
        return None if trainer.wants_model else self._results.get(self._name(trainer, number))

    def keep(self, trainer, number, run):
        if not self._path or trainer.wants_model:
            return
        with self._lock, open(self._path, "a") as file:
            file.write(json.dumps({"run": self._name(trainer, number), "told": run.told, "result": run.result}) + "\n")


class Runner:
    def __init__(self, ledger, at_a_time=MOST_AT_A_TIME, say=print, kept=None):
        self.ledger = ledger
        self.at_a_time = at_a_time
        self.say = say
        self._kept = Kept(kept)
        self._files = 0

    def runs(self, trainer, count, name=""):
        """Runs the trainer `count` times and returns the Runs. A run that fails ends the experiment."""
        done = {number: self._kept.find(trainer, number) for number in range(count)}
        jobs = []
        for number in (number for number, run in done.items() if run is None):
            self._files += 1
            stem = self.ledger.folder / ("run-%d" % self._files)
            jobs.append((number, self.ledger.create_budget(trainer.cap, trainer.relation), stem))

        def run_and_keep(job):
            number, budget, stem = job
            done[number] = self._run(trainer, budget, stem, number)
            self._kept.keep(trainer, number, done[number])

        with concurrent.futures.ThreadPoolExecutor(self.at_a_time) as pool:
            list(pool.map(run_and_keep, jobs))
        self.say("%s: %d runs%s" % (name or trainer.program, count,
                                    ", %d of them kept from before" % (count - len(jobs)) if len(jobs) < count else ""))
        return list(done.values())

    def _run(self, trainer, budget, stem, number):
        log = stem.with_suffix(".jsonl")
        model = stem.with_suffix(".model.json")
        command = [self.ledger.program(trainer.program), "--server", self.ledger.address, "--budget", budget,
                   "--relation", trainer.relation, "--log-json", str(log), "--log-every", str(trainer.log_every),
                   *map(str, trainer.flags)]
        if trainer.own_seed:
            command += ["--seed", str(number + 1)]
        if trainer.wants_model:
            command += ["--model", str(model)]
        done = subprocess.run(command, capture_output=True, text=True, env=ledgers.environment())
        records = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        told = [record for record in records if record["record"] == "run"]
        results = [record for record in records if record["record"] == "result"]
        if done.returncode != 0 or not results:
            raise SystemExit("experiments: %s ended with %d: %s" % (" ".join(command), done.returncode,
                                                                    done.stderr.strip() or done.stdout.strip()))
        return Run(told[0], results[0], model)


def number(value):
    """Returns a number of a log, where NaN and infinities are written as words."""
    return float(value) if isinstance(value, str) else value


@dataclasses.dataclass(frozen=True)
class Summary:
    mean: float
    spread: float  # sample standard deviation; 0 for one run
    count: int

    def text(self, digits=4):
        if self.count == 1:
            return "%.*f (1 run)" % (digits, self.mean)
        return "%.*f ± %.*f" % (digits, self.mean, digits, self.spread)


def summary(values):
    values = [number(value) for value in values]
    return Summary(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
