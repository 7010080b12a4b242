"""Shows the check of versions something that breaks each of its rules."""
import unittest

import versions
from self_test import Trees


class Versions(Trees):
    GOOD = {
        "CMakeLists.txt": "project(epsledger VERSION 1.2.3 LANGUAGES CXX)\n",
        "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n## 1.2.0\n",
        "client/java/pom.xml": "  <artifactId>epsledger</artifactId>\n  <version>1.2.3</version>\n",
        "client/python/pyproject.toml": 'version = "1.2.3"\nfast = ["epsledger-accounting==1.2.3"]\n',
        "client/python/accounting/pyproject.toml": 'version = "1.2.3"\n',
        "client/python/epsledger/__init__.py": '__version__ = "1.2.3"\n',
        "client/rust/Cargo.toml": 'version = "1.2.3"\n',
        "client/rust/Cargo.lock": 'name = "epsledger"\nversion = "1.2.3"\n',
        "docker/Dockerfile": '# epsledger/server:1.2.3\nLABEL org.opencontainers.image.version="1.2.3"\n',
        "docker/compose.yaml": "image: epsledger/server:1.2.3\n",
        "docker/helm/Chart.yaml": 'version: 1.2.3\nappVersion: "1.2.3"\n',
    }

    def test_a_tree_of_one_version_passes(self):
        self.assertEqual(self.rules(versions.check, self.GOOD), [])

    def test_each_place_that_says_another_version_is_found(self):
        for file in versions.PLACES:
            other = self.GOOD[file].replace("1.2.3", "1.2.4", 1)
            self.assertEqual(self.rules(versions.check, dict(self.GOOD, **{file: other})), ["version"], file)
            self.assertIn("version-place", self.rules(versions.check, dict(self.GOOD, **{file: "\n"})), file)
        self.assertEqual(self.rules(versions.check, dict(self.GOOD, **{"CMakeLists.txt": "project(x)\n"})), ["version-place"])

    def test_the_changelog(self):
        for rule, text in (("changelog-version", "## Unreleased\n## 1.2.2\n"), ("changelog-version", "## Unreleased\n"),
                           ("changelog-heading", "## Next\n## 1.2.3\n"), ("changelog-order", "## 1.2.3\n## Unreleased\n"),
                           ("changelog-order", "## 1.2.3\n## 1.2.4\n"), ("changelog-order", "## 1.2.3\n## 1.2.3\n")):
            self.assertEqual(self.rules(versions.check, dict(self.GOOD, **{"CHANGELOG.md": text})), [rule], text)

    def test_a_tag_is_on_a_commit_of_its_version(self):
        released, unreleased = "## 1.2.3\n", "## Unreleased\n## 1.2.3\n"
        self.assertEqual(list(versions.check_changelog(released, "1.2.3", ["v1.2.3", "nightly"])), [])
        self.assertEqual([v.rule for v in versions.check_changelog(released, "1.2.3", ["v1.2.4"])], ["tag"])
        self.assertEqual([v.rule for v in versions.check_changelog(unreleased, "1.2.3", ["v1.2.3"])], ["tag"])


if __name__ == "__main__":
    unittest.main()
