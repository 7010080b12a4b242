"""cmake --install, and find_package(epsledger) against what it made: install_test.py BUILD_DIR

The examples of client/cpp and accounting are copied out of the tree, built against the installed prefix alone, and
run: one against a real server, one against what `epsctl compute` says of the same question.
"""
import json
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))

from installed_tree import ROOT, InstalledTree, run, times_of_what_is_installed  # noqa: E402
from served_ledger import ServedLedger  # noqa: E402

PROGRAMS = ("epsctl", "epsledger-alerts", "epsledger-fsdp", "epsledger-fsdp-published", "epsledger-istdp",
            "epsledger-trainer-attack",
            "epsledgerd")
# What nobody may need who only includes the headers, or only computes.
FOREIGN = re.compile(r'#include\s*[<"](grpc|google/|boost/|.*\.pb\.h|sqlite|openssl|Eigen|spdlog|server/|proto/)')
ABSL_OF_THE_CLIENT = {"absl/status/status.h", "absl/status/statusor.h"}

CONSUMER = """cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
%s
"""


class InstallTest(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        before = times_of_what_is_installed(cls.build)
        tree = InstalledTree(cls.build)
        cls.tree = tree.__enter__()
        cls.addClassCleanup(tree.__exit__)
        cls.built_again = times_of_what_is_installed(cls.build) != before

    def copied(self, folder):
        """A source folder where no tree is around it."""
        target = os.path.join(self.tree.scratch, folder.replace("/", "_"))
        shutil.copytree(os.path.join(ROOT, folder), target)
        return target

    def consumer(self, cmake, **sources):
        folder = os.path.join(self.tree.scratch, self.id().rpartition(".")[2])
        os.mkdir(folder)
        for name, text in dict(sources, **{"CMakeLists.txt": CONSUMER % cmake}).items():
            with open(os.path.join(folder, name.replace("_cc", ".cc")), "w", encoding="utf-8") as stream:
                stream.write(text)
        return folder

    def headers(self, below):
        folder = os.path.join(self.tree.prefix, "include", below)
        return [os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names]

    def text(self, header):
        with open(os.path.join(self.tree.prefix, "include", header), encoding="utf-8") as stream:
            return stream.read()

    def test_installing_builds_nothing(self):
        self.assertFalse(self.built_again)

    def test_programs_run_from_where_they_were_put(self):
        for program in PROGRAMS:
            with self.subTest(program):
                self.assertIn("Usage:", run(os.path.join(self.tree.prefix, "bin", program), "--help"))

    def test_what_belongs_to_the_programs_is_there(self):
        files = self.tree.files()
        for file in ("lib/systemd/system/epsledgerd.service", "lib/sysusers.d/epsledgerd.conf",
                     "share/doc/epsledger-server/epsledgerd.env", "share/doc/libepsledger-dev/LICENSE",
                     "share/bash-completion/completions/epsctl", "share/zsh/vendor-completions/_epsctl",
                     "share/fish/vendor_completions.d/epsctl.fish"):
            self.assertIn(file, files)
            self.assertGreater(os.path.getsize(os.path.join(self.tree.prefix, file)), 0, file)

    def test_every_public_header_of_the_client_is_installed(self):
        source = os.path.join(ROOT, "client", "cpp", "include", "epsledger")
        self.assertEqual(sorted(self.headers("epsledger")), sorted(os.listdir(source)))

    def test_headers_know_nothing_of_what_is_behind_them(self):
        for below in ("epsledger", "epsledger-accounting"):
            for header in self.headers(below):
                with self.subTest(header):
                    self.assertNotRegex(self.text(os.path.join(below, header)), FOREIGN)
        for header in self.headers("epsledger"):
            included = set(re.findall(r'#include "(absl/[^"]*)"', self.text(os.path.join("epsledger", header))))
            self.assertLessEqual(included, ABSL_OF_THE_CLIENT, header)

    def test_every_header_compiles_by_what_is_installed(self):
        lines = ['#include "epsledger/%s"' % header for header in self.headers("epsledger")]
        lines += ['#include "%s"' % header for header in self.headers("epsledger-accounting")]
        self.assertGreater(len(lines), 20)
        source = self.consumer(
            "find_package(epsledger 0.1 REQUIRED)\nadd_executable(includes includes.cc)\n"
            "target_link_libraries(includes PRIVATE epsledger::client epsledger::accounting)",
            includes_cc="\n".join(lines) + "\nint main() {}\n")
        run(self.tree.build_project(source, "includes"))

    def test_the_exported_targets_name_no_folder_of_the_build(self):
        for file in self.tree.files():
            if file.endswith(".cmake"):
                with open(os.path.join(self.tree.prefix, file), encoding="utf-8") as stream:
                    text = stream.read()
                for folder in (ROOT, self.build, self.tree.prefix):
                    self.assertNotIn(os.path.abspath(folder), text, file)

    def configure_fails(self, cmake):
        with self.assertRaises(AssertionError) as failed:
            self.tree.build_project(self.consumer(cmake), "")
        return str(failed.exception)

    def test_a_component_that_there_is_not(self):
        self.assertIn("epsledger has no component server",
                      self.configure_fails("find_package(epsledger REQUIRED COMPONENTS server)"))

    def test_another_minor_version_is_not_taken(self):
        self.assertIn("version", self.configure_fails("find_package(epsledger 0.2 REQUIRED)"))

    def test_the_mathematics_alone_finds_no_grpc(self):
        source = self.consumer("find_package(epsledger REQUIRED COMPONENTS accounting)\n"
                               "if(TARGET gRPC::grpc++ OR TARGET protobuf::libprotobuf OR TARGET epsledger::client)\n"
                               "  message(FATAL_ERROR \"more than was asked for\")\nendif()\n"
                               "add_custom_target(nothing ALL)")
        self.tree.build_project(source, "")

    def test_the_example_of_the_mathematics_says_what_epsctl_says(self):
        program = self.tree.build_project(self.copied("accounting/example"), "epsilon-of-steps")
        epsilon, theorem = run(program, "1.1", "0.01", "1000", "1e-5").splitlines()
        request = {"id": "a", "accountant": "BEST", "query": {"epsilonAtDelta": 1e-5}, "events": [
            {"count": 1000, "event": {"poissonSampled": {
                "samplingProbability": 0.01, "event": {"gaussian": {"noiseMultiplier": 1.1}}}}}]}
        file = os.path.join(self.tree.scratch, "request")
        with open(file, "w+", encoding="utf-8") as stream:
            stream.write(json.dumps(request) + "\n")
            stream.seek(0)
            answer = json.loads(run(os.path.join(self.tree.prefix, "bin", "epsctl"), "compute", stdin=stream))
        self.assertEqual(float(epsilon), answer["upper"], answer)
        self.assertEqual(theorem, answer["theorem"])
        self.assertTrue(1 < float(epsilon) < 2, epsilon)

    def test_the_example_of_the_client_charges_before_each_noise(self):
        program = self.tree.build_project(self.copied("client/cpp/example"), "noisy-sum")
        with ServedLedger(self.build) as server:
            server.ctl("budget", "create", "people", "--rho", "0.0501", "--relation", "add-or-remove-one",
                       "--privacy-unit", "person")
            sums = run(program, server.grpc, "people", "first-run", "10").split()
            self.assertEqual(len(sums), 10)
            self.assertEqual(len(set(sums)), 10, "noise is drawn anew each time")
            # Each of noise multiplier 10 costs rho 1/200, rounded up: ten fit, the eleventh does not.
            self.assertEqual(run(program, server.grpc, "people", "second-run", "1", expect=3), "")
            budget = json.loads(server.ctl("-o", "json", "budget", "get", "people"))
            self.assertEqual(budget["acceptedChargeCount"], "10", budget)


if __name__ == "__main__":
    InstallTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
