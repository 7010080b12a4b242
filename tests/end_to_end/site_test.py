"""The site of the documentation: no page links to what is not there, and ./dev docs makes it: site_test.py BUILD_DIR

Sphinx is installed by ./dev docs only; without it the links are checked, and the site is not made.
"""
import importlib.util
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "client", "guide", "site"))
import api_reference  # noqa: E402  its folder was added in the line above
import build  # noqa: E402
import python_reference  # noqa: E402


class SiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="epsledger-site.")
        self.addCleanup(folder.cleanup)
        self.output = folder.name

    def read(self, *path):
        with open(os.path.join(self.output, *path), encoding="utf-8") as stream:
            return stream.read()

    def test_no_page_links_to_what_is_not_there(self):
        self.assertEqual(build.main(self.output, only_links=True), 0)

    def test_a_dead_link_is_found_with_its_line_and_a_link_in_code_is_none(self):
        page = "client/guide/TUTORIAL.md"
        dead = []
        build.copy(page, self.output, dead)
        self.assertEqual(dead, [])
        kept = build.ROOT
        self.addCleanup(setattr, build, "ROOT", kept)
        build.ROOT = os.path.join(self.output, "tree")
        os.makedirs(build.ROOT)
        with open(os.path.join(build.ROOT, "a.md"), "w", encoding="utf-8") as stream:
            stream.write("# A\n\n```sh\n[x](in_code.md)\n```\n\n[y](gone.md)\n\n[z]: gone.png\n[a](#a) [b](#b)\n")
        build.copy("a.md", os.path.join(self.output, "source"), dead)
        self.assertEqual(dead, ["a.md:7: gone.md is not there", "a.md:9: gone.png is not there",
                                "a.md:10:  has no title #b"])

    def test_the_references_have_what_people_look_for(self):
        written = python_reference.write(ROOT, os.path.join(self.output, "python"))
        self.assertIn("epsledger.session", written)
        self.assertNotIn("epsledger.connection", written)
        session = self.read("python", "epsledger.session.md")
        for method in ("charge", "guard", "lease", "spent"):
            self.assertRegex(session, r"(?m)^### Session\.%s$" % method)
        api_reference.write(ROOT, os.path.join(self.output, "api"))
        self.assertRegex(self.read("api", "charge_service.md"), r"(?m)^### ChargeService\.Charge$")
        self.assertRegex(self.read("api", "mechanism.md"), r"\| `noise_multiplier` \| double \| \w")

    @unittest.skipUnless(importlib.util.find_spec("sphinx") and importlib.util.find_spec("myst_parser"),
                         "sphinx and myst-parser are not installed (docker/packages/docs.txt)")
    def test_the_site_is_made_and_reads_nothing_from_the_network(self):
        self.assertEqual(build.main(self.output), 0)
        page = self.read("html", "client", "guide", "TUTORIAL.html")
        self.assertIn("Signed by the owner of this key", page)
        fetched = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(https?:[^\"]*)", page)
        self.assertEqual(fetched, [])


if __name__ == "__main__":
    sys.argv.pop(1)  # the build folder: the site is made from the tree alone
    unittest.main()
