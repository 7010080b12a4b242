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

// Measurements and answers by name: "seconds", "lower", "peak_bytes". None is NaN.
using Measurements = std::map<std::string, double>;

// One question with its measurement, described so that another accountant can answer it too.
struct Case {
  // "epsilon", "one_more_step", "delta", "distinct_events", "trade_off_curve", "trade_off_point",
  // "calibration", "peak_memory" or "delta_range".
  std::string query;
  // Unique: "epsilon/0.01/1/10000".
  std::string name;
  std::vector<DpSgdSteps> steps;
  double delta = 0;    // given if the question is for epsilon, or is a calibration
  double epsilon = 0;  // given if the question is for delta, or is a calibration
  // The largest allowed value of each measurement.
  Measurements targets;
  // Times are medians over `repetitions` >= 1.
  std::function<absl::StatusOr<Measurements>(int repetitions)> measure;
};

// Returns all cases, in the order of the table.
std::vector<Case> AllCases();

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_CASES_H_
