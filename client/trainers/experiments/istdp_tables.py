"""The tables of ISTDP: its modes at equal guarantees, and the paper's calibration."""
import dataclasses
import json
import math
import random
import subprocess

import markdown
import runs

DELTA = 1e-5
# mu of mu-GDP that is exactly (epsilon, 1e-5)-DP: delta = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2),
# the last digit rounded down. The ledger's own reading of each run is checked against epsilon.
MU = {0.5: 0.1422105586, 1: 0.2680511231, 2: 0.5015516891, 4: 0.9249308976, 8: 1.6660305977}
EPSILONS = (0.5, 1, 2, 4)
PROGRAM = "client/trainers/istdp/epsledger-istdp"


@dataclasses.dataclass(frozen=True)
class Problem:
    data: str
    regularizer: tuple

    def flags(self):
        return ("--data", self.data) + self.regularizer


A9A = Problem("a9a", ("--lambda", "0.0005", "--shape", "2000"))
WDBC = Problem("wdbc", ("--lambda", "0.0005", "--shape", "2000"))
SYNTHETIC = Problem("synthetic:7", ("--lambda", "0.002", "--shape", "1500"))


def trainer(problem, epsilon, steps, *flags, relation="add-or-remove-one"):
    """Returns a run whose noise makes `steps` steps together exactly (epsilon, 1e-5)-DP. (The trainer reports at
    delta 1e-5 if the cap has no delta.)"""
    return runs.Trainer(PROGRAM, {"mu": MU[epsilon]},
                        problem.flags() + ("--steps", str(steps), "--max-steps", str(steps)) + flags,
                        relation=relation, wants_model=True)


def measure(bench, problem, done):
    """Returns the output of istdp-reference for the models: exact objectives of the records, which are public here."""
    output = subprocess.run(
        [bench.ledger.program("client/trainers/experiments/istdp-reference"), *problem.flags(),
         *(str(run.model) for run in done)], capture_output=True, text=True)
    if output.returncode != 0:
        raise SystemExit("experiments: istdp-reference: " + output.stderr)
    return json.loads(output.stdout)


def check_epsilon(done, epsilon):
    """Checks that the ledger agrees with a row."""
    for run in done:
        read = runs.number(run.result["epsilon"])
        if not 0.99 * epsilon <= read <= 1.001 * epsilon:
            raise SystemExit("experiments: the ledger says epsilon %g, the row says %g" % (read, epsilon))


def cells(models):
    """Returns gap, accuracy, non-zero coefficients and, where the truth is known, support F1, of the last iterate."""
    texts = [runs.summary([model["gap"] for model in models]).text(),
             runs.summary([model["accuracy"] for model in models]).text(),
             runs.summary([model["supportSize"] for model in models]).text(1)]
    if "supportF1" in models[0]:
        texts.append(runs.summary([model["supportF1"] for model in models]).text(3))
    return texts


def published(claim):
    return ("--mode", "published-noise", "--claimed-epsilon", repr(claim), "--claimed-delta", str(DELTA))


COLUMNS = ["run", "epsilon proven", "runs", "objective gap", "held-out accuracy", "coefficients", "support F1"]


AVERAGED = ("--sampling-probability", "0.05", "--step-size", "14", "--clip-norm", "0.7",
            "--average-last", "300")
SEEDS = (7, 1, 2, 3, 4)
BEST_GAP = 0.0015


def averaged(bench, steps=600, count=5):
    """Returns the row for a9a with Poisson batches and the mean of the last iterates."""
    title = "a9a, batches of 5 %%, %d steps, clipped to 0.7, mean of the last 300 iterates" % steps
    plan = ("--declared", "--epsilon", "1", "--delta", str(DELTA), "--steps", str(steps))
    done = bench.runs(runs.Trainer(PROGRAM, {"epsilon": 1, "delta": DELTA, "filter": "basic"}, A9A.flags() + AVERAGED + plan),
                      count, title)
    check_epsilon(done, 1)
    return [title, "1", len(done), "", runs.summary([run.result["averaged_accuracy"] for run in done]).text(), "", ""]


