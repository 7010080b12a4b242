"""The arrows once more, for what the CMake targets of each folder link.

A pattern is over the name of the linked target, or, for a target of this tree, over the folder that
defines it ("server/core/").
"""
import collections
import re

from cmake_files import Build
from repository import Violation

Rule = collections.namedtuple("Rule", "name folder kind patterns reason")  # kind: only or never

RULES = [
    Rule("accounting-links", "accounting", "only",
         ["accounting/", r"absl::(?!time$|synchronization$)", "Boost::", r"(m|quadmath)$"],
         "the mathematics stands on abseil and Boost alone"),
    Rule("core-links", "server/core", "only",
         ["server/core/", "accounting/", r"absl::(?!time$|synchronization$)", "OpenSSL::Crypto$"],
         "the ledger is a pure state machine over the mathematics"),
    Rule("storage-links", "server/storage", "only",
         ["server/storage/", "server/core/", "accounting/", "absl::", "SQLite::", "PkgConfig::libpq", "OpenSSL::Crypto$", "spdlog::",
          "fmt::", "Threads::"],
         "a store knows the core and its database, never the transport"),
    Rule("access-links", "server/access", "only",
         ["server/access/", "server/core/", "absl::", "OpenSSL::Crypto$"],
         "who may call what knows the core's port, no transport and no store"),
    Rule("statement-links", "server/statement", "only",
         ["server/statement/", "server/core/", "accounting/", "absl::", "OpenSSL::Crypto$"],
         "a statement is composed from the core's state and the mathematics"),
    Rule("transport-links", "server/transport", "never", ["server/storage/", "SQLite::", "PkgConfig::libpq", "client/"],
         "the transport speaks to the core's port"),
    Rule("client-links", "client", "never", ["server/", "accounting/", "SQLite::", "PkgConfig::libpq"],
         "a client knows the protocol only (client/cli reaches the mathematics through proto/bridge)"),
    Rule("client-library-links", "client/cpp", "never", ["proto/bridge/"],
         "the client library stays thin: it must not bring the mathematics in"),
    Rule("trainer-links", "client/trainers", "never", ["proto/", "gRPC::", "protobuf::"],
         "a trainer uses the client library like any other user of it"),
    Rule("bridge-links", "proto/bridge", "only", ["proto/", "accounting/", "absl::", "protobuf::"],
         "the bridge between messages and the mathematics knows these two and nothing else"),
    Rule("bridge-messages-only", "proto/bridge", "never", ["epsledger_grpc$", "gRPC::"],
         "the offline calculator wants messages without gRPC"),
    Rule("proto-links", "proto", "never", ["server/", "client/"],
         "the protocol is below everything that speaks it"),
]


def below(folder, rule_folder):
    return (folder + "/").startswith(rule_folder + "/")


def check(repository):
    build = Build(repository)
    for target in build.targets.values():
        rules = [rule for rule in RULES if below(target.folder, rule.folder)]
        for link, line, file in target.links:
            linked = build.target(link)
            if linked is None and link.startswith("epsledger"):
                yield Violation(file, line, "%s links %s" % (target.name, link),
                                "no CMakeLists.txt that is reached makes this target")
                continue
            seen = [link] + ([linked.folder + "/"] if linked else [])
            for rule in rules:
                matched = any(re.match(pattern, name) for pattern in rule.patterns for name in seen)
                if matched == (rule.kind == "never"):
                    yield Violation(file, line, "%s: %s links %s" % (rule.name, target.name, link), rule.reason)
