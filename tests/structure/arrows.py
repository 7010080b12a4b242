"""The arrows of the design, as a table of what each folder may include and say.

transport -> access, statement -> core <- storage,  core -> accounting,  client -> proto;  server/main.cc alone sees all.
A file is held to every row whose folder it is below.
"""
import collections
import re

import cpp_text
from repository import Violation, is_below

STANDARD = """
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg
cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format
forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch
limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges
ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept
stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex
typeinfo unordered_map unordered_set utility valarray variant vector version
""".split()

# Patterns over the path of an include.
STD = "(" + "|".join(STANDARD) + ")$"
POSIX = r"(unistd|fcntl|errno|signal|sys/[a-z_]+)\.h$"
GRPC = r"(grpc|grpcpp|grpc\+\+)/|.*\.grpc\.pb\.h$"
PROTOBUF = r"google/protobuf/|.*\.pb\.h$"
SQL = r"sqlite3\.h$|libpq|postgresql/|pq"
THREADS = (r"(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|atomic)$"
           r"|pthread\.h$|absl/synchronization/")
CLOCKS = r"(chrono|ctime)$|(^|/)time\.h$|absl/time/(?!civil_time\.h$)"
FILES = r"(fstream|filesystem|iostream|cstdio)$|unistd\.h$|fcntl\.h$|sys/"
CHANCE = r"random$|absl/random/|openssl/rand\.h$"

# Patterns over code (comments and literals removed).
CLOCK_CALLS = r"absl::(Now|Time|Duration|Clock)\b|std::chrono\b|\b(gettimeofday|clock_gettime)\b|\btime\((nullptr|NULL|0)\)"
THREAD_CALLS = r"absl::(Mutex|CondVar|Notification)\b|std::(jthread|thread|mutex|shared_mutex|condition_variable|async|atomic)\b"

Rule = collections.namedtuple("Rule", "name folder kind patterns reason")
# kind: only   an include must match one of the patterns
#       never  an include must match none of them
#       code   no line of code may match one of them

