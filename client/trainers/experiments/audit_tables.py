"""The auditor's results for the trainers: the published ones contradict their claims, the sound ones do not."""
import json
import math
import subprocess

import markdown

DELTA = 1e-5
CONFIDENCE = 1 - 1e-6
# mu of mu-GDP that is exactly (epsilon, 1e-5)-DP.
MU = {1: 0.2680511231, 4: 0.9249308976}


def audit(bench, method, attack, claim, trials, *flags):
    """Runs the attack and returns the result of epsctl audit for its scores."""
    scores = subprocess.run(
        [bench.ledger.program("client/trainers/experiments/epsledger-trainer-attack"), attack, "--trials", str(trials), *flags],
        capture_output=True, text=True)
    if scores.returncode != 0:
        raise SystemExit("experiments: epsledger-trainer-attack: " + scores.stderr)
    path = bench.ledger.folder / "scores.csv"
    path.write_text(scores.stdout)
    return json.loads(bench.ledger.epsctl("-o", "json", "audit", "--method", method, "--scores", path, "--delta", DELTA,
                                          "--confidence", repr(CONFIDENCE), "--claimed-epsilon", repr(float(claim))))


def lower_bound(answer):
    return float(answer["epsilonLowerBound"]["lower"])


def contradicted(answer):
    return "yes" if answer["contradictsClaim"] else "no"


ATTACKS = (("A1", "ISTDP, step size", (0.1, 1, 4), 20_000), ("A2", "ISTDP, line search", (0.1, 1, 4), 20_000),
           ("B1", "FSDP, row space", (0.5, 2), 1000), ("B2", "FSDP, zero gradients", (0.5, 2), 1000))


def published(bench):
    """Attacks on the published algorithms: lower bounds on epsilon (confidence 1 - 1e-6, delta 1e-5)"""
    rows = []
    for attack, of, claims, trials in ATTACKS:
        for claim in claims:
            answer = audit(bench, "two-arm-threshold", attack, claim, trials, "--claimed-epsilon", repr(float(claim)))
            counts = answer["twoArmCounts"]
            rows.append(["%s: %s" % (attack, of), claim, "%.2f" % lower_bound(answer),
                         "%s of %s" % (counts.get("truePositives", 0), counts["members"]),
                         "%s of %s" % (counts.get("falsePositives", 0), counts["nonMembers"]),
                         contradicted(answer)])
    return markdown.table(["attack", "claimed", "at least", "canary seen", "seen where there was none",
                           "claim contradicted"], rows) + \
        "\nThe auditor chooses its threshold with a quarter of the runs and counts the others.\n"


def sound(bench):
    """The sound trainers, 100,000 runs with a canary and 100,000 without: lower bounds on epsilon"""
    rows = []
    for attack, of, steps in (("istdp", "ISTDP, runs of 30 steps", 30), ("fsdp", "FSDP, runs of 4 steps with indicators", 4)):
        for claim, mu in MU.items():
            answer = audit(bench, "two-arm-gdp", attack, claim, 100_000, "--noise-multiplier",
                           repr(math.sqrt(steps) / mu))
            rows.append([of, claim, "%.3f" % lower_bound(answer), contradicted(answer)])
    return markdown.table(["mechanism", "proven", "at least, if Gaussian", "claim contradicted"], rows)


TABLES = {"published": published, "sound": sound}
