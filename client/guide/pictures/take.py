#!/usr/bin/env python3
"""Makes the pictures of README.md from the real thing: take.py BUILD_DIR

dashboard.png is the dashboard of a real server in chromium, with three budgets and what was spent of them. refused.svg
is what epsctl prints when a budget has no room: nothing in it is typed by hand. EPSLEDGER_CHROMIUM names the browser
(default /usr/bin/chromium); without one only refused.svg is made.
"""
import html
import os
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "tests", "end_to_end"))
from served_ledger import ServedLedger  # noqa: E402  its folder was added in the line above

COLUMNS, ROW, GLYPH = 94, 19, 7.83
EVENT = ("--gaussian", "1.1", "--sampling-probability", "0.01")
RELATION = ("--relation", "add-or-remove-one")


def ctl(server, *arguments):
    """Pricing the reference of a budget takes a while on a machine that has other work."""
    subprocess.run([server.epsctl, "--server", server.grpc, "--timeout", "900", *arguments], check=True,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def spend(server):
    small = ("--gaussian", "50")
    for name, cap, event, unit, steps in (
            ("patients", ("--epsilon", "3", "--delta", "1e-5", *EVENT), EVENT, "patient", 2900),
            ("photos", ("--rho", "0.5"), small, "user", 1500), ("keyboard", ("--rho", "1"), small, "device", 900)):
        ctl(server, "budget", "create", name, *cap, *RELATION, "--privacy-unit", unit)
        for number in range(1, 4):
            session = "%s/run-%d" % (name, number)
            ctl(server, "session", "create", session, *RELATION, "--no-own-cap")
            ctl(server, "charge", "create", session, "--open-attempt", "--charge-id", "steps", *event, "--count",
                str(steps // 3))


class Terminal:
    """The commands that were typed, and what the terminal showed."""

    def __init__(self, server):
        self._server, self.lines = server, []

    def type(self, *arguments):
        typed = textwrap.wrap("$ epsctl " + " ".join(arguments), COLUMNS - 2, subsequent_indent="    ",
                              break_on_hyphens=False)
        self.lines += [("typed", line + (" \\" if line is not typed[-1] else "")) for line in typed]
        run = subprocess.run([self._server.epsctl, "--server", self._server.grpc, "-o", "table", "--timeout", "900",
                              *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        for line in run.stdout.rstrip("\n").split("\n"):
            kind = "refused" if "REFUSED" in line or line.startswith("epsctl: refused") else "shown"
            for part in textwrap.wrap(line, COLUMNS, subsequent_indent="  ", break_on_hyphens=False,
                                      drop_whitespace=False) or [""]:
                self.lines.append((kind, part.rstrip()))
        self.lines.append(("typed", "$ echo $?"))
        self.lines.append(("shown", str(run.returncode)))

    def svg(self):
        width, height = round(COLUMNS * GLYPH) + 32, len(self.lines) * ROW + 28
        rows = "\n".join('<text x="16" y="%d" class="%s" xml:space="preserve">%s</text>'
                         % (28 + n * ROW, kind, html.escape(line, quote=False))
                         for n, (kind, line) in enumerate(self.lines))
        return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">\n'
                "<title>A charge that is refused, in a terminal</title>\n"
                "<style>text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d6dbe4 }\n"
                ".typed { fill: #ffffff; font-weight: bold } .refused { fill: #ffb3a7 }</style>\n"
                '<rect width="100%%" height="100%%" rx="8" fill="#1b2130"/>\n%s\n</svg>\n' % (width, height, rows))


def photograph(browser, url, file):
    with tempfile.TemporaryDirectory(prefix="epsledger-picture.") as profile:
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        "--window-size=1200,720", "--virtual-time-budget=20000", "--user-data-dir=" + profile,
                        "--screenshot=" + file, url], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(build):
    with ServedLedger(build) as server:
        spend(server)
        terminal = Terminal(server)
        terminal.type("charge", "create", "patients/run-3", "--attempt", "1", "--charge-id", "more", *EVENT, "--count",
                      "1000")
        with open(os.path.join(HERE, "refused.svg"), "w", encoding="utf-8") as file:
            file.write(terminal.svg())
        browser = os.environ.get("EPSLEDGER_CHROMIUM", "/usr/bin/chromium")
        if not os.access(browser, os.X_OK):
            print("there is no browser at %s: dashboard.png stays as it is" % browser)
            return
        photograph(browser, "http://%s/" % server.http, os.path.join(HERE, "dashboard.png"))


if __name__ == "__main__":
    main(sys.argv[1])
