"""The worked examples of accounting/*/README.md: worked_examples_test.py EPSCTL

A line of JSON is a request of `epsctl compute`, one that begins with epsctl is a command; the line after it, "-> upper X
lower Y", is what the program answers, to all the digits that are shown."""
import glob
import json
import os
import shlex
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def examples(path):
    """(line number, request or command, the numbers by name) of a page."""
    with open(path, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("    -> "):
            words = line.split()[1:]
            yield number, lines[number - 2].strip(), dict(zip(words[::2], words[1::2]))


class WorkedExamples(unittest.TestCase):
    epsctl = None

    def _answer(self, asked):
        if asked.startswith("epsctl "):
            said = subprocess.run([self.epsctl, *shlex.split(asked)[1:]], capture_output=True, text=True, check=True)
            return json.loads(said.stdout)["epsilonLowerBound"]
        said = subprocess.run([self.epsctl, "compute"], input=asked + "\n", capture_output=True, text=True, check=False)
        answer = json.loads(said.stdout)
        self.assertNotIn("error", answer, asked)
        return answer

    def test_every_page_answers_what_it_says(self):
        pages = {page: list(examples(page)) for page in glob.glob(os.path.join(ROOT, "accounting", "*", "README.md"))}
        self.assertGreaterEqual(sum(len(found) for found in pages.values()), 10)
        for page, found in pages.items():
            for number, asked, wanted in found:
                with self.subTest("%s:%d" % (os.path.relpath(page, ROOT), number)):
                    answer = self._answer(asked)
                    for name, value in wanted.items():
                        digits = len(value.partition(".")[2])
                        self.assertEqual("%.*f" % (digits, answer[name]), value, name)


if __name__ == "__main__":
    WorkedExamples.epsctl = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
