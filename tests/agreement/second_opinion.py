"""A second opinion: answers of `epsctl compute` against independent truth, over random cases of every kind of event and
every relation: second_opinion.py BUILD_DIR [--cases N] [--seed S] [--only FAMILY]

`./dev agreement` runs it. A case is drawn from its number alone; --cases 1 --seed S repeats one. A line of JSON for each
answer that is wrong, then a table of what was compared. README.md says what is compared with what."""
import argparse
import collections
import json
import os
import sys
import time

from calibrated import CalibratedCase
from enumerated import EnumeratedCase
from epsctl_answers import answers_of
from inversion import InvertedCase
from joint_laws import JointCase

# Of 20 cases so many.
FAMILIES = (("enumeration", EnumeratedCase, 16), ("quadrature", JointCase, 1), ("inversion", InvertedCase, 2),
            ("calibration", CalibratedCase, 1))
ROUND = sum(share for _, _, share in FAMILIES)
CHUNK = 100


def family_of(seed):
    at = seed % ROUND
    for name, family, share in FAMILIES:
        if at < share:
            return name, family
        at -= share
    raise AssertionError(seed)


class Tally:
    """What was compared: by family, kind of event and relation."""

    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)
        self.wrong = []
        self.cases = 0

    def add(self, name, case, asked, answers):
        keys = [("truth", name), ("relation", case.relation)] + [("event", kind) for kind in sorted(case.kinds())]
        for key in keys:
            self.rows[key]["cases"] += 1
        for (label, request), answer in zip(asked, answers):
            word, problem = judge(case, label, answer)
            for key in keys + [("query", next(iter(request["query"]))), ("accountant", request["accountant"])]:
                self.rows[key][word] += 1
                if problem is None and word == "bounds" and case.is_tight():
                    self.rows[key]["two-sided"] += 1
            if problem is not None:
                self.wrong.append({"seed": case.seed, "truth": name, "query": label, "problem": problem,
                                   "request": request, "answer": answer})

    def table(self, kind):
        lines = ["| %s | cases | questions | bounds | exact truth | wrong |" % kind, "|---|---|---|---|---|---|"]
        for (of, name), row in sorted(self.rows.items()):
            if of == kind:
                asked = row["bounds"] + row["refused"] + row["wrong"]
                lines.append("| %s | %s | %d | %d | %d | %d |" % (
                    name, row["cases"] or "", asked, row["bounds"], row["two-sided"], row["wrong"]))
        return "\n".join(lines)


def judge(case, label, answer):
    if "error" in answer:
        code = answer["error"]["code"]
        fits = code == "UNIMPLEMENTED" or code == "FAILED_PRECONDITION" and getattr(case, "may_refuse", False)
        return ("refused", None) if fits else ("wrong", "refused with %s" % code)
    problem = case.problem(label, answer)
    return ("bounds", None) if problem is None else ("wrong", problem)


def run(epsctl, tally, seeds, report=None):
    """Judges the cases of these seeds; calls `report` with each answer that is wrong."""
    for start in range(0, len(seeds), CHUNK):
        cases = []
        for seed in seeds[start:start + CHUNK]:
            name, family = family_of(seed)
            case = family(seed)
            cases.append((name, case, case.asked()))
        answers = iter(answers_of(epsctl, [request for _, _, asked in cases for _, request in asked]))
        for name, case, asked in cases:
            before = len(tally.wrong)
            tally.add(name, case, asked, [next(answers) for _ in asked])
            for wrong in tally.wrong[before:]:
                if report:
                    report(wrong)
        tally.cases += len(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", help="the build folder, with client/cli/epsctl")
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1, help="the first case")
    parser.add_argument("--only", choices=[name for name, _, _ in FAMILIES])
    arguments = parser.parse_args()
    start, tally = time.monotonic(), Tally()
    seeds = [seed for seed in range(arguments.seed, arguments.seed + arguments.cases)
             if arguments.only in (None, family_of(seed)[0])]
    try:
        run(os.path.join(arguments.build, "client", "cli", "epsctl"), tally, seeds,
            lambda wrong: print(json.dumps(wrong), flush=True))
    except KeyboardInterrupt:
        print("stopped early", file=sys.stderr)
    for kind in ("truth", "relation", "event", "query", "accountant"):
        print("\n" + tally.table(kind))
    print("\n%d of %d cases from seed %d, %d wrong answers, %.0f s" % (
        tally.cases, len(seeds), arguments.seed, len(tally.wrong), time.monotonic() - start))
    return 1 if tally.wrong or tally.cases < len(seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
