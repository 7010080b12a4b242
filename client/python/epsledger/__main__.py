"""A look at a ledger from where the training script runs: python -m epsledger, or epsledger where it is installed.

    epsledger version
    epsledger budgets
    epsledger session people/first-run --delta 1e-5
    epsledger watch people

It reads and never charges; epsctl does the rest. The server and the caller are those of the environment, as for
connect(). Exit codes: 0; 1 if the server's answer is an error, or there is none; 2 if the command is not one.
"""
from __future__ import annotations

import argparse
import sys
from typing import List, Optional, Sequence

import epsledger

from .guarantees import Guarantees
from .rounded import rounded_up
from .watching import resource_name


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs one command and returns its exit code."""
    given = _parser().parse_args(arguments)
    if given.command == "version":
        print("epsledger " + epsledger.__version__)
        return 0
    try:
        with epsledger.connect(address=given.address, transport=given.transport) as client:
            {"budgets": _budgets, "session": _session, "watch": _watch}[given.command](client, given)
    except epsledger.EpsledgerError as error:
        print("epsledger: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # the end of a watch
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="epsledger", description="Reads a privacy ledger. epsctl does more.")
    parser.add_argument("--address", help="the server; default: EPSLEDGER_HTTP or, with grpc, EPSLEDGER_SERVER")
    parser.add_argument("--transport", choices=("http", "grpc"), default="http")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("version", help="the version of this package")
    commands.add_parser("budgets", help="every budget, and how much of it is spent")
    session = commands.add_parser("session", help="what a session has charged and spent")
    session.add_argument("name", help="people/first-run, or budgets/people/sessions/first-run")
    session.add_argument("--delta", type=float, default=1e-5, help="at which epsilon is stated; default 1e-5")
    watch = commands.add_parser("watch", help="what happens in a budget or session, as it happens")
    watch.add_argument("name", help="people, people/first-run, or a whole name")
    watch.add_argument("--after", type=int, default=0, help="begin after this entry; default: with the first")
    return parser


def _budgets(client: epsledger.Client, given: argparse.Namespace) -> None:
    rows = [(budget.name.partition("/")[2], budget.state, rounded_up(100 * budget.spent_fraction, 3) + " %",
             str(budget.accepted_charge_count), str(budget.refused_charge_count)) for budget in client.budgets()]
    _print_table([("BUDGET", "STATE", "SPENT", "ACCEPTED", "REFUSED"), *rows])


def _session(client: epsledger.Client, given: argparse.Namespace) -> None:
    name = _whole_name(given.name)
    session = client.call("SessionService/GetSession", {"name": name})
    guarantees = Guarantees.from_json(
        client.call("SessionService/GetSessionGuarantees", {"name": name, "delta": given.delta}), given.delta)
    print("%s, %s, %s" % (name, session.get("mode", ""), session.get("state", "")))
    print("%s charges accepted, %s refused, %s steps" % tuple(
        session.get(field, "0") for field in ("acceptedChargeCount", "refusedChargeCount", "stepCount")))
    print(guarantees.spent)
    if guarantees.steps_that_fit is not None:
        print("%d more single steps of the last event fit now" % guarantees.steps_that_fit)


def _watch(client: epsledger.Client, given: argparse.Namespace) -> None:
    for change in client.watch(_whole_name(given.name), after=given.after):
        print(change, flush=True)


def _whole_name(name: str) -> str:
    budget, slash, session = name.partition("/")
    if slash and budget != "budgets":
        name = "budgets/%s/sessions/%s" % (budget, session)
    return resource_name(name)


def _print_table(rows: List[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