def two_phases(bench, seed, steps=22, count=2):
    """Returns the models of `count` runs on a synthetic problem in two phases."""
    problem = dataclasses.replace(SYNTHETIC, data="synthetic:%d" % seed)
    done = bench.runs(trainer(problem, 1, steps, "--mode", "sound-two-phase"), count, "synthetic:%d, two phases" % seed)
    check_epsilon(done, 1)
    return measure(bench, problem, done)["models"]


def acceptance(bench):
    """ISTDP at epsilon 1, delta 1e-5 through the real server"""
    rows = [averaged(bench)]
    models = [model for seed in SEEDS for model in two_phases(bench, seed)]
    both = sum(model["gap"] <= BEST_GAP and model["supportF1"] == 1 for model in models)
    rows.append(["synthetic, seeds %s, two phases, 22 steps: gap <= %g and F1 = 1 in %d of %d" %
                 (", ".join(map(str, SEEDS)), BEST_GAP, both, len(models)), "1", len(models)] + cells(models))
    for problem, name, steps in ((A9A, "a9a", 100), (SYNTHETIC, "synthetic", 12)):
        title = "%s, sound, %d steps" % (name, steps)
        done = bench.runs(trainer(problem, 1, steps), 5, title)
        check_epsilon(done, 1)
        rows.append([title, "1", len(done)] + cells(measure(bench, problem, done)["models"]))
        title = "%s, published noise for a claim of 1, %d steps" % (name, steps)
        done = bench.runs(trainer(problem, 1, steps, *published(1)), 5, title)
        epsilon = runs.summary([run.result["epsilon"] for run in done]).text(4)
        output = measure(bench, problem, done)
        rows.append([title, epsilon, len(done)] + cells(output["models"]))
        best = output["optimum"]
        rows.append([name + ", optimum without privacy", "none", 1, "0", "%.4f" % best["accuracy"],
                     best["supportSize"], "%.3f" % best["supportF1"] if "supportF1" in best else ""])
    return markdown.table(COLUMNS, [row + [""] * (len(COLUMNS) - len(row)) for row in rows])


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def epsilon_of_mu(mu):
    """Returns the epsilon of mu-GDP at DELTA, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        delta = phi(-middle / mu + mu / 2) - math.exp(middle) * phi(-middle / mu - mu / 2)
        low, high = (middle, high) if delta > DELTA else (low, middle)
    return high


def published_noise(epsilon, iterations):
    """Theorem 3.3 of the paper: noise / sensitivity."""
    step = min(epsilon / (2 * math.sqrt(2 * iterations * math.log(2 / DELTA))), math.sqrt(epsilon / iterations) / 2)
    return math.sqrt(2 * math.log(1.25 * 2 * iterations / DELTA)) / step


def calibration(bench):
    """Theorem 3.3's noise beside what is needed (noise / sensitivity; epsilon read from the ledger, replace-one)"""
    rows = []
    for epsilon in (0.5, 1, 2, 4, 8):
        row = [epsilon]
        for iterations in (10, 100):
            needed = math.sqrt(iterations) / MU[epsilon]
            noise = published_noise(epsilon, iterations)
            # T iterations make T - 1 updates.
            run = bench.runs(trainer(WDBC, epsilon, iterations - 1, *published(epsilon), relation="replace-one"), 1,
                             "claim %g, T = %d" % (epsilon, iterations))[0]
            row.append("%.4g / %.4g (%.1f)" % (noise, needed, noise / needed))
            row.append("%.4f" % runs.number(run.result["epsilon"]))
        rows.append(row)
    return markdown.table(["claimed epsilon", "T=10: published / needed (ratio)", "T=10: epsilon proven",
                           "T=100: published / needed (ratio)", "T=100: epsilon proven"], rows)


