"""Runs of trainer programs against a ledger: a few at a time, what they logged read back."""
import concurrent.futures
import dataclasses
import json
import pathlib
import statistics
import subprocess

import ledger as ledgers

MOST_AT_A_TIME = 2


@dataclasses.dataclass(frozen=True)
class Trainer:
    """One configuration. Every run has a budget of its own with this cap."""
    program: str  # below the build folder
    cap: dict
    flags: tuple
    relation: str = "add-or-remove-one"
    wants_model: bool = False
    log_every: int = 1_000_000  # steps between two lines of the log: a line asks the ledger twice


@dataclasses.dataclass
class Run:
    """What one run left: its log's first and last record and, if wanted, the file of its model."""
    told: dict
    result: dict
    model: pathlib.Path


class Runner:
    def __init__(self, ledger, at_a_time=MOST_AT_A_TIME, say=print):
        self.ledger = ledger
        self.at_a_time = at_a_time
        self.say = say
        self._files = 0

    def runs(self, trainer, count, name=""):
        """Runs the trainer `count` times and returns the Runs. A run that fails ends the experiment."""
        jobs = []
        for number in range(count):
            self._files += 1
            stem = self.ledger.folder / ("run-%d" % self._files)
            jobs.append((trainer, self.ledger.create_budget(trainer.cap, trainer.relation), stem))
        with concurrent.futures.ThreadPoolExecutor(self.at_a_time) as pool:
            done = list(pool.map(lambda job: self._run(*job), jobs))
        self.say("%s: %d runs" % (name or trainer.program, count))
        return done

    def _run(self, trainer, budget, stem):
        log = stem.with_suffix(".jsonl")
        model = stem.with_suffix(".model.json")
        command = [self.ledger.program(trainer.program), "--server", self.ledger.address, "--budget", budget,
                   "--relation", trainer.relation, "--log-json", str(log), "--log-every", str(trainer.log_every),
                   *map(str, trainer.flags)]
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
    """A number of a log: NaN and infinities are written as words."""
    return float(value) if isinstance(value, str) else value


@dataclasses.dataclass(frozen=True)
class Summary:
    mean: float
    spread: float  # sample standard deviation; 0 of one run
    count: int

    def text(self, digits=4):
        if self.count == 1:
            return "%.*f (1 run)" % (digits, self.mean)
        return "%.*f ± %.*f" % (digits, self.mean, digits, self.spread)


def summary(values):
    values = [number(value) for value in values]
    return Summary(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
