"""client/python/README.md does what it says: its epsctl lines and its Python, in order, against a fresh server."""
import contextlib
import io
import os
import re
import shlex
import sys
import unittest
from unittest import mock

import epsledger
from killable_ledger import KillableLedger

# The calculator, where it was built.
ACCOUNTING = os.path.join(os.environ.get("EPSLEDGER_BUILD", ""), "client/python/accounting")
README = os.path.join(os.path.dirname(__file__), "..", "..", "client", "python", "README.md")


class Readme(unittest.TestCase):
    def test_its_commands_and_its_python_run_in_order(self):
        with open(README, encoding="utf-8") as stream:
            text = stream.read()
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        commands = re.findall(r"^    epsctl (.*)$", text.replace("\\\n", ""), re.MULTILINE)
        self.assertEqual(len([line for line in blocks[0].splitlines() if line]), 6)
        if os.path.isdir(ACCOUNTING):
            sys.path.insert(0, ACCOUNTING)
            self.addCleanup(sys.path.remove, ACCOUNTING)
        else:
            blocks = [block for block in blocks if "import accounting" not in block]
        with KillableLedger() as server:
            for command in commands:
                server.ctl(*shlex.split(command))
            namespace = {}
            with mock.patch.dict(os.environ, {"EPSLEDGER_HTTP": server.address}), \
                    contextlib.redirect_stdout(io.StringIO()) as printed:
                for number, block in enumerate(blocks):
                    exec(compile(block, "README.md, block %d" % (number + 1), "exec"), namespace)
            with epsledger.connect(address=server.address) as client:
                # From first-run: 1, 5 of guard, 1 of the decorator, 2, 2 of charge_each, 100 of the lease; of
                # planned-run 1; of the rest 4.
                self.assertEqual(client.budget("people").accepted_charge_count, 1 + 5 + 1 + 1 + 2 + 1 + 1 + 4)
            namespace["client"].close()
        self.assertIn("charged, durably", printed.getvalue())
        self.assertRegex(printed.getvalue(), r"epsilon [\d.]+ at delta 1e-05 was spent, by")
        self.assertIn("PRIVACY STATEMENT", printed.getvalue())

    def test_its_table_of_errors_names_those_there_are(self):
        with open(README, encoding="utf-8") as stream:
            table = stream.read().split("## Errors")[1].split("All are")[0]
        named = set(re.findall(r"`([A-Z]\w+)`", "".join(line.split("|")[1] for line in table.splitlines()
                                                        if line.startswith("| `"))))
        there = {name for name in epsledger.__all__ if isinstance(getattr(epsledger, name), type)
                 and issubclass(getattr(epsledger, name), epsledger.EpsledgerError)}
        self.assertEqual(named, there - {"EpsledgerError", "CallFailed"})


if __name__ == "__main__":
    unittest.main()
