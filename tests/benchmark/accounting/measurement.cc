#include "tests/benchmark/accounting/measurement.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>

namespace epsledger::accounting {
namespace {

// A line of /proc/self/status, in bytes. Not getrusage: after exec its ru_maxrss still holds the
// peak of the process that forked.
int64_t BytesOf(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != name + ":") continue;
    int64_t kibibytes = 0;
    return status >> kibibytes ? 1024 * kibibytes : -1;
  }
  return -1;
}

}  // namespace

double SecondsOf(absl::FunctionRef<void()> work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

int64_t PeakGrowthOf(absl::FunctionRef<void()> work) {
  std::ofstream("/proc/self/clear_refs") << 5;  // sets the peak to the present size
  const int64_t before = BytesOf("VmRSS");
  work();
  const int64_t after = BytesOf("VmHWM");
  if (before < 0 || after < 0) return -1;
  return std::max<int64_t>(0, after - before);
}

}  // namespace epsledger::accounting
