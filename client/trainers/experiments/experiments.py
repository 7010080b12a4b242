#!/usr/bin/env python3
"""experiments.py FAMILY [TABLE ...]: regenerates the tables of client/trainers/README.md.

Starts a real epsledgerd on loopback, gives every run its own budget, runs a few trainer programs at a time,
and writes the results from their logs as Markdown between markers. Every number in a table is a mean over runs
with the production noise, which has no seed: the last digits differ from one experiment to the next.

A family is a module FAMILY_tables.py in the folder of this file, with

    TABLES = {"name": function}   # function(Bench) -> Markdown, and its docstring is the table's title

Standard library only.
"""
import argparse
import importlib
import pathlib
import sys
import textwrap
import time

import ledger as ledgers
import markdown
import runs

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "README.md"


class Bench:
    """Runs the trainers for a table."""

    def __init__(self, ledger, run_count, at_a_time, say, kept):
        self.ledger = ledger
        self.run_count = run_count  # None: the table's own
        self._runner = runs.Runner(ledger, at_a_time, say, kept)

    def runs(self, trainer, count, name=""):
        return self._runner.runs(trainer, self.run_count or count, name)


def say(text):
    print("==> " + text, file=sys.stderr, flush=True)


def main():
    families = sorted(path.stem[:-len("_tables")] for path in HERE.glob("*_tables.py"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=families)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="all of the family if none is named")
    parser.add_argument("--build-dir", required=True, type=pathlib.Path, help="where the programs are built")
    parser.add_argument("--runs", type=int, help="of each configuration, instead of the table's own number")
    parser.add_argument("--at-a-time", type=int, default=runs.MOST_AT_A_TIME)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE",
                        help="keep every run's result in FILE, and do not run again what stands there: an "
                             "interrupted table goes on. Delete it when the trainers change")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print, and leave the page alone")
    parser.add_argument("--list", action="store_true", help="the tables of the family")
    arguments = parser.parse_args()
    tables = importlib.import_module(arguments.family + "_tables").TABLES
    if arguments.list:
        for name, make in tables.items():
            print("%-24s %s" % (name, make.__doc__.strip().splitlines()[0]))
        return
    unknown = sorted(set(arguments.tables) - set(tables))
    if unknown:
        parser.error("no table %s; there are: %s" % (", ".join(unknown), ", ".join(tables)))
    for name in arguments.tables or tables:
        started = time.monotonic()
        say(name)
        with ledgers.Ledger(arguments.build_dir) as ledger:
            content = tables[name](Bench(ledger, arguments.runs, arguments.at_a_time, say, arguments.keep))
        title = tables[name].__doc__.strip().splitlines()[0]
        heading = "**%s** (`./dev experiments %s %s`)" % (title, arguments.family, name)
        content = textwrap.fill(heading, 100, break_on_hyphens=False) + "\n\n" + content
        print(content, flush=True)
        # Written as soon as the table is complete: the next one may take long.
        if not arguments.only_print:
            PAGE.write_text(markdown.put(PAGE.read_text(), "%s %s" % (arguments.family, name), content))
        say("%s took %.0f s" % (name, time.monotonic() - started))


if __name__ == "__main__":
    main()
