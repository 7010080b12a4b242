"""Three people meet epsledger for the first time, and follow only what is written: walks_test.py BUILD_DIR [TRANSCRIPT]

Each starts from nothing: an empty home, no server, the built programs on PATH. The walk is the list of pages
and sections that they read. Whatever a page leaves out stops them, and is a problem of the page. Every prompt is recorded with the
seconds that it took; TRANSCRIPT is a file for all of them. Seconds are shown and never judged.
"""
import re
import sys
import unittest

from page_runner import ROOT, Reader

WALKS = {
    "trainer": [("client/guide/TUTORIAL.md", None)],
    "privacy officer": [("client/guide/CONCEPTS.md", None), ("client/guide/CHOOSING.md", None)],
    "platform engineer": [("client/guide/QUESTIONS.md", None)],
}


def indented(page, section):
    """The commands of the blocks that are indented by four spaces, as README.md has them."""
    with open("%s/%s" % (ROOT, page), encoding="utf-8") as stream:
        text = stream.read()
    text = text[text.index("\n## %s\n" % section):].split("\n## ")[1]
    block = "\n".join(line[4:] for line in text.split("\n") if line.startswith("    "))
    commands = re.sub(r"\\\n *", "", block).split("\n")
    return [line for line in commands if line and not line.startswith("#")]


def ten_questions():
    """The commands in the table of client/README.md."""
    with open(ROOT + "/client/README.md", encoding="utf-8") as stream:
        table = stream.read().split("\n## Ten questions")[1].split("\n## ")[0]
    return re.findall(r"^\|[^|]*\| `(epsctl [^`]*)` \|", table, re.MULTILINE)


class WalksTest(unittest.TestCase):
    build, transcript = None, None

    def record(self, who, steps):
        lines = ["%s: %d prompts, %.1f s" % (who, len(steps), sum(step.seconds for step in steps))]
        for step in steps:
            lines.append("  %6.2f s  %-44s %s" % (step.seconds, step.where, step.prompt.split("\n")[0]))
        print("\n".join(lines))
        if self.transcript:
            with open(self.transcript, "a", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")

    def test_everybody_gets_to_the_end_of_their_pages(self):
        for who, pages in WALKS.items():
            with self.subTest(who), Reader(self.build) as reader:
                read = [reader.read(name, section) for name, section in pages]
                self.record(who, [step for page in read for step in page.steps])
                problems = [problem for page in read for problem in page.problems]
                self.assertEqual(problems, [], "\n\n".join(problems))

    def test_the_first_charge_comes_after_five_commands(self):
        """README.md, "Five minutes": the server, a budget, a session, a charge."""
        commands = [c for c in indented("README.md", "Five minutes") if not re.match(r"\./dev |export ", c)]
        first = next(n for n, command in enumerate(commands) if command.startswith("epsctl charge create"))
        self.assertLessEqual(first + 1, 5, commands[:first + 1])
        with Reader(self.build) as reader:
            for command in commands[:first + 1]:
                code, printed = reader.type("README.md", command)
                self.assertEqual(code, 0, command + "\n" + printed)
            self.assertRegex(printed, r"decision +ACCEPTED")
            self.record("first charge", reader.typed)

    def test_the_officer_gets_ten_answers(self):
        questions = ten_questions()
        self.assertEqual(len(questions), 10)
        with Reader(self.build) as reader:
            for command in indented("README.md", "Five minutes"):
                if re.match("epsledgerd |epsctl (budget|session|charge) create", command):
                    self.assertEqual(reader.type("README.md", command)[0], 0, command)
            for command in questions:
                code, printed = reader.type("client/README.md", command)
                self.assertEqual(code, 0, command + "\n" + printed)
                if "--save" not in command and "refusals" not in command:
                    self.assertNotEqual(printed.strip(), "", command)
            self.record("ten questions", reader.typed)


if __name__ == "__main__":
    WalksTest.build = sys.argv.pop(1)
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        WalksTest.transcript = sys.argv.pop(1)
    unittest.main()
