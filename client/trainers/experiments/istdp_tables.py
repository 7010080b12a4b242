"""The tables of ISTDP: its modes at equal guarantees, beside the paper's calibration."""
import dataclasses
import json
import subprocess

import markdown
import runs

DELTA = 1e-5
# mu of mu-GDP that is exactly (epsilon, 1e-5)-DP: delta = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2),
# the last digit rounded down. The ledger's own reading of each run is checked against epsilon.
MU = {0.5: 0.1422105586, 1: 0.2680511231, 2: 0.5015516891, 4: 0.9249308976, 8: 1.6660305977}
PROGRAM = "client/trainers/istdp/epsledger-istdp"


@dataclasses.dataclass(frozen=True)
class Problem:
    data: str
    regularizer: tuple

    def flags(self):
        return ("--data", self.data) + self.regularizer


A9A = Problem("a9a", ("--lambda", "0.0005", "--shape", "2000"))
SYNTHETIC = Problem("synthetic:7", ("--lambda", "0.002", "--shape", "1500"))


def trainer(problem, epsilon, steps, *flags, relation="add-or-remove-one"):
    """A run whose noise is chosen so that `steps` steps are (epsilon, 1e-5)-DP together, and no more. (The trainer
    reports at delta 1e-5 where the cap has none.)"""
    return runs.Trainer(PROGRAM, {"mu": MU[epsilon]},
                        problem.flags() + ("--steps", str(steps), "--max-steps", str(steps)) + flags,
                        relation=relation, wants_model=True)


def measure(bench, problem, done):
    """What istdp-reference says of the models: exact objectives of the records, which are public here."""
    output = subprocess.run(
        [bench.ledger.program("client/trainers/experiments/istdp-reference"), *problem.flags(),
         *(str(run.model) for run in done)], capture_output=True, text=True)
    if output.returncode != 0:
        raise SystemExit("experiments: istdp-reference: " + output.stderr)
    return json.loads(output.stdout)


def check_epsilon(done, epsilon):
    """The ledger must agree with what a row says."""
    for run in done:
        read = runs.number(run.result["epsilon"])
        if not 0.99 * epsilon <= read <= 1.001 * epsilon:
            raise SystemExit("experiments: the ledger says epsilon %g, the row says %g" % (read, epsilon))


def cells(bench, problem, done):
    """Gap, accuracy, non-zero coefficients and, where the truth is known, support F1: of the last iterate."""
    models = measure(bench, problem, done)["models"]
    texts = [runs.summary([model["gap"] for model in models]).text(),
             runs.summary([model["accuracy"] for model in models]).text(),
             runs.summary([model["supportSize"] for model in models]).text(1)]
    if "supportF1" in models[0]:
        texts.append(runs.summary([model["supportF1"] for model in models]).text(3))
    return texts


COLUMNS = ["run", "epsilon proven", "runs", "objective gap", "held-out accuracy", "coefficients", "support F1"]


def acceptance(bench):
    """ISTDP at epsilon 1, delta 1e-5 through the real server"""
    rows = []
    for problem, title, steps in ((A9A, "a9a, sound, 100 steps", 100), (SYNTHETIC, "synthetic, sound, 10 steps", 10)):
        done = bench.runs(trainer(problem, 1, steps), 5, title)
        check_epsilon(done, 1)
        rows.append([title, "1", len(done)] + cells(bench, problem, done))
        claim = ("--mode", "published-noise", "--claimed-epsilon", "1", "--claimed-delta", str(DELTA))
        done = bench.runs(trainer(problem, 1, steps, *claim), 5, title + ", published noise")
        epsilon = runs.summary([run.result["epsilon"] for run in done]).text(4)
        rows.append([title.replace("sound", "published noise for a claim of 1"), epsilon, len(done)]
                    + cells(bench, problem, done))
        best = measure(bench, problem, [])["optimum"]
        rows.append([title.split(",")[0] + ", optimum without privacy", "none", 1, "0", "%.4f" % best["accuracy"],
                     best["supportSize"], "%.3f" % best["supportF1"] if "supportF1" in best else ""])
    return markdown.table(COLUMNS, [row + [""] * (len(COLUMNS) - len(row)) for row in rows])


TABLES = {"acceptance": acceptance}
