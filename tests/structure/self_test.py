"""Shows every rule something that breaks it. A check that cannot fail checks nothing."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import arrows
import built_sources
import called_functions
import circles
import cited_titles
import compose_file
import containers
import file_shape
import formatting
import links
import machine_paths
import shell_scripts
import type_names
import used_headers
import vendored_files
from repository import Repository

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))

# rule -> a file and the line in it that breaks the rule
BROKEN_ARROWS = {
    "accounting-sees": [("accounting/a.cc", "#include <grpcpp/grpcpp.h>"), ("accounting/a.cc", '#include "sqlite3.h"'),
                        ("accounting/renyi/a.h", '#include "google/protobuf/message.h"'),
                        ("accounting/a.cc", '#include "server/core/ledger.h"'),
                        ("accounting/a.cc", '#include "epsledger/v1/budget.pb.h"')],
    "accounting-no-threads": [("accounting/a.cc", "#include <thread>"), ("accounting/a.cc", "  #  include <mutex>"),
                              ("accounting/a.cc", '#include "absl/synchronization/mutex.h"')],
    "accounting-no-clock": [("accounting/a.cc", "#include <chrono>"), ("accounting/a.cc", '#include "absl/time/clock.h"')],
    "accounting-no-clock-calls": [("accounting/a.cc", "auto t = std::chrono::seconds(1);"),
                                  ("accounting/a.cc", "std::mutex lock;")],
    "core-sees": [("server/core/a.cc", '#include "epsledger/v1/charge.pb.h"'),
                  ("server/core/a.cc", '#include "server/storage/sqlite.h"'),
                  ("server/core/a.h", "#include <sqlite3.h>"), ("server/core/a.cc", '#include "spdlog/spdlog.h"'),
                  ("server/core/a.cc", '#include "server/transport/grpc/handler.h"')],
    "core-no-threads": [("server/core/a.cc", '#include "absl/synchronization/notification.h"'),
                        ("server/core/a.cc", "#include <condition_variable>")],
    "core-no-clock": [("server/core/a.cc", '#include "absl/time/time.h"'), ("server/core/a.cc", "#include <ctime>")],
    "core-no-clock-calls": [("server/core/a.cc", "const auto now = absl::Now();"),
                            ("server/core/a.cc", "const auto now = time(nullptr);"),
                            ("server/core/a.h", "absl::Mutex mutex_;")],
    "core-no-files": [("server/core/a.cc", "#include <fstream>")],
    "core-no-chance": [("server/core/a.cc", '#include "absl/random/random.h"'), ("server/core/a.cc", "#include <random>")],
    "storage-sees": [("server/storage/a.cc", "#include <grpcpp/server.h>"),
                     ("server/storage/a.cc", '#include "epsledger/v1/charge.pb.h"'),
                     ("server/storage/a.cc", '#include "server/transport/grpc/handler.h"')],
    "access-sees": [("server/access/a.cc", "#include <grpcpp/server.h>"),
                    ("server/access/a.cc", '#include "server/storage/ledger_store.h"'),
                    ("server/access/a.cc", '#include "epsledger/v1/access_service.pb.h"')],
    "oidc-sees": [("server/oidc/a.cc", '#include "server/transport/grpc/server.h"'),
                  ("server/oidc/a.cc", '#include "server/storage/ledger_store.h"')],
    "json-syntax-sees": [("proto/json_syntax/a.cc", '#include "accounting/answer.h"'),
                         ("proto/json_syntax/a.cc", '#include "proto/bridge/compute.h"')],
    "statement-sees": [("server/statement/a.cc", '#include "server/transport/grpc/a.h"'),
                       ("server/statement/a.cc", '#include "epsledger/v1/audit.pb.h"')],
    "statement-no-clock": [("server/statement/a.cc", '#include "absl/time/clock.h"')],
    "transport-not-storage": [("server/transport/grpc/a.cc", '#include "server/storage/store.h"'),
                              ("server/transport/grpc/a.cc", "#include <sqlite3.h>")],
    "server-not-client": [("server/main.cc", '#include "client/cpp/retry.h"'), ("server/main.cc", '#include "epsledger/client.h"')],
    "transport-not-dashboard": [("server/transport/http/a.cc", '#include "client/dashboard/packed_dashboard.h"')],
    "client-not-server": [("client/cli/a.cc", '#include "server/core/cost.h"')],
    "client-not-accounting": [("client/cli/a.cc", '#include "accounting/guarantee.h"'),
                              ("client/trainers/istdp/a.cc", '#include "accounting/guarantee.h"')],
    "client-library-not-bridge": [("client/cpp/a.cc", '#include "proto/bridge/event.h"')],
    "trainers-public-interface": [("client/trainers/istdp/a.cc", '#include "epsledger/v1/charge.pb.h"'),
                                  ("client/trainers/istdp/a.cc", "#include <grpcpp/channel.h>"),
                                  ("client/trainers/istdp/a.cc", '#include "client/cpp/retry.h"')],
    "trainer-network-sees": [("client/trainers/network/a.cc", '#include "epsledger/session.h"'),
                             ("client/trainers/network/a.cc", '#include "client/trainers/run/gradient_release.h"')],
    "trainer-scattering-sees": [("client/trainers/scattering/a.cc", '#include "epsledger/session.h"'),
                                ("client/trainers/scattering/a.cc", '#include "client/trainers/run/open_run.h"')],
    "trainer-data-sees": [("client/trainers/data/a.cc", '#include "epsledger/client.h"'),
                          ("client/trainers/data/a.cc", '#include "client/trainers/istdp/a.h"')],
    "alert-rules-see": [("client/alerts/rules/a.cc", '#include "client/cpp/connection.h"'),
                        ("client/alerts/rules/a.cc", '#include "client/alerts/delivery/sender.h"'),
                        ("client/alerts/rules/a.cc", '#include "epsledger/v1/budget_service.grpc.pb.h"')],
    "alert-rules-no-clock-no-thread": [("client/alerts/rules/a.cc", '#include "absl/time/clock.h"'),
                                       ("client/alerts/rules/a.cc", "#include <thread>")],
    "alert-delivery-not-ledger": [("client/alerts/delivery/a.cc", '#include "client/alerts/ledger/readings.h"'),
                                  ("client/alerts/delivery/a.cc", '#include "epsledger/v1/budget.pb.h"')],
    "public-headers": [("client/cpp/include/epsledger/client.h", "#include <grpcpp/channel.h>"),
                       ("client/cpp/include/epsledger/client.h", '#include "epsledger/v1/charge.pb.h"'),
                       ("client/cpp/include/epsledger/client.h", '#include "absl/strings/string_view.h"')],
    "public-headers-string-view": [("client/cpp/include/epsledger/client.h", "void Open(absl::string_view name);"),
                                   ("client/cpp/include/epsledger/client.h", "grpc::Channel* channel;")],
    "bridge-sees": [("proto/bridge/a.cc", "#include <grpcpp/channel.h>"),
                     ("proto/bridge/a.cc", '#include "epsledger/v1/charge_service.grpc.pb.h"'),
                     ("proto/bridge/a.cc", '#include "server/core/ledger.h"')],
}

ALLOWED_ARROWS = [
    ("accounting/a.cc", '#include "accounting/a.h"\n#include <cmath>\n#include "absl/status/statusor.h"\n'
                        "#include <boost/math/special_functions/erf.hpp>\n// #include <thread>\n"
                        'const char* kText = "std::chrono";  // absl::Now()\n/* #include <mutex>\n std::mutex */\n'),
    ("server/core/a.cc", '#include "server/core/a.h"\n#include <openssl/sha.h>\n#include "accounting/a.h"\n'
                         "int count = 1'000; int other = 2'000;\n"),
    ("server/storage/a.cc", '#include "server/storage/a.h"\n#include <sqlite3.h>\n#include <thread>\n#include <unistd.h>\n'
                            '#include "absl/synchronization/mutex.h"\n'),
    ("server/transport/grpc/a.cc", '#include <grpcpp/grpcpp.h>\n#include "server/core/ledger.h"\n#include "proto/bridge/a.h"\n'),
    ("server/main.cc", '#include "server/storage/a.h"\n#include "server/transport/grpc/a.h"\n'),
    ("client/cpp/a.cc", '#include <grpcpp/grpcpp.h>\n#include "epsledger/v1/charge_service.grpc.pb.h"\n#include "epsledger/client.h"\n'),
    ("client/cli/a.cc", '#include "proto/bridge/a.h"\n#include "epsledger/client.h"\n'),
    ("client/trainers/istdp/a.cc", '#include "epsledger/session.h"\n#include "client/trainers/istdp/a.h"\n#include <chrono>\n'),
    ("client/cpp/include/epsledger/client.h", '#include "absl/status/statusor.h"\n#include <string_view>\n'),
    ("proto/bridge/a.cc", '#include "proto/bridge/a.h"\n#include "accounting/a.h"\n#include "epsledger/v1/mechanism.pb.h"\n'),
]

TREE = {
    "CMakeLists.txt": "add_subdirectory(accounting)\nadd_subdirectory(server)\nadd_subdirectory(client)\n"
                      "add_subdirectory(proto)\nadd_subdirectory(tests)\n",
    "accounting/CMakeLists.txt": "epsledger_library(epsledger_accounting SOURCES a.cc LINKS absl::status Boost::headers)\n",
    "server/CMakeLists.txt": "foreach(folder core access statement storage transport)\n  add_subdirectory(${folder})\nendforeach()\n"
                             "epsledger_executable(epsledgerd SOURCES main.cc LINKS epsledger_sqlite epsledger_transport)\n",
    "server/core/CMakeLists.txt": "# The ledger (pure).\nepsledger_library(epsledger_core\n  SOURCES a.cc\n"
                                  "  LINKS epsledger_accounting OpenSSL::Crypto)\n",
    "server/access/CMakeLists.txt": "epsledger_library(epsledger_access SOURCES a.cc LINKS epsledger_core OpenSSL::Crypto)\n",
    "server/storage/CMakeLists.txt": "set(STORE a.cc)\nepsledger_library(epsledger_sqlite SOURCES ${STORE} LINKS epsledger_core SQLite::SQLite3)\n",
    "server/statement/CMakeLists.txt": "epsledger_library(epsledger_statement SOURCES a.cc LINKS epsledger_core OpenSSL::Crypto)\n",
    "server/transport/CMakeLists.txt": "epsledger_library(epsledger_transport SOURCES a.cc LINKS epsledger_core epsledger_statement epsledger_grpc)\n",
    "client/CMakeLists.txt": "add_subdirectory(cpp)\nadd_subdirectory(trainers)\n",
    "client/cpp/CMakeLists.txt": "epsledger_library(epsledger_client SOURCES a.cc LINKS epsledger_grpc)\n",
    "client/trainers/CMakeLists.txt": "epsledger_library(epsledger_trainer SOURCES a.cc LINKS epsledger_client Eigen3::Eigen)\n",
    "proto/CMakeLists.txt": "add_library(epsledger_proto STATIC a.proto)\nadd_library(epsledger_grpc STATIC a.proto)\n"
                            "target_link_libraries(epsledger_grpc PUBLIC epsledger_proto gRPC::grpc++)\nadd_subdirectory(bridge)\n",
    "proto/bridge/CMakeLists.txt": "epsledger_library(epsledger_bridge SOURCES a.cc LINKS epsledger_proto epsledger_accounting)\n",
    "tests/CMakeLists.txt": "set(FOLDERS accounting fuzz)\nforeach(folder IN LISTS FOLDERS)\n  if(EXISTS x)\n"
                            "    add_subdirectory(${folder})\n  endif()\nendforeach()\n",
    "tests/accounting/CMakeLists.txt": "epsledger_test(a_test SOURCES a_test.cc LINKS epsledger_accounting)\n",
    "tests/fuzz/CMakeLists.txt": "epsledger_fuzzer(a_fuzz SOURCES a_fuzz.cc LINKS epsledger_core)\n",
    **{file: "" for file in (
        "accounting/a.cc", "server/main.cc", "server/core/a.cc", "server/access/a.cc", "server/statement/a.cc",
        "server/storage/a.cc",
        "server/transport/a.cc",
        "client/cpp/a.cc", "client/trainers/a.cc", "proto/bridge/a.cc", "tests/fuzz/a_fuzz.cc")},
    "tests/accounting/a_test.cc": "TEST(A, IsSound) {}\n",
}

BROKEN_LINKS = {
    "accounting-links": ("accounting/CMakeLists.txt", "target_link_libraries(epsledger_accounting PRIVATE absl::synchronization)"),
    "core-links": ("server/core/CMakeLists.txt", "target_link_libraries(epsledger_core PUBLIC gRPC::grpc++)"),
    "storage-links": ("server/storage/CMakeLists.txt", "target_link_libraries(epsledger_sqlite PUBLIC epsledger_proto)"),
    "access-links": ("server/access/CMakeLists.txt", "target_link_libraries(epsledger_access PUBLIC epsledger_sqlite)"),
    "statement-links": ("server/statement/CMakeLists.txt", "target_link_libraries(epsledger_statement PUBLIC epsledger_grpc)"),
    "transport-links": ("server/transport/CMakeLists.txt", "target_link_libraries(epsledger_transport PUBLIC epsledger_sqlite)"),
    "client-links": ("client/cpp/CMakeLists.txt", "target_link_libraries(epsledger_client PRIVATE epsledger_accounting)"),
    "client-library-links": ("client/cpp/CMakeLists.txt", "target_link_libraries(epsledger_client PRIVATE epsledger_bridge)"),
    "trainer-links": ("client/trainers/CMakeLists.txt", "target_link_libraries(epsledger_trainer PRIVATE epsledger_grpc)"),
    "bridge-links": ("proto/bridge/CMakeLists.txt", "target_link_libraries(epsledger_bridge PUBLIC spdlog::spdlog)"),
    "bridge-messages-only": ("proto/bridge/CMakeLists.txt", "target_link_libraries(epsledger_bridge PUBLIC epsledger_grpc)"),
    "proto-links": ("proto/CMakeLists.txt", "target_link_libraries(epsledger_proto PUBLIC epsledger_client)"),
}


class Trees(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def tree(self, files):
        for file, text in files.items():
            path = os.path.join(self.folder, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as stream:
                stream.write(text)
        return Repository(self.folder)

    def rules(self, check, files):
        return [violation.rule for violation in check(self.tree(files))]

    def only_rule(self, check, files, expected):
        """Exactly one violation of the check, by the expected rule."""
        rules = self.rules(check, files)
        self.assertEqual(len(rules), 1, rules)
        self.assertTrue(rules[0].startswith(expected), rules)


class Arrows(Trees):
    def test_every_rule_is_shown_a_violation(self):
        self.assertEqual(set(BROKEN_ARROWS), {rule.name for rule in arrows.RULES})

    def test_every_rule_finds_its_violation_and_its_line(self):
        for rule, examples in BROKEN_ARROWS.items():
            for file, line in examples:
                with self.subTest(rule=rule, file=file, line=line):
                    found = list(arrows.check(self.tree({file: "// first line\n" + line + "\n"})))
                    os.remove(os.path.join(self.folder, file))
                    self.assertIn((file, 2, rule), [(v.file, v.line, v.rule.split(" ")[0]) for v in found])

    def test_what_the_design_allows_passes(self):
        for file, text in ALLOWED_ARROWS:
            with self.subTest(file=file):
                self.assertEqual(self.rules(arrows.check, {file: text}), [])


class Links(Trees):
    def test_every_rule_is_shown_a_violation(self):
        self.assertEqual(set(BROKEN_LINKS), {rule.name for rule in links.RULES})

    def test_the_designs_own_arrows_pass(self):
        self.assertEqual(self.rules(links.check, TREE), [])

    def test_every_rule_finds_its_violation(self):
        for rule, (file, line) in BROKEN_LINKS.items():
            with self.subTest(rule=rule):
                rules = self.rules(links.check, dict(TREE, **{file: TREE[file] + line + "\n"}))
                self.assertIn(rule, [r.split(":")[0] for r in rules])

    def test_a_generator_expression_hides_no_link(self):
        text = TREE["accounting/CMakeLists.txt"]
        for hidden, rules in (("Boost::headers", []), ("gRPC::grpc++", ["accounting-links"])):
            more = "target_link_libraries(epsledger_accounting PRIVATE $<BUILD_INTERFACE:%s>)\n" % hidden
            found = self.rules(links.check, dict(TREE, **{"accounting/CMakeLists.txt": text + more}))
            self.assertEqual([rule.split(":")[0] for rule in found], rules)

    def test_a_target_that_nobody_makes(self):
        text = TREE["client/CMakeLists.txt"] + "epsledger_executable(e SOURCES cpp/a.cc LINKS epsledger_nothing)\n"
        self.only_rule(links.check, dict(TREE, **{"client/CMakeLists.txt": text}), "e links epsledger_nothing")


class BuiltSources(Trees):
    def test_a_whole_tree_passes(self):
        self.assertEqual(self.rules(built_sources.check, TREE), [])

    def test_a_test_file_that_no_build_names(self):
        self.only_rule(built_sources.check, dict(TREE, **{"tests/accounting/b_test.cc": ""}), "not-built")

    def test_a_fuzz_target_and_a_source_that_no_build_names(self):
        self.only_rule(built_sources.check, dict(TREE, **{"server/core/b.cc": ""}), "not-built")
        os.remove(os.path.join(self.folder, "server/core/b.cc"))
        self.only_rule(built_sources.check, dict(TREE, **{"tests/fuzz/b_fuzz.cc": ""}), "not-built")

    def test_a_test_that_is_named_only_in_a_comment(self):
        text = TREE["tests/accounting/CMakeLists.txt"] + "# epsledger_test(b_test SOURCES b_test.cc)\n"
        self.only_rule(built_sources.check, dict(TREE, **{"tests/accounting/CMakeLists.txt": text,
                                                          "tests/accounting/b_test.cc": ""}), "not-built")

    def test_a_test_that_is_built_and_never_run(self):
        text = TREE["tests/accounting/CMakeLists.txt"] + "epsledger_executable(b_test SOURCES b_test.cc)\n"
        self.only_rule(built_sources.check, dict(TREE, **{"tests/accounting/CMakeLists.txt": text,
                                                          "tests/accounting/b_test.cc": ""}), "not-a-test")

    def test_a_folder_that_is_not_reached(self):
        self.only_rule(built_sources.check, dict(TREE, **{"tests/crash/CMakeLists.txt": ""}), "unreached-folder")

    def test_an_example_is_a_project_of_its_own_that_a_test_builds(self):
        example = {"client/cpp/example/CMakeLists.txt": "project(e)\nfind_package(epsledger)\nadd_executable(e e.cc)\n",
                   "client/cpp/example/e.cc": ""}
        tested = {"tests/packaging/install_test.py": 'build("client/cpp/example")'}
        self.assertEqual(self.rules(built_sources.check, dict(TREE, **example, **tested)), [])
        self.only_rule(built_sources.check, dict(TREE, **tested, **dict(example, **{"client/cpp/example/b.cc": ""})), "not-built")
        os.remove(os.path.join(self.folder, "client/cpp/example/b.cc"))
        os.remove(os.path.join(self.folder, "tests/packaging/install_test.py"))
        self.only_rule(built_sources.check, dict(TREE, **example), "example-not-built")

    def test_a_folder_that_is_added_and_absent(self):
        text = TREE["tests/CMakeLists.txt"].replace("fuzz", "fuzz crash")
        self.only_rule(built_sources.check, dict(TREE, **{"tests/CMakeLists.txt": text}), "absent-folder")

    def test_a_source_that_is_named_and_absent(self):
        text = TREE["accounting/CMakeLists.txt"].replace("a.cc", "a.cc b.cc")
        self.only_rule(built_sources.check, dict(TREE, **{"accounting/CMakeLists.txt": text}), "named-and-absent")

    def test_a_disabled_test(self):
        self.only_rule(built_sources.check,
                       dict(TREE, **{"tests/accounting/a_test.cc": "TEST(A, DISABLED_IsSound) {}\n"}), "disabled-test")

    def test_a_test_in_a_file_of_another_name(self):
        text = TREE["tests/accounting/CMakeLists.txt"].replace("a_test.cc", "a_test.cc b.cc")
        self.only_rule(built_sources.check, dict(TREE, **{"tests/accounting/CMakeLists.txt": text,
                                                          "tests/accounting/b.cc": "TEST(B, IsSound) {}\n"}), "test-file-name")


class UsedHeaders(Trees):
    A = {"server/core/a.h": "", "server/core/a.cc": '#include "server/core/a.h"\n'}

    def test_a_header_that_its_own_file_and_a_test_alone_include(self):
        test = {"tests/server/core/a_test.cc": '#include "server/core/a.h"\n'}
        self.only_rule(used_headers.check, dict(self.A, **test), "unused-header")

    def test_a_header_that_another_file_of_the_product_includes(self):
        self.assertEqual(self.rules(used_headers.check, dict(self.A, **{"server/b.cc": '#include "server/core/a.h"\n'})), [])

    def test_public_headers_are_for_others(self):
        self.assertEqual(self.rules(used_headers.check, {"client/cpp/include/epsledger/a.h": ""}), [])

    def test_an_exception_that_is_none_any_more(self):
        header = next(iter(used_headers.EXCEPTIONS))
        self.only_rule(used_headers.check, {header: "", "client/b.cc": '#include "%s"\n' % header}, "used-exception")


class CalledFunctions(Trees):
    A = {"server/core/a.h": "class A {\n public:\n  static absl::StatusOr<A> Make(int n);\n};\n",
         "server/core/a.cc": "absl::StatusOr<A>\nA::Make(int n) { return A(); }\n"}

    def rule_of(self, **files):
        return self.rules(called_functions.check, dict(self.A, **files))

    def test_a_function_that_tests_alone_call(self):
        self.only_rule(called_functions.check, dict(self.A, **{"tests/a_test.cc": "auto a = A::Make(1);\n"}),
                       "uncalled-function")

    def test_a_function_that_the_product_calls(self):
        for call in ("const auto a = A::Make(1);", "return A::Make(1);", "  use(&A::Make);", "Make(2);"):
            self.assertEqual(self.rule_of(**{"server/b.cc": "void F() {\n%s\n}\n" % call}), [], call)

    def test_what_a_library_calls(self):
        self.assertEqual(self.rule_of(**{"server/core/a.h": "  void Finish(\n      bool ok) override;\n"}), [])

    def test_public_headers_are_for_others(self):
        self.assertEqual(self.rules(called_functions.check, {"client/cpp/include/epsledger/a.h": "int Make();\n"}), [])

    def test_an_exception_that_is_none_any_more(self):
        name = sorted(called_functions.EXCEPTIONS)[0]
        self.only_rule(called_functions.check, {"server/b.cc": "int n = %s(1);\n" % name}, "called-exception")


class TypeNames(Trees):
    def test_two_types_of_one_name(self):
        for other in ("struct Cell {", "enum class Cell : uint8_t {", "class Cell final : public Row {"):
            self.only_rule(type_names.check, {"server/core/a.h": "struct Cell {\n};\n", "client/cli/b.h": other + "\n};\n"},
                           "type-name")

    def test_a_type_and_what_names_it(self):
        self.assertEqual(self.rules(type_names.check, {
            "server/core/a.h": "class Cell {\n};\n", "server/core/b.h": "class Cell;\nstruct Cell::Part {\n};\n"}), [])

    def test_the_same_concept_on_both_sides_of_the_wire(self):
        two = {"server/core/a.h": "enum class Sampler {\n};\n", "client/cpp/include/epsledger/b.h": "enum class Sampler {\n};\n"}
        self.assertEqual(self.rules(type_names.check, two), [])
        self.only_rule(type_names.check, dict(two, **{"server/metrics/c.h": "struct Sampler {\n};\n"}), "type-name")


class Circles(Trees):
    ROOMS = {"accounting/pld/a.h": "", "accounting/zcdp/b.h": "", "accounting/zcdp/c.h": "",
             "accounting/pld/a.cc": '#include "accounting/zcdp/b.h"\n#include "accounting/zcdp/c.h"\n'}

    def test_arrows_one_way(self):
        self.assertEqual(self.rules(circles.check, self.ROOMS), [])

    def test_an_arrow_back(self):
        self.only_rule(circles.check, dict(self.ROOMS, **{"accounting/zcdp/b.cc": '#include "accounting/pld/a.h"\n'}), "circle")

    def test_a_folder_and_one_in_it(self):
        self.assertEqual(self.rules(circles.check, {
            "accounting/a.h": "", "accounting/pld/a.h": "", "accounting/a.cc": '#include "accounting/pld/a.h"\n',
            "accounting/pld/a.cc": '#include "accounting/a.h"\n'}), [])


class CitedTitles(Trees):
    PAGES = {"accounting/README.md": "## Notation\n", "accounting/pld/README.md": "# Losses\n\n**The contour.** A line.\n"}

    def test_titles_that_are_there(self):
        self.assertEqual(self.rules(cited_titles.check, dict(self.PAGES, **{
            "accounting/pld/a.h": '// See (README,\n// "The contour").\n',
            "accounting/zcdp/b.h": '// accounting/pld/README.md, "Losses"; README, "Notation".\n'})), [])

    def test_a_title_that_is_not_there(self):
        self.only_rule(cited_titles.check, dict(self.PAGES, **{"accounting/pld/a.h": '// README, "The tail"\n'}), "cited-title")

    def test_a_title_of_another_page(self):
        self.only_rule(cited_titles.check, dict(self.PAGES, **{"accounting/pld/a.h": '// README, "Notation"\n'}), "cited-title")

    def test_a_page_that_is_not_there(self):
        self.only_rule(cited_titles.check, {"accounting/a.h": '// accounting/pld/README.md, "Losses"\n'}, "cited-title")


class FileShape(Trees):
    def test_a_file_that_is_too_long(self):
        self.assertEqual(self.rules(file_shape.check, {"accounting/a.cc": "\n" * 600}), [])
        self.only_rule(file_shape.check, {"accounting/a.cc": "\n" * 601}, "too-long")

    def test_an_exception_that_is_not_needed(self):
        tree = self.tree({"accounting/a.cc": "\n" * 10, "accounting/b.cc": "\n" * 900})
        found = [(v.file, v.rule) for v in file_shape.check(tree, {"accounting/a.cc": "", "accounting/b.cc": "", "c.cc": ""})]
        self.assertEqual(found, [("accounting/a.cc", "stale-exception"), ("c.cc", "stale-exception")])

    def test_a_drawer(self):
        for name in ("utils.h", "util.cc", "common.h", "helpers.cc", "types.h", "misc.cc", "string_utils.h", "utils_test.cc",
                     "common/a.h", "test_helpers.h"):
            with self.subTest(name=name):
                self.only_rule(file_shape.check, {"server/" + name: ""}, "drawer")
                os.remove(os.path.join(self.folder, "server", name))

    def test_names_of_concepts_pass(self):
        self.assertEqual(self.rules(file_shape.check, {"server/lease.h": "", "server/commonality.h": "", "server/event_types.h": ""}), [])


class VendoredFiles(Trees):
    NOTICE = "// Copyright 2024 Someone\n// Licensed under the Apache License, Version 2.0\n"

    def test_rules(self):
        good = {"proto/google/LICENSE": "Apache License", "proto/google/rpc/a.proto": self.NOTICE}
        self.assertEqual(self.rules(vendored_files.check, good), [])
        self.only_rule(vendored_files.check, {"proto/google/rpc/a.proto": "syntax = 1;"}, "no-notice")
        self.only_rule(vendored_files.check, dict(good, **{"proto/google/rpc/b.cc": ""}), "not-vendored")

    def test_no_licence(self):
        self.only_rule(vendored_files.check, {"proto/google/rpc/a.proto": self.NOTICE}, "no-licence")


class MachinePaths(Trees):
    def test_rules(self):
        self.only_rule(machine_paths.check, {"a.md": "see /wo" + "rk/main\n"}, "machine-path")
        self.only_rule(machine_paths.check, {"a.md": "cd /tmp/" + "build-1\n"}, "machine-path")
        self.assertEqual(self.rules(machine_paths.check, {"a.md": "https://example.org/net/wo" + "rk/a\n"}), [])


class ShellScripts(Trees):
    GOOD = "#!/usr/bin/env bash\nset -euo pipefail\necho \"$1\"\n"

    def script(self, text, expected):
        tree = self.tree({"a.sh": text})
        os.chmod(tree.path("a.sh"), 0o755)
        rules = [v.rule for v in shell_scripts.check(tree)]
        self.assertTrue(expected in rules if expected else not rules, rules)

    def test_rules(self):
        self.script(self.GOOD, None)
        self.script(self.GOOD + "if true; then\n", "bash -n")
        self.script(self.GOOD.replace("set -euo pipefail\n", ""), "no-errexit")

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck(self):
        self.script(self.GOOD + "rm -rf $1/*\n", "shellcheck")

    def test_not_executable(self):
        self.only_rule(shell_scripts.check, {"a": self.GOOD}, "not-executable")


class Containers(unittest.TestCase):
    def setUp(self):
        self.repository = Repository(ROOT)
        self.dockerfile = self.repository.text(containers.DOCKERFILE)
        self.compose = self.repository.text(compose_file.COMPOSE)

    def changed(self, text, before, after, count=1):
        self.assertIn(before, text, "the text that this test breaks is gone: adapt the test")
        return text.replace(before, after, count)

    def test_the_dockerfile_passes_and_each_rule_finds_its_violation(self):
        self.assertEqual(list(containers.check_dockerfile(self.dockerfile)), [])
        broken = [
            ("no-tag", "debian:bookworm-slim", "debian:latest"),
            ("no-tag", "debian:bookworm-slim", "debian"),
            ("root", "USER 10001:10001\nVOLUME", "VOLUME"),
            ("root", "USER 10001:10001\nVOLUME", "USER root\nVOLUME"),
            ("root", "USER 10001:10001\nVOLUME", "USER 0\nVOLUME"),
            ("no-healthcheck", '["epsledgerd", "healthcheck", ', '["true", '),
            ("no-healthcheck", 'CMD ["epsledgerd", "healthcheck", "--server", "127.0.0.1:50551"]', "CMD epsledgerd healthcheck"),
            ("package-list", "apt-get install -y --no-install-recommends", "apt-get install -y --no-install-recommends vim"),
            ("package-list", "AS ui", "AS page"),
            ("package-list", "docker/packages/build.txt | DEBIAN", "docker/packages/other.txt | DEBIAN"),
            ("recommends", "apt-get install -y --no-install-recommends", "apt-get install -y"),
            ("apt-lists", " \\\n && rm -rf /var/lib/apt/lists/*", ""),
            ("shell-form", 'ENTRYPOINT ["epsctl"]', "ENTRYPOINT epsctl"),
            ("no-entrypoint", 'ENTRYPOINT ["epsctl"]', ""),
            ("no-label", 'org.opencontainers.image.title="epsctl"', 'title="epsctl"'),
            ("no-stage", "AS cli", "AS tool"),
            ("add", "COPY LICENSE", "ADD LICENSE"),
            ("download", "RUN ldd", "RUN curl -O https://example.org/a && ldd"),
        ]
        for rule, before, after in broken:
            with self.subTest(rule=rule, after=after):
                text = self.changed(self.dockerfile, before, after)
                self.assertIn(rule, [v.rule for v in containers.check_dockerfile(text)])

    def test_compose_passes_and_each_rule_finds_its_violation(self):
        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        self.assertEqual(list(compose_file.check_compose(self.compose, self.repository)), [])
        broken = [
            ("version", "services:", "version: '3'\nservices:"),
            ("no-tag", "epsledger/server:0.1.0", "epsledger/server:latest"),
            ("no-tag", "postgres:18.6-bookworm", "postgres:bookworm"),
            ("confinement", "read_only: true", "read_only: false"),
            ("confinement", "cap_drop: [ALL]", "cap_drop: []"),
            ("confinement", 'security_opt: ["no-new-privileges:true"]', "security_opt: []"),
            ("limits", "pids_limit: 256", ""),
            ("limits", "mem_limit: 1g", ""),
            ("root", "restart: unless-stopped", "privileged: true"),
            ("root", "restart: unless-stopped", "user: root"),
            ("root", 'user: "999:999"', 'user: "0:999"'),
            ("root", "restart: unless-stopped", "cap_add: [NET_ADMIN]"),
            ("root", "restart: unless-stopped", "network_mode: host"),
            ("open-port", '"127.0.0.1:${EPSLEDGER_PORT:-50551}:50551"', '"${EPSLEDGER_PORT:-50551}:50551"'),
            ("open-port", '"127.0.0.1:${EPSLEDGER_PORT:-50551}:50551"', '"0.0.0.0:50551:50551"'),
            ("open-port", '"127.0.0.1:${EPSLEDGER_PORT:-50551}:50551"', "50551"),
            ("port-twice", "EPSLEDGER_PORT_2:-50562", "EPSLEDGER_PORT_2:-50561"),
            ("volume", "- ledger:/var", "- ./ledger:/var"),
            ("volume", "      - ledger:/var/lib/epsledger\n    healthcheck", "      - no-data:/data\n    healthcheck"),
            ("volume", "- ./prometheus:/etc/prometheus:ro", "- ./prometheus:/etc/prometheus"),
            ("volume", "- ./prometheus:/etc/prometheus:ro", "- /etc/prometheus:/etc/prometheus:ro"),
            ("target", "target: cli", "target: build"),
            ("target", "prom/prometheus:", "some/prometheus:"),
            ("secret", "POSTGRES_PASSWORD_FILE: /run/secrets/postgres-password", "POSTGRES_PASSWORD: letmein"),
            ("secret", "host=postgres user", "host=postgres password=letmein user"),
            ("secret", "secrets: [grafana-password]", "secrets: []"),
            ("secret", "    file: ${EPSLEDGER_SECRETS:-./secrets}/postgres-password", "    file: ./password"),
            ("profiles", "profiles: [observability]", "profiles: [demo]\n    labels: {}"),
            ("profiles", "profiles: [client]", "labels: {}"),
            ("plaintext", '"--require-tokens"]\n    secrets', '"--insecure-no-access-control"]\n    secrets'),
            ("plaintext", '"--tls-cert", "/run/secrets/server-certificate",', ""),
            ("plaintext", "EPSLEDGER_TLS_CA: ", "EPSLEDGER_ALLOW_INSECURE: "),
            ("balanced-name", "        aliases: [epsledger]", "        aliases: [other]"),
            ("balanced-name", '["--postgres", "host', '["--data-dir", "host'),
            ("superuser", "host=postgres user=epsledger ", "host=postgres user=postgres "),
            ("superuser", "host=postgres user=epsledger ", "host=postgres "),
            ("superuser", "host=postgres user=epsledger dbname=epsledger", "postgresql://postgres@postgres/epsledger"),
            ("superuser", "POSTGRES_USER: postgres", "POSTGRES_USER: epsledger"),
            ("superuser", "secrets: [epsledger-password]", "secrets: [epsledger-password, postgres-password]"),
        ]
        for rule, before, after in broken:
            with self.subTest(rule=rule, after=after):
                text = self.changed(self.compose, before, after)
                self.assertIn(rule, [v.rule for v in compose_file.check_compose(text, self.repository)])

    def test_the_example_environment_is_that_of_compose(self):
        example = self.repository.text(compose_file.EXAMPLE)
        self.assertEqual(list(compose_file.check_example(self.compose, example)), [])
        for rule, before, after in (("env-example", "EPSLEDGER_PORT=50551", "EPSLEDGER_PORT=50552"),
                                    ("env-example", "#EPSLEDGER_PORT=50551", ""),
                                    ("env-example", "#EPSLEDGER_PORT=50551", "EPSLEDGER_PORT=50551\nOTHER=1")):
            with self.subTest(after=after):
                changed = self.changed(example, before, after)
                self.assertIn(rule, [v.rule for v in compose_file.check_example(self.compose, changed)])


class Packages(Trees):
    def test_rules(self):
        good = {"docker/packages/%s.txt" % s: "# why\ng++  # compiler\n" for s in containers.SECTIONS}
        self.assertEqual(self.rules(containers.check_packages, good), [])
        self.only_rule(containers.check_packages, dict(good, **{"docker/packages/test.txt": "g++ cmake\n"}), "package-name")
        self.only_rule(containers.check_packages, dict(good, **{"docker/packages/test.txt": "g++\ng++\n"}), "package-twice")
        os.remove(os.path.join(self.folder, "docker/packages/demo.txt"))
        del good["docker/packages/demo.txt"]
        self.only_rule(containers.check_packages, good, "package-list")

    def test_the_build_folder_is_kept_out_of_images(self):
        self.assertEqual(self.rules(containers.check_ignored, {".dockerignore": ".git\nbuild\ndocker/.env\ndocker/secrets\n"}), [])
        self.only_rule(containers.check_ignored, {".dockerignore": ".git\nbuild\ndocker/.env\n"}, "context")

    @unittest.skipUnless(shutil.which("docker-compose"), "docker-compose is not installed")
    def test_compose_of_a_wrong_shape(self):
        rules = self.rules(lambda tree: compose_file.validate(tree, ["demo"]),
                           {compose_file.COMPOSE: "services:\n  a:\n    imagine: b\n"})
        self.assertEqual(rules, ["docker-compose config"] * 2)

    def test_yaml_that_does_not_parse(self):
        self.only_rule(compose_file.check_yaml, {"a.yaml": "a: [\n", "b.yml": "a: 1\n"}, "yaml")


class Format(Trees):
    @unittest.skipUnless(shutil.which(formatting.TOOL), formatting.TOOL + " is not installed")
    def test_rules(self):
        style = {".clang-format": "BasedOnStyle: Google\n"}
        self.assertEqual(self.rules(formatting.check, dict(style, **{"server/a.cc": "int a;\n"})), [])
        self.only_rule(formatting.check, dict(style, **{"server/a.cc": "int   a ;\n"}), "format")


class Program(unittest.TestCase):
    def test_every_check_is_a_ctest_and_the_exit_code_tells(self):
        import structure
        with open(os.path.join(HERE, "CMakeLists.txt")) as stream:
            registered = re.search(r"foreach\(check ([^)]*)\)", stream.read()).group(1).split()
        self.assertEqual(registered, list(structure.CHECKS))
        with tempfile.TemporaryDirectory() as folder:
            run = lambda: subprocess.run(["/usr/bin/env", "python3", "-B", os.path.join(HERE, "structure.py"), "--root", folder,
                                          "machine_paths"], capture_output=True, text=True)
            self.assertEqual(run().returncode, 0)
            with open(os.path.join(folder, "a.md"), "w") as stream:
                stream.write("/wo" + "rk/a")
            result = run()
            self.assertEqual(result.returncode, 1)
            self.assertIn("a.md:1: machine-path: ", result.stdout)


if __name__ == "__main__":
    unittest.main()