def grid(bench, problem, rows, text, count):
    """A row for each (title, steps, flags, relation), a column for each epsilon; `text` makes a cell from models."""
    table = []
    waiting = []
    for title, steps, flags, relation in rows:
        table.append([title])
        for epsilon in EPSILONS:
            own = published(epsilon) if "published-noise" in flags else flags
            done = bench.runs(trainer(problem, epsilon, steps, *own, relation=relation), count,
                              "%s, epsilon %g" % (title, epsilon))
            if "published-noise" not in flags:
                check_epsilon(done, epsilon)
            waiting.append((table[-1], done))
    models = iter(measure(bench, problem, [run for _, done in waiting for run in done])["models"])
    for row, done in waiting:
        row.append(text([next(models) for _ in done]))
    return markdown.table(["mode"] + ["epsilon %g" % epsilon for epsilon in EPSILONS], table) + \
        "\n%d runs a cell.\n" % len(waiting[0][1])


SOUND, LINE_SEARCH, PUBLISHED = (), ("--mode", "sound-line-search"), ("--mode", "published-noise")
PLAIN, REPLACE = "add-or-remove-one", "replace-one"


def mean(models, field):
    return runs.summary([model[field] for model in models])


def synthetic(bench):
    """Synthetic, 20,000 x 100 with 10 true coefficients: objective gap / accuracy / support F1"""
    def text(models):
        return "%.4f / %.4f / %.2f" % tuple(mean(models, field).mean for field in ("gap", "accuracy", "supportF1"))
    content = grid(bench, SYNTHETIC, [
        ("sound, 10 steps", 10, SOUND, PLAIN),
        ("sound, 30 steps", 30, SOUND, PLAIN),
        ("sound, 10 steps, replace-one", 10, SOUND, REPLACE),
        ("sound, fixed step 1/(4L), 30 steps", 30, ("--fixed-steps",), PLAIN),
        ("sound-line-search, 30 steps", 30, LINE_SEARCH, PLAIN),
        ("published-noise, claim as in the column, 30 steps", 30, PUBLISHED, PLAIN)], text, 5)
    threshold = Problem(SYNTHETIC.data, ("--universal-threshold",))
    row = ["sound, universal threshold, 20 steps"]
    for epsilon in EPSILONS:
        done = bench.runs(trainer(threshold, epsilon, 20), 5, "universal threshold, epsilon %g" % epsilon)
        check_epsilon(done, epsilon)
        models = measure(bench, SYNTHETIC, done)["models"]
        row.append("- / %.4f / %.2f" % (mean(models, "accuracy").mean, mean(models, "supportF1").mean))
    return content.replace("\n\n", "\n| " + " | ".join(row) + " |\n\n", 1)


def a9a(bench):
    """a9a: objective gap / held-out accuracy ± standard deviation"""
    def text(models):
        return "%.4f / %s" % (mean(models, "gap").mean, mean(models, "accuracy").text())
    return grid(bench, A9A, [
        ("sound, 30 steps", 30, SOUND, PLAIN),
        ("sound, 100 steps", 100, SOUND, PLAIN),
        ("sound, 200 steps", 200, SOUND, PLAIN),
        ("sound, 200 steps, replace-one", 200, SOUND, REPLACE),
        ("sound, fixed step 1/(4L), 100 steps", 100, ("--fixed-steps",), PLAIN),
        ("sound-line-search, 100 steps", 100, LINE_SEARCH, PLAIN),
        ("published-noise, claim as in the column, 100 steps", 100, PUBLISHED, PLAIN)], text, 5)


def wdbc(bench):
    """wdbc (breast cancer), 426 records to train on, 143 held out: held-out accuracy"""
    def text(models):
        return mean(models, "accuracy").text(3)
    return grid(bench, WDBC, [
        ("sound, 10 steps", 10, SOUND, PLAIN),
        ("sound, 30 steps", 30, SOUND, PLAIN),
        ("sound-line-search, 30 steps", 30, LINE_SEARCH, PLAIN),
        ("published-noise, claim as in the column, 30 steps", 30, PUBLISHED, PLAIN)], text, 8)


