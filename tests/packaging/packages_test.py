"""What `./dev package` makes of the build as it is, looked into and run: packages_test.py BUILD_DIR

Nothing is installed and no root is needed. Ends with 77 where dpkg-shlibdeps is missing.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))

from installed_tree import ROOT, run  # noqa: E402
from released_cases import Released, as_a_build_folder, made_packages, version  # noqa: E402
from served_ledger import ServedLedger  # noqa: E402

# package -> what it must hold and what it must ask for
PACKAGES = {
    "epsledger-server": (["usr/bin/epsledgerd", "usr/bin/epsledger-backup", "usr/bin/epsledger-restore",
                          "usr/lib/systemd/system/epsledgerd.service",
                          "usr/lib/sysusers.d/epsledgerd.conf", "etc/epsledger/epsledgerd.env",
                          "usr/share/doc/epsledger-server/OPERATIONS.md",
                          "usr/share/doc/epsledger-server/prometheus/rules.yml",
                          "usr/share/doc/epsledger-server/grafana/dashboards/epsledger.json"],
                         ["adduser", "libgrpc++1.51", "libsqlite3-0", "libprometheus-cpp-core1.0"]),
    "epsledger-cli": (["usr/bin/epsctl", "usr/bin/epsledger-alerts", "usr/share/bash-completion/completions/epsctl"],
                      ["libcurl4", "libgrpc++1.51", "libssl3"]),
    "epsledger-trainers": (["usr/bin/epsledger-istdp", "usr/bin/epsledger-fsdp", "usr/bin/epsledger-fsdp-published",
                            "usr/bin/epsledger-trainer-attack"],
                           ["libgrpc++1.51", "libjpeg62-turbo"]),
    "libepsledger-dev": (["usr/include/epsledger/client.h", "usr/lib/libepsledger_client.a",
                          "usr/include/epsledger-accounting/accounting/answer.h",
                          "usr/lib/cmake/epsledger/epsledger-config.cmake"],
                         ["libabsl-dev", "libgrpc++-dev", "libprotobuf-dev", "libssl-dev"]),
}
# Files that others may not read, with the reason in the file itself.
CLOSED = {"etc/epsledger/epsledgerd.env": "-rw-r-----"}
PLACES = re.compile(r"(usr/(bin|include|lib|share)|etc/epsledger)(/|$)|usr$|etc$")


class PackagesTest(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="epsledger-packages.")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        made = made_packages(cls.build)
        cls.files = {name.split("_")[0]: os.path.join(made, name) for name in os.listdir(made) if name.endswith(".deb")}
        cls.unpacked = os.path.join(cls.folder, "unpacked")
        for file in cls.files.values():
            run("dpkg-deb", "-x", file, cls.unpacked)

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.files[package], name).strip()

    def contents(self, package):
        """(mode, owner, path) of everything in it."""
        for line in run("dpkg-deb", "-c", self.files[package]).splitlines():
            mode, owner, _, _, _, path = line.split(None, 5)
            yield mode, owner, path.removeprefix("./").rstrip("/")

    def text(self, path):
        with open(os.path.join(self.unpacked, path), encoding="utf-8") as stream:
            return stream.read()

    def control(self, package):
        folder = os.path.join(self.folder, package + ".control")
        run("dpkg-deb", "-e", self.files[package], folder)
        return folder

    def test_there_are_these_packages_of_one_version(self):
        self.assertEqual(set(self.files), set(PACKAGES))
        for package in PACKAGES:
            self.assertEqual(self.field(package, "Version"), version())
            self.assertTrue(self.field(package, "Description").startswith("privacy accounting service\n"))

    def test_each_holds_its_files_and_they_are_roots(self):
        for package, (wanted, _) in PACKAGES.items():
            contents = list(self.contents(package))
            paths = [path for _, _, path in contents]
            documents = ["usr/share/doc/%s/%s" % (package, name) for name in ("copyright", "changelog.gz", "CHANGELOG.md.gz")]
            for path in wanted + documents:
                self.assertIn(path, paths, package)
            for mode, owner, path in contents:
                with self.subTest(package=package, path=path):
                    self.assertEqual(owner, "root/root")
                    self.assertRegex(path or "usr", PLACES)
                    expected = "drwxr-xr-x" if mode.startswith("d") else CLOSED.get(
                        path, "-rwxr-xr-x" if path.startswith("usr/bin/") else "-rw-r--r--")
                    self.assertEqual(mode, expected)

    def test_each_asks_for_what_it_links(self):
        for package, (_, wanted) in PACKAGES.items():
            asked = {entry.split("(")[0].strip() for entry in self.field(package, "Depends").split(",")}
            self.assertLessEqual(set(wanted), asked, package)

    def test_every_program_has_a_manual_page(self):
        if not shutil.which("help2man"):
            self.skipTest("help2man is not installed")
        for package in PACKAGES:
            paths = [path for _, _, path in self.contents(package)]
            for path in paths:
                if path.startswith("usr/bin/"):
                    self.assertIn("usr/share/man/man1/%s.1.gz" % os.path.basename(path), paths)
        with gzip.open(os.path.join(self.unpacked, "usr/share/man/man1/epsledgerd.1.gz"), "rt", encoding="utf-8") as page:
            self.assertIn("EPSLEDGERD_TLS_CERT", page.read())

    def test_lintian_finds_nothing(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed (./dev deps images)")
        run("lintian", "--allow-root", "--fail-on", "error,warning", *self.files.values())

    def test_no_file_is_in_two_packages(self):
        seen = {}
        for package in PACKAGES:
            for mode, _, path in self.contents(package):
                if not mode.startswith("d"):
                    self.assertEqual(seen.setdefault(path, package), package, path)

    def test_the_scripts_parse_and_what_people_change_is_kept(self):
        folder = self.control("epsledger-server")
        for script in ("postinst", "prerm", "postrm"):
            run("sh", "-n", os.path.join(folder, script))
            self.assertTrue(os.access(os.path.join(folder, script), os.X_OK), script)
        with open(os.path.join(folder, "conffiles"), encoding="utf-8") as stream:
            kept = stream.read().split()
        in_etc = ["/" + path for mode, _, path in self.contents("epsledger-server")
                  if path.startswith("etc/") and not mode.startswith("d")]
        self.assertEqual(kept, in_etc)

    def test_the_operations_document_finds_the_files_that_it_names(self):
        folder = "usr/share/doc/epsledger-server"
        text = self.text(folder + "/OPERATIONS.md")
        for link in set(re.findall(r"\]\(([\w./-]+)\)", text)):
            self.assertTrue(os.path.isfile(os.path.join(self.unpacked, folder, link)), link)
        for named in ("prometheus/rules.yml", "grafana/dashboards/epsledger.json"):
            self.assertIn("`%s`" % named, text)
            with open(os.path.join(ROOT, "docker", named), encoding="utf-8") as stream:
                self.assertEqual(self.text(os.path.join(folder, named)), stream.read())

    def test_no_script_deletes_a_ledger(self):
        folder = self.control("epsledger-server")
        for script in ("postinst", "prerm", "postrm"):
            with open(os.path.join(folder, script), encoding="utf-8") as stream:
                self.assertNotRegex(stream.read(), r"\brm\b|deluser|userdel", script)

    def test_every_setting_is_a_flag_of_the_server(self):
        text = self.text("etc/epsledger/epsledgerd.env")
        named = re.findall(r"^#?(EPSLEDGERD_\w+)=", text, re.MULTILINE)
        self.assertIn("EPSLEDGERD_DATA_DIR", named)
        help_text = run(os.path.join(self.unpacked, "usr/bin/epsledgerd"), "--help")
        for name in named:
            # A server that is built without the store of many servers does not know its flags.
            if "--postgres" in help_text or not re.search("POSTGRES|STATEMENT_KEY", name):
                self.assertIn("Env:%s)" % name, help_text)

    def test_the_unit_is_valid_and_confined(self):
        tool = shutil.which("systemd-analyze")
        if not tool:
            self.skipTest("systemd-analyze is not installed")
        unit = os.path.join(self.folder, "epsledgerd.service")
        program = os.path.join(self.unpacked, "usr/bin/epsledgerd")
        text = self.text("usr/lib/systemd/system/epsledgerd.service")
        self.assertIn("\nExecStart=epsledgerd\n", text)
        with open(unit, "w", encoding="utf-8") as stream:
            stream.write(text.replace("ExecStart=epsledgerd", "ExecStart=" + program))
        done = subprocess.run([tool, "verify", "--man=no", unit], capture_output=True, text=True, timeout=60)
        self.assertNotIn("epsledgerd.service", done.stdout + done.stderr)
        # On a scale to 100, where more is worse; a unit that confines nothing has 96.
        run(tool, "security", "--offline=yes", "--threshold=20", unit)

    def test_the_server_of_the_package_serves_as_the_unit_starts_it(self):
        programs = as_a_build_folder(self.unpacked, os.path.join(self.folder, "programs"))
        settings = dict(re.findall(r"^(EPSLEDGERD_\w+)=(.*)$", self.text("etc/epsledger/epsledgerd.env"), re.MULTILINE))
        self.assertEqual(settings["EPSLEDGERD_DATA_DIR"], "/var/lib/epsledger")
        before = dict(os.environ)
        os.environ.update(settings)  # the command line of ServedLedger, with its own ports and folder, wins
        try:
            with ServedLedger(programs) as server:
                server.ctl("budget", "create", "people", "--rho", "1", "--relation", "add-or-remove-one",
                           "--privacy-unit", "person")
                self.assertEqual(run(server.epsledgerd, "healthcheck", "--server", server.grpc), "")
                with open(server.log, encoding="utf-8") as stream:
                    self.assertTrue(stream.readline().startswith("{"), "EPSLEDGERD_JSON_LOG was not taken")
        finally:
            os.environ.clear()
            os.environ.update(before)


if __name__ == "__main__":
    if not shutil.which("dpkg-shlibdeps"):
        print("skipped: dpkg-shlibdeps is not installed (docker/packages/test.txt)")
        sys.exit(77)
    PackagesTest.build = Released.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
