#!/usr/bin/env python3
"""Our accounting against its targets, beside other accountants on the same questions.

    compare_with_peers.py --program build/release/tests/benchmark/accounting_benchmark
                          [--peers-python PATH] [--rounds N] [--case NAME] [--write README.md]

Asks ours and each peer in turn, round by round, and prints one Markdown table of ratios, counts and
yes or no: nothing in it depends on the machine but the yes or no. Absolute figures go to standard
error. --write puts the tables between <!-- accounting:begin --> and <!-- accounting:end -->.

The peers are those that --peers-python can import; one that is absent is skipped, and its column
says so:

    python3 -m venv DIR && DIR/bin/pip install dp-accounting prv-accountant numpy scipy
    DIR/bin/pip install --no-deps opacus      # its accountants need no torch
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "agreement"))
import markdown_section  # noqa: E402
from peer_process import start_peers  # noqa: E402
from peers import PEERS  # noqa: E402
from verdicts import judge  # noqa: E402

# What a peer is asked where our question has another name.
PEER_QUERY = {"distinct_events": "epsilon", "peak_memory": "epsilon", "delta_range": "epsilon"}
# No peer has a trade-off function; the worker is not asked.
NO_PEER = ("trade_off_curve", "trade_off_point")
# A peer that takes longer than this is asked once.
PATIENCE_SECONDS = 20


class Ours:
    """accounting_benchmark, one process for each question."""

    def __init__(self, program, repetitions, timeout):
        self._program = program
        self._repetitions = repetitions
        self._timeout = timeout

    def cases(self):
        run = subprocess.run([self._program, "--list"], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def ask(self, case):
        """{"seconds": ..., "lower": ...}, {"timeout": seconds} or {"error": reason}."""
        command = [self._program, "--case=" + case["case"], "--repetitions=%d" % self._repetitions]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=self._timeout, check=False)
        except subprocess.TimeoutExpired:
            return {"timeout": self._timeout}
        for line in run.stdout.splitlines():
            answer = json.loads(line)
            if answer["case"] == case["case"]:
                if "error" in answer:
                    return {"error": answer["error"]}
                return {name: float(value) for name, value in answer["result"].items()}
        return {"error": "no answer, exit code %d" % run.returncode}


def middle(rounds):
    """The rounds as one answer: the median of every time and size, the last of every other field."""
    answer = dict(rounds[-1])
    for name in answer:
        if name.endswith("seconds") or name == "peak_bytes":
            answer[name] = statistics.median(r[name] for r in rounds if name in r)
    return answer


def failed(answer):
    return not ("seconds" in answer or "peak_bytes" in answer)


def ask_peer(peer, case):
    if case["query"] in NO_PEER:
        return {"unsupported": "no trade-off function"}
    return peer.ask(PEER_QUERY.get(case["query"], case["query"]), case["steps"], delta=case["delta"],
                    epsilon=case["epsilon"], fresh=case["query"] == "peak_memory")


def measure(case, ours, peers, rounds):
    """One answer of ours and one of each peer, from interleaved rounds."""
    columns = [[] for _ in range(1 + len(peers))]
    for _ in range(1 if case["query"] in ("delta_range", "peak_memory") else rounds):
        if not columns[0] or not failed(columns[0][-1]):
            columns[0].append(ours.ask(case))
        for column, peer in zip(columns[1:], peers):
            if not column or not (failed(column[-1]) or column[-1]["seconds"] > PATIENCE_SECONDS):
                column.append(ask_peer(peer, case))
    for name, column in zip(["ours"] + [p.name for p in peers], columns):
        print("%s: %s: %s" % (case["case"], name, json.dumps(middle(column))), file=sys.stderr, flush=True)
    return [middle(column) for column in columns]


# ---- cells ---------------------------------------------------------------------------------------

UNITS = [("bytes", 1e6, "MB"), ("seconds", 1e-3, "ms")]


def target_text(name, value):
    for ending, unit, word in UNITS:
        if name.endswith(ending):
            what = name[:-len(ending)].replace("_", " ").strip()
            return ("%s <= %g %s" % (what, value / unit, word)).strip()
    return "%s <= %g" % (name.replace("_", " "), value)


def targets_cell(case, answer):
    if failed(answer):
        return "**no**: > %g s" % answer["timeout"] if "timeout" in answer else "**no**: " + answer["error"]
    # An epsilon within 1e-6 is narrow enough, however small it is.
    narrow = case["query"] not in ("delta",) and answer.get("upper", 1) - answer.get("lower", 0) <= 1e-6
    cells = []
    for name, value in sorted(case["targets"].items(), key=lambda t: (t[0] == "relative_width", t[0])):
        within = answer[name] <= value or (name == "relative_width" and narrow)
        cells.append("%s: %s" % (target_text(name, value), "yes" if within else "**no**"))
    return "; ".join(cells) or "none"


def width_cell(answer):
    width = answer.get("relative_width")
    if width is None and "widest" in answer:
        return "%.1e, absolute" % answer["widest"]
    return "-" if width is None else "inf" if math.isinf(width) else "%.1e" % width


def ratio(x):
    return "%.2g" % x if x < 10 else "%.0f" % x


def bound_text(verdict, lower, as_ratio=False):
    """How far a peer's upper bound is above our lower one; "" where that was not asked."""
    if verdict.word in ("unsound", "upper bound"):
        if lower <= 0:
            return "exact" if verdict.value <= 1e-6 else "%.2g for 0" % verdict.value
        over = 100 * (verdict.value / lower - 1)
        text = ("%+.2g%%" if abs(over) < 100 else "%+.0f%%") % over if over < 1000 else "x %.0f" % (verdict.value / lower)
        return "**unsound** %s" % text if verdict.word == "unsound" else text
    return {"infinite": "inf", "raised": "raises " + verdict.detail.split(":")[0],
            "too slow": verdict.detail}.get(verdict.word, verdict.word)