def as_published(bench):
    """As published; claimed guarantee not proven (counterexample_known): held-out accuracy beside the claim"""
    rows = []
    for name, problem, steps in (("a9a", A9A, 100), ("synthetic", SYNTHETIC, 30), ("wdbc", WDBC, 30)):
        row = ["%s, %d steps" % (name, steps)]
        for claim in EPSILONS:
            flags = ("--mode", "as-published", "--accept-unproven", "--claimed-epsilon", repr(claim), "--claimed-delta",
                     str(DELTA), "--steps", str(steps))
            # A budget that promises nothing: all others refuse the non-private access.
            done = bench.runs(runs.Trainer(PROGRAM, {"no-guarantee": True}, problem.flags() + flags), 5,
                              "%s, claim %g" % (name, claim))
            for run in done:
                if run.result["epsilon"] != "none is proven":
                    raise SystemExit("experiments: an unproven run shows an epsilon")
            row.append(runs.summary([run.result["accuracy"] for run in done]).text(3))
        rows.append(row)
    return markdown.table(["run"] + ["claim %g" % claim for claim in EPSILONS], rows) + \
        "\nNo epsilon of these runs is proven. Attacks A1 and A2 (istdp/README.md) exceed the claims.\n"


PERTURBATION_L2 = ("0.0003", "0.001", "0.003", "0.01")
DP_SGD_STEP_SIZES = ("4", "16", "40")
DP_SGD_STEPS, DP_SGD_SAMPLING = 400, "0.05"


def dp_sgd(bench, problem, epsilon, step_size):
    """Returns 400 steps with the smallest noise for which the ledger's mathematics proves (epsilon, 1e-5)-DP. The
    budget has room to spare: its filter is looser than the reading that is checked."""
    answer = json.loads(bench.ledger.epsctl("-o", "json", "calibrate", "--gaussian", "--sampling-probability",
                                            DP_SGD_SAMPLING, "--count", str(DP_SGD_STEPS), "--epsilon",
                                            repr(float(epsilon)), "--delta", str(DELTA)))
    return runs.Trainer(PROGRAM, {"epsilon": 3.0 * epsilon, "delta": DELTA},
                        problem.flags() + ("--mode", "dp-sgd", "--sampling-probability", DP_SGD_SAMPLING,
                                           "--step-size", step_size, "--noise-multiplier", repr(answer["value"]),
                                           "--steps", str(DP_SGD_STEPS), "--max-steps", str(DP_SGD_STEPS)),
                        wants_model=True)


def perturbation(problem, mode, epsilon, l2):
    flags = problem.flags() + ("--mode", mode, "--l2", l2)
    if mode == "output-perturbation":
        return runs.Trainer(PROGRAM, {"mu": MU[epsilon]}, flags, wants_model=True)
    # The ledger rounds caps down and charges up.
    return runs.Trainer(PROGRAM, {"epsilon": float(epsilon), "delta": DELTA, "filter": "basic"},
                        flags + ("--target-epsilon", repr(epsilon * (1 - 1e-9)), "--target-delta",
                                 repr(DELTA * (1 - 1e-9))), wants_model=True)


