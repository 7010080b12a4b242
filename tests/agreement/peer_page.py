#!/usr/bin/env python3
"""Our certified epsilon beside what other accountants say, as a section of Markdown.

    peer_page.py --epsctl PATH [--peers-python PATH] [--write accounting/README.md]

prints the section, or puts it between <!-- peers:begin --> and <!-- peers:end --> of a file. The
peers are those that --peers-python can import:

    python3 -m venv DIR && DIR/bin/pip install dp-accounting prv-accountant riskcal numpy scipy jax optax chex
    DIR/bin/pip install --no-deps opacus jax-privacy      # their accountants need no torch

A peer that is absent has a column that says so.
"""
import argparse
import json
import math
import subprocess
import sys
import textwrap

import markdown_section
from peer_process import start_peers
from verdicts import judge, short

# (sampling probability, noise multiplier, count). The last is where the central limit theorem and
# fixed grids fail; the one before it has so small a sampling probability that they are loose.
SETTINGS = [
    (0.01, 1.0, 10_000),
    (0.01, 4.0, 10_000),
    (0.001, 0.8, 100_000),
    (1e-4, 1.0, 1_000_000),
    (0.01, 0.5, 1_000),
]
DELTAS = [1e-5, 1e-8, 1e-10, 1e-12, 1e-15, 1e-20, 1e-30]
RATES = [0.01, 0.1]  # of false alarms


def request(setting, query):
    sampling_probability, noise_multiplier, count = setting
    gaussian = {"gaussian": {"noiseMultiplier": noise_multiplier}}
    event = {"poissonSampled": {"samplingProbability": sampling_probability, "event": gaussian}}
    return {"accountant": "PLD", "neighboringRelation": "ADD_OR_REMOVE_ONE",
            "events": [{"count": count, "event": event}], "query": query}


def certified(epsctl, questions):
    """(lower, upper) of each (setting, query), from `epsctl compute`. An absent lower bound is 0."""
    lines = "".join(json.dumps(request(*q)) + "\n" for q in questions)
    run = subprocess.run([epsctl, "compute"], input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    for answer in answers:
        if "error" in answer:
            raise SystemExit("peer_page.py: epsctl refuses: " + answer["error"]["message"])
    if len(answers) != len(questions):
        raise SystemExit("peer_page.py: epsctl answers %d of %d lines\n%s"
                         % (len(answers), len(questions), run.stderr))
    return [(float(a.get("lower", 0)), float(a["upper"])) for a in answers]


def rounded(x, up):
    """Six digits, outwards."""
    if not math.isfinite(x) or x == 0:
        return "%g" % x
    unit = 10.0 ** (math.floor(math.log10(abs(x))) - 5)
    return "%.10g" % ((math.ceil if up else math.floor)(x / unit) * unit)


def section(epsctl, peers, settings=None, deltas=None, rates=None):
    settings = settings or SETTINGS
    epsilons = [("%g" % delta, {"epsilonAtDelta": delta}, {"delta": delta}) for delta in deltas or DELTAS]
    caught = [("%g" % rate, {"truePositiveRateAt": rate}, {"false_positive_rate": rate}) for rate in rates or RATES]
    versions = "; ".join("%s (%s)" % (p.name, p.version or "absent: " + p.absent) for p in peers)
    return "\n".join([
        *textwrap.wrap("Upper bounds on epsilon as each peer states them. **unsound**: below our certified lower bound. -: it has no"
                       " such function, or was not asked after it was too slow at a larger delta. Peers: %s." % versions,
                       100, break_on_hyphens=False),
        "", *table(epsctl, peers, settings, "delta", "epsilon", epsilons), "",
        "The true positive rate of the best membership test, at a false positive rate. riskcal reads it off a",
        "loss distribution of dp_accounting at its default resolution:",
        "", *table(epsctl, [p for p in peers if p.name in ASKED_FOR_RATES], settings, "false positive rate",
                   "true_positive_rate", caught)])


ASKED_FOR_RATES = ("riskcal",)


def table(epsctl, peers, settings, head, query, places):
    """Lines of a table: `places` are (text, our query, the peers' question)."""
    questions = [(setting, place) for setting in settings for place in places]
    ours = certified(epsctl, [(setting, place[1]) for setting, place in questions])
    lines = ["| sampling prob., noise mult., steps | %s | certified | %s |" % (head, " | ".join(p.name for p in peers)),
             "|---" * (3 + len(peers)) + "|"]
    too_slow = set()  # (peer, setting)
    for (setting, (text, _, where)), (lower, upper) in zip(questions, ours):
        verdicts = []
        for peer in peers:
            if (peer.name, setting) in too_slow:
                verdicts.append(judge({"unsupported": "too slow at a larger delta"}, lower))
                continue
            verdicts.append(judge(peer.ask(query, [setting], **where), lower))
            if verdicts[-1].word == "too slow":
                too_slow.add((peer.name, setting))
        lines.append("| %g, %g, %d | %s | [%s, %s] | %s |" % (
            *setting, text, rounded(lower, False), rounded(upper, True), " | ".join(map(short, verdicts))))
        print(lines[-1], file=sys.stderr, flush=True)
        for peer, verdict in zip(peers, verdicts):
            if verdict.detail and verdict.word in ("unsound", "raised"):
                print("%s at %s, %s %s: %s" % (peer.name, setting, head, text, verdict.detail), file=sys.stderr)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsctl", required=True)
    parser.add_argument("--peers-python", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one answer of a peer")
    parser.add_argument("--write", metavar="FILE", help="rewrite the section of this file")
    arguments = parser.parse_args()
    peers = start_peers(arguments.peers_python, arguments.timeout)
    try:
        text = section(arguments.epsctl, peers)
    finally:
        for peer in peers:
            peer.close()
    if arguments.write:
        markdown_section.replace(arguments.write, "peers", text)
    else:
        print(text)


if __name__ == "__main__":
    main()
