"""Every block of the guide does what the page shows: guide_test.py BUILD_DIR

Each page of client/guide is read top to bottom on a new machine (page_runner.py), and its output is compared. Blocks that need another library run where EPSLEDGER_PEERS_PYTHON has it.
"""
import glob
import os
import sys
import unittest

from page_runner import ROOT, Reader, blocks, matches, prompts

PAGES = sorted(os.path.relpath(page, ROOT) for page in glob.glob(os.path.join(ROOT, "client", "guide", "*.md")))
RUN = {"console", "sh", "python"}
NOT_RUN = {"", "text", "json", "by hand"}


class GuideTest(unittest.TestCase):
    build = None

    def test_each_page_does_what_it_shows(self):
        self.assertGreater(len(PAGES), 5)
        for name in PAGES:
            with self.subTest(page=name), Reader(self.build) as reader:
                page = reader.read(name)
                for skipped in page.skipped:
                    print("skipped: " + skipped)
                self.assertEqual(page.problems, [], "\n\n".join(page.problems))

    def test_no_page_has_a_block_that_is_neither_run_nor_known(self):
        for name in PAGES:
            with open(os.path.join(ROOT, name), encoding="utf-8") as stream:
                for block in blocks(stream.read()):
                    kind = block.kind.split()[0] if block.kind.startswith("python") else block.kind
                    self.assertIn(kind, RUN | NOT_RUN, "%s:%d" % (name, block.line))
                    self.assertNotEqual(block.text.strip(), "", "%s:%d" % (name, block.line))


class RunnerTest(unittest.TestCase):
    """The runner itself must be able to fail."""

    def test_dots_stand_for_anything_and_nothing_else_does(self):
        self.assertTrue(matches("a\n...\nz", "a\nz"))
        self.assertTrue(matches("a\n...\nz", "a\nb\nc\nz\n"))
        self.assertTrue(matches("at ... o'clock", "at 12 o'clock"))
        self.assertFalse(matches("at ... o'clock", "at 12\n o'clock"))
        self.assertFalse(matches("epsilon 1", "epsilon 11"))
        self.assertFalse(matches("", "something"))
        self.assertTrue(matches("", ""))
        self.assertTrue(matches("one \\\n    two\nthree", "one two\nthree"))
        self.assertFalse(matches("one \\\n    two\nthree", "one\ntwo\nthree"))

    def test_a_command_goes_on_after_a_backslash_and_its_output_follows(self):
        self.assertEqual(prompts("$ a \\\n    b\nout\n$ c"), [(0, "a \\\n    b", "out"), (3, "c", "")])

    def test_blocks_know_their_line_and_kind(self):
        self.assertEqual([tuple(b) for b in blocks("x\n```sh\na\n```\n```\nb\n```\n")], [(3, "sh", "a"), (6, "", "b")])


if __name__ == "__main__":
    GuideTest.build = sys.argv.pop(1)
    unittest.main()