def baselines(bench):
    """Baselines, add-or-remove-one: objective gap / accuracy, the best of a small grid for each (which favours them)"""
    table = []
    for name, problem in (("a9a", A9A), ("synthetic", SYNTHETIC)):
        kinds = [
            ("DP-SGD, 400 Poisson batches of 5 %, best of steps " + ", ".join(DP_SGD_STEP_SIZES), DP_SGD_STEP_SIZES,
             lambda epsilon, choice, problem=problem: dp_sgd(bench, problem, epsilon, choice)),
            ("output perturbation, best of l2 " + ", ".join(PERTURBATION_L2), PERTURBATION_L2,
             lambda epsilon, choice, problem=problem: perturbation(problem, "output-perturbation", epsilon, choice)),
            ("objective perturbation, best of l2 " + ", ".join(PERTURBATION_L2), PERTURBATION_L2,
             lambda epsilon, choice, problem=problem: perturbation(problem, "objective-perturbation", epsilon, choice))]
        for title, choices, make in kinds:
            row = ["%s: %s" % (name, title)]
            for epsilon in EPSILONS:
                tried = []
                for choice in choices:
                    done = bench.runs(make(epsilon, choice), 3, "%s %s, epsilon %g, %s" % (name, title[:20], epsilon, choice))
                    check_epsilon(done, epsilon)
                    tried.append(done)
                models = iter(measure(bench, problem, [run for done in tried for run in done])["models"])
                summaries = []
                for done in tried:
                    own = [next(models) for _ in done]
                    summaries.append((mean(own, "gap").mean, mean(own, "accuracy").mean))
                row.append("%.4f / %.4f" % (min(gap for gap, _ in summaries), max(accuracy for _, accuracy in summaries)))
            table.append(row)
    return markdown.table(["baseline"] + ["epsilon %g" % epsilon for epsilon in EPSILONS], table) + \
        "\n%d runs of each configuration. The gap and the accuracy of a cell may be of different ones.\n" % (bench.run_count or 3)


def theorem_3_4(bench):
    """Theorem 3.4 refuted: f = ||theta||^2 / 2, d = 50, noise 1, step 1/2 (a simulation; no ledger)"""
    step, dimensions, start, generator = 0.5, 50, 57.0, random.Random(5)
    rows = []
    for iterations in (10, 100, 1000, 10_000):
        count = max(1, 20_000 // iterations)
        gaps = []
        for _ in range(count):
            theta = [math.sqrt(start / dimensions)] * dimensions
            for _ in range(iterations - 1):
                theta = [value - step * (value + generator.gauss(0, 1)) for value in theta]
            gaps.append(sum(value * value for value in theta) / 2)
        rows.append([iterations, runs.summary(gaps).text(2), "%.4f" % (start / (2 * iterations * step))])
    return markdown.table(["T", "measured gap", "printed bound"], rows) + \
        "\nThe gap tends to gamma d sigma^2 / (2 (2 - gamma)) = %.2f.\n" % (step * dimensions / (2 * (2 - step)))


def cost(bench):
    """The cost of accounting: share of training time spent waiting for the ledger, a9a, 200 steps, one run at a time"""
    rows = []
    for title, flags in (("one charge a step", ()), ("leases of 20 steps", ("--lease", "20")),
                         ("leases of 100 steps", ("--lease", "100")), ("a lease of all 200", ("--lease", "200"))):
        done = [run for _ in range(bench.run_count or 5)
                for run in bench.runs(trainer(A9A, 1, 200, *flags), 1, title)[:1]]
        seconds = [run.result["training_seconds"] for run in done]
        steps = done[0].result["steps"]
        rows.append([title, len(done), "%.2f ms" % (1000 * runs.summary(seconds).mean / steps),
                     "%.3f ms" % (1000 * runs.summary([run.result["charge_seconds"] for run in done]).mean / steps),
                     "%.2f %% (%.2f to %.2f)" % (100 * runs.summary([run.result["charge_share"] for run in done]).mean,
                                                 100 * min(run.result["charge_share"] for run in done),
                                                 100 * max(run.result["charge_share"] for run in done))])
    return markdown.table(["charges", "runs", "a step", "of it, waiting for the ledger", "share"], rows)


TABLES = {"acceptance": acceptance, "calibration": calibration, "synthetic": synthetic, "a9a": a9a, "wdbc": wdbc,
          "baselines": baselines, "theorem-3.4": theorem_3_4, "cost": cost, "as-published": as_published}