RULES = [
    Rule("accounting-sees", "accounting", "only", ["accounting/", "absl/", "boost/", STD],
         "the mathematics knows abseil, Boost and the standard library, so that it can be read, tested and reused alone"),
    Rule("accounting-no-threads", "accounting", "never", [THREADS],
         "a number must not depend on a schedule; callers lock"),
    Rule("accounting-no-clock", "accounting", "never", [CLOCKS],
         "a number must not depend on when it is asked for"),
    Rule("accounting-no-clock-calls", "accounting", "code", [CLOCK_CALLS, THREAD_CALLS],
         "a number must not depend on a clock or on a schedule"),

    Rule("core-sees", "server/core", "only", ["server/core/", "accounting/", "absl/", "openssl/", STD],
         "the ledger is a pure state machine: no gRPC, no protobuf, no SQL; the stores and the transport come to it"),
    Rule("core-no-threads", "server/core", "never", [THREADS],
         "one command at a time is what makes the invariants provable; the store serialises"),
    Rule("core-no-clock", "server/core", "never", [CLOCKS],
         "invariant I12: no promise of the ledger depends on a clock; time comes in as a part of the command"),
    Rule("core-no-clock-calls", "server/core", "code", [CLOCK_CALLS, THREAD_CALLS],
         "invariant I12: no promise of the ledger depends on a clock or on a schedule"),
    Rule("core-no-files", "server/core", "never", [FILES],
         "the ledger does no input or output: replaying its rows must give the same head"),
    Rule("core-no-chance", "server/core", "never", [CHANCE],
         "the same commands give the same ledger, hash for hash (invariants I17 and I18)"),

    Rule("storage-sees", "server/storage", "only",
         ["server/storage/", "server/core/", "accounting/", "absl/", r"sqlite3\.h$", r"libpq-fe\.h$", "openssl/", "spdlog/", STD, POSIX],
         "a store knows the core and its database, never the transport: every transport gets the same ledger"),

    Rule("access-sees", "server/access", "only", [r"accounting/event/(status_macros|printable)\.h$", "server/access/", "server/core/", "absl/", "openssl/", STD],
         "who may call what is decided beside every transport and over every store"),
    Rule("oidc-sees", "server/oidc", "only",
         ["server/oidc/", "server/access/", "server/core/", "accounting/", "proto/json_syntax/", "absl/", "cjose/", "curl/", "nlohmann/",
          "spdlog/", STD],
         "whom an issuer names is said to access control alone: no transport, no store"),
    Rule("statement-sees", "server/statement", "only",
         ["server/statement/", "server/core/", "accounting/", "absl/", "openssl/", STD, POSIX],
         "a statement is composed from the core's state and the mathematics; it knows no transport and no store"),
    Rule("statement-no-clock", "server/statement", "never", [CLOCKS],
         "the same facts give the same bytes to sign; the time is one of them"),

    Rule("transport-not-storage", "server/transport", "never", ["server/storage/", SQL],
         "the transport speaks to the core's port, so that a store can be exchanged without touching a handler"),
    Rule("server-not-client", "server", "never", [r"client/(?!dashboard/packed_dashboard\.h$)", "epsledger/client"],
         "the server must build and run without any client; main hands on the bytes of the dashboard"),
    Rule("transport-not-dashboard", "server/transport", "never", ["client/"],
         "what is served is main's choice"),

    Rule("client-not-server", "client", "never", ["server/"],
         "a client knows the protocol only; it must work against a server that it was not built with"),
    Rule("client-not-accounting", "client", "never", [r"accounting/(?!event/status_macros\.h$)"],
         "clients ask the ledger; client/cli reaches the mathematics through proto/bridge, the one bridge"),
    Rule("json-syntax-sees", "proto/json_syntax", "only", ["proto/json_syntax/", "absl/", STD],
         "whether a text is JSON is asked by the server and by the thin client alike"),
    Rule("client-library-not-bridge", "client/cpp", "never", ["proto/bridge/"],
         "proto/bridge brings the mathematics in; the library stays thin (client/cli may use it for offline computing)"),
    Rule("trainers-public-interface", "client/trainers", "never", [GRPC, PROTOBUF, "proto/", "client/cpp/(?!include/)"],
         "a trainer is a user of the client library like any other: public headers only"),
    Rule("trainer-network-sees", "client/trainers/network", "only", ["client/trainers/network/", r"accounting/event/status_macros\.h$", "Eigen/", "absl/", r"immintrin\.h$", STD],
         "the network engine knows numbers alone: no ledger, no noise, no files"),
    Rule("trainer-scattering-sees", "client/trainers/scattering", "never",
         ["epsledger/", "client/trainers/(?!scattering/|data/)"],
         "a fixed map of one record: it knows images and nothing of training, noise or the ledger"),
    Rule("trainer-data-sees", "client/trainers/data", "never", ["epsledger/", "client/trainers/(?!data/)"],
         "records come from files and downloads; what is done with them is for the trainers"),

    Rule("alert-rules-see", "client/alerts/rules", "only",
         ["client/alerts/rules/", r"epsledger/v1/(?!.*\.grpc\.pb\.h$)", r"epsledger/rounded_number\.h$", "google/protobuf/", "absl/", "nlohmann/",
          r"openssl/sha\.h$", STD],
         "which changes become alerts is a pure function of them: it knows messages, and no connection and no receiver"),
    Rule("alert-rules-no-clock-no-thread", "client/alerts/rules", "never", [CLOCKS, THREADS, FILES, CHANCE],
         "the same changes from the same state give the same alerts, also after a restart"),
    Rule("alert-delivery-not-ledger", "client/alerts/delivery", "never", [GRPC, PROTOBUF, "client/alerts/ledger/"],
         "receivers are told what the rules say; delivery asks the server nothing"),
    Rule("public-headers", "client/cpp/include", "never", [GRPC, PROTOBUF, r"absl/strings/string_view\.h$", "proto/"],
         "public headers must compile in a program that has another gRPC, another protobuf or none"),
    Rule("public-headers-string-view", "client/cpp/include", "code", [r"absl::string_view\b", r"\b(grpc|google::protobuf)::"],
         "absl::string_view is another type than std::string_view in some builds of abseil: an ABI trap"),

    Rule("bridge-sees", "proto/bridge", "only",
         ["proto/bridge/", "proto/json_syntax/", "accounting/", "absl/", "google/protobuf/", STD, r"(?!.*\.grpc\.pb\.h$).*\.pb\.h$"],
         "the bridge between messages and the mathematics knows these two and nothing else: no gRPC"),
]


def violates(rule, path):
    matched = any(re.match(pattern, path) for pattern in rule.patterns)
    return not matched if rule.kind == "only" else matched


def check(repository):
    for file in repository.sources("accounting", "server", "client", "proto"):
        rules = [rule for rule in RULES if is_below(file, rule.folder)]
        text = repository.text(file)
        for line, path in cpp_text.includes(text):
            for rule in rules:
                if rule.kind != "code" and violates(rule, path):
                    yield Violation(file, line, "%s includes %s" % (rule.name, path), rule.reason)
        code_rules = [rule for rule in rules if rule.kind == "code"]
        if code_rules:
            for line, code in cpp_text.code_lines(text):
                for rule in code_rules:
                    for pattern in rule.patterns:
                        found = re.search(pattern, code)
                        if found:
                            yield Violation(file, line, "%s says %s" % (rule.name, found.group(0)), rule.reason)