def peer_cell(case, ours, theirs):
    measured = "peak_bytes" if case["query"] == "peak_memory" else "seconds"
    if failed(theirs):
        return bound_text(judge(theirs, 0), 0).replace("none", "-")
    if failed(ours):
        return "answers"
    if case["query"] == "delta_range":
        return bound_text(judge(theirs, ours["lower"]), ours["lower"])
    cell = ratio(theirs[measured] / max(ours[measured], 1e-9))
    if "upper" in theirs and "lower" in ours:
        cell += " (%s)" % bound_text(judge(theirs, ours["lower"]), ours["lower"])
    if "value" in theirs:
        cell += " (%+.2g%%)" % (100 * (theirs["value"] / ours["value"] - 1))
    return cell


def table(results, peers, first, columns):
    heading = [first, "target, and within it", "width"] + [p.name for p in peers]
    lines = ["| %s |" % " | ".join(heading), "|---" * len(heading) + "|"]
    for case, (ours, *theirs) in results:
        cells = [columns(case), targets_cell(case, ours), width_cell(ours)]
        cells += [peer_cell(case, ours, t) for t in theirs]
        lines.append("| %s |" % " | ".join(cells))
    return "\n".join(lines)


def case_title(case):
    if case["query"] == "delta_range":
        return "%s, delta %g" % (steps_title(case["steps"]), case["delta"])
    title = case["query"].replace("_", " ")
    return title if len(case["steps"]) > 1 else "%s: %s" % (title, steps_title(case["steps"]))


def steps_title(steps):
    return "%g, %g, %d" % tuple(steps[0])


def report(results, peers, rounds):
    who = "; ".join("%s (%s)" % (p.name, p.version or "absent: " + p.absent) for p in peers)
    timed = [r for r in results if r[0]["query"] != "delta_range"]
    reach = [r for r in results if r[0]["query"] == "delta_range"]
    parts = ["Peers, in the same run, %d interleaved rounds: %s." % (rounds, who or "none asked")]
    if timed:
        parts.append(
            "The cell of a peer is its time divided by ours, or for `peak memory` its bytes divided by ours. In\n"
            "parentheses it says how far the peer's upper bound is above our lower bound; for `calibration`, how\n"
            "far its noise multiplier is above ours. **unsound**: below our lower bound. The settings are\n"
            "sampling probability, noise multiplier, steps.")
        parts.append(table(timed, peers, "case", case_title))
    if reach:
        parts.append("How far delta may go: a peer's epsilon against our certified lower bound.")
        parts.append(table(reach, peers, "setting", case_title))
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="accounting_benchmark")
    parser.add_argument("--peers-python", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--peers", help="only these, separated by commas; 'none' for none; default: %s"
                        % ", ".join(PEERS))
    parser.add_argument("--case", default="", help="only cases whose name begins with this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=5, help="of ours in each round; its median counts")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one question")
    parser.add_argument("--write", metavar="FILE", help="rewrite the section of this file")
    arguments = parser.parse_args()
    wanted = None if arguments.peers is None else [] if arguments.peers == "none" else arguments.peers.split(",")
    unknown = set(wanted or []) - set(PEERS)
    if unknown:
        parser.error("no such peer: " + ", ".join(sorted(unknown)))
    ours = Ours(arguments.program, arguments.repetitions, arguments.timeout)
    peers = start_peers(arguments.peers_python, arguments.timeout, wanted)
    for peer in peers:
        if peer.absent:
            print("skipped: %s is absent (%s)" % (peer.name, peer.absent), file=sys.stderr)
    try:
        results = [(case, measure(case, ours, peers, arguments.rounds))
                   for case in ours.cases() if case["case"].startswith(arguments.case)]
    finally:
        for peer in peers:
            peer.close()
    if not results:
        parser.error("no case begins with '%s'" % arguments.case)
    text = report(results, peers, arguments.rounds)
    if arguments.write:
        markdown_section.replace(arguments.write, "accounting", text)
    else:
        print(text)
    # A target missed is a figure, not a failure; a question without an answer is.
    return 1 if any("error" in answers[0] for _, answers in results) else 0


if __name__ == "__main__":
    sys.exit(main())
