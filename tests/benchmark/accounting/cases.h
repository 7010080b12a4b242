#ifndef EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_CASES_H_
#define EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_CASES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace epsledger::accounting {

// `count` steps of DP-SGD: a Poisson-sampled Gaussian.
struct DpSgdSteps {
  double sampling_probability = 0;
  double noise_multiplier = 0;
  int64_t count = 0;
};

// What was measured or answered, by name: "seconds", "lower", "peak_bytes". Nothing is NaN.
using Measurements = std::map<std::string, double>;

// One question with its measurement, described well enough to be put to another accountant.
struct Case {
  // "epsilon", "one_more_step", "delta", "distinct_events", "trade_off_curve", "trade_off_point",
  // "calibration", "peak_memory" or "delta_range".
  std::string query;
  // Unique: "epsilon/0.01/1/10000".
  std::string name;
  std::vector<DpSgdSteps> steps;
  double delta = 0;    // where epsilon is asked for, or that of a calibration
  double epsilon = 0;  // where delta is asked for, or that of a calibration
  // The most that each measurement may be.
  Measurements targets;
  // Times are medians over `repetitions` >= 1.
  std::function<absl::StatusOr<Measurements>(int repetitions)> measure;
};

// All of them, in the order of the table.
std::vector<Case> AllCases();

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_CASES_H_
