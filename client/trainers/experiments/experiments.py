#!/usr/bin/env python3
"""experiments.py FAMILY [TABLE ...]: regenerates the tables of client/trainers/README.md.

Starts a real epsledgerd on loopback, gives every run its own budget, runs a few trainer programs at a time,
and writes the results from their logs as Markdown between markers. Every number in a table is a mean over runs
with the production noise, which has no seed: the last digits differ from one experiment to the next.

A family is FAMILY_tables.py in the folder of this file with every FAMILY_PART_tables.py there, each with

    TABLES = {"name": function}   # function(Bench) -> Markdown, and its docstring is the table's title

Standard library only.
"""
import argparse
import importlib
import pathlib
import sys
import time

import ledger as ledgers
import markdown
import runs

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "README.md"


class Bench:
    """Runs the trainers for a table."""

    def __init__(self, ledger, run_count, at_a_time, say, kept, pictures=None):
        self.ledger = ledger
        self._pictures = pictures  # a folder; None: no picture is written
        self.run_count = run_count  # None: the table's own
        self._runner = runs.Runner(ledger, at_a_time, say, kept)

    def runs(self, trainer, count, name=""):
        return self._runner.runs(trainer, self.run_count or count, name)

    def picture(self, file, svg):
        """Writes a picture beside the page, whose table has a link to `file`."""
        if self._pictures is not None:
            (self._pictures / file).write_text(svg)


def say(text):
    print("==> " + text, file=sys.stderr, flush=True)


def families():
    """Returns {family: its modules}."""
    modules = {}
    for module in sorted(path.stem for path in HERE.glob("*_tables.py")):
        modules.setdefault(module.split("_")[0], []).append(module)
    return modules


def tables_of(family):
    tables = {}
    for module in sorted(families()[family], key=lambda name: (name != family + "_tables", name)):
        for name, table in importlib.import_module(module).TABLES.items():
            if name in tables:
                raise SystemExit("experiments: two tables %s %s" % (family, name))
            tables[name] = table
    return tables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=sorted(families()))
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="all of the family if none is named")
    parser.add_argument("--build-dir", required=True, type=pathlib.Path, help="where the programs are built")
    parser.add_argument("--runs", type=int, help="of each configuration, instead of the table's own number")
    parser.add_argument("--at-a-time", type=int, default=runs.MOST_AT_A_TIME)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE",
                        help="keep every run's result in FILE, and do not run again what stands there: an "
                             "interrupted table goes on. Delete it when the trainers change")
    parser.add_argument("--print", action="store_true", dest="only_print",
                        help="print, and leave the page and its pictures alone")
    parser.add_argument("--list", action="store_true", help="the tables of the family")
    arguments = parser.parse_args()
    tables = tables_of(arguments.family)
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
            content = tables[name](Bench(ledger, arguments.runs, arguments.at_a_time, say, arguments.keep,
                                         None if arguments.only_print else PAGE.parent))
        title = tables[name].__doc__.strip().splitlines()[0]
        heading = "**%s** (`./dev experiments %s %s`)" % (title, arguments.family, name)
        content = markdown.wrapped(heading + "\n\n" + content)
        print(content, flush=True)
        # Written as soon as the table is complete: the next one may take long.
        if not arguments.only_print:
            PAGE.write_text(markdown.put(PAGE.read_text(), "%s %s" % (arguments.family, name), content))
        say("%s took %.0f s" % (name, time.monotonic() - started))


if __name__ == "__main__":
    main()
