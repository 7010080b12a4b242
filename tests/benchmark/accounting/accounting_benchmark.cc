// The accounting targets, measured: one JSON object a line and case, on standard output.
//
//   accounting_benchmark                          every case
//   accounting_benchmark --case=NAME              one case, or those whose name begins with NAME
//   accounting_benchmark --repetitions=N          medians of N (default 5)
//   accounting_benchmark --list                   the cases, not measured
//
// {"case": "epsilon/0.01/1/10000", "query": "epsilon", "delta": 1e-05, "epsilon": 0,
//  "steps": [[0.01, 1, 10000]], "targets": {"seconds": 0.01, ...}, "result": {"seconds": ...}}
// Seconds and bytes; infinity is the string "Infinity". A case that fails has "error" in place of
// "result", and the exit code is then 1. compare_with_peers.py reads this.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/benchmark/accounting/cases.h"

namespace epsledger::accounting {
namespace {

std::string Number(double x) {
  return std::isinf(x) ? (x > 0 ? "\"Infinity\"" : "\"-Infinity\"") : absl::StrFormat("%.17g", x);
}

std::string Text(const std::string& text) {
  return absl::StrCat(
      "\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}), "\"");
}

std::string Object(const Measurements& measurements) {
  return absl::StrCat("{",
                      absl::StrJoin(measurements, ", ",
                                    [](std::string* out, const auto& m) {
                                      absl::StrAppend(out, Text(m.first), ": ", Number(m.second));
                                    }),
                      "}");
}

std::string Description(const Case& c) {
  return absl::StrCat(
      "\"case\": ", Text(c.name), ", \"query\": ", Text(c.query), ", \"delta\": ", Number(c.delta),
      ", \"epsilon\": ", Number(c.epsilon), ", \"steps\": [",
      absl::StrJoin(c.steps, ", ",
                    [](std::string* out, const DpSgdSteps& s) {
                      absl::StrAppend(out, "[", Number(s.sampling_probability), ", ",
                                      Number(s.noise_multiplier), ", ", s.count, "]");
                    }),
      "], \"targets\": ", Object(c.targets));
}

int Main(const std::string& prefix, int repetitions, bool list) {
  bool failed = false;
  bool found = false;
  for (const Case& c : AllCases()) {
    if (c.name.compare(0, prefix.size(), prefix) != 0) continue;
    found = true;
    std::string line = Description(c);
    if (!list) {
      const absl::StatusOr<Measurements> result = c.measure(repetitions);
      failed = failed || !result.ok();
      absl::StrAppend(&line, result.ok() ? ", \"result\": " : ", \"error\": ",
                      result.ok() ? Object(*result) : Text(result.status().ToString()));
    }
    std::printf("{%s}\n", line.c_str());
    std::fflush(stdout);
  }
  if (!found) std::fprintf(stderr, "no case begins with '%s'\n", prefix.c_str());
  return failed || !found ? 1 : 0;
}

}  // namespace
}  // namespace epsledger::accounting

int main(int argc, char** argv) {
  std::string prefix;
  int repetitions = 5;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    if (std::sscanf(argv[i], "--repetitions=%d", &repetitions) == 1 && repetitions >= 1) continue;
    if (std::strncmp(argv[i], "--case=", 7) == 0) {
      prefix = argv[i] + 7;
    } else if (std::strcmp(argv[i], "--list") == 0) {
      list = true;
    } else {
      std::fprintf(stderr, "usage: %s [--case=NAME] [--repetitions=N] [--list]\n", argv[0]);
      return 2;
    }
  }
  return epsledger::accounting::Main(prefix, repetitions, list);
}
