#include "client/cli/print/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace epsledger::cli {
namespace {

// Returns ceil(share * steps) in [0, steps]; `steps` for NaN.
int StepsOf(double share, int steps) {
  if (!(share < 1)) return steps;
  return std::max(0, static_cast<int>(std::ceil(share * steps)));
}

void AppendTimes(int count, const char* text, std::string* line) {
  for (int i = 0; i < count; ++i) absl::StrAppend(line, text);
}

}  // namespace

std::string Bar(double spent, double leased, bool unicode) {
  const int filled = StepsOf(spent, kBarWidth);
  const int light = std::min(filled, StepsOf(leased, kBarWidth));
  std::string bar;
  AppendTimes(filled - light, unicode ? "█" : "#", &bar);
  AppendTimes(light, unicode ? "▓" : "=", &bar);
  AppendTimes(kBarWidth - filled, unicode ? "░" : ".", &bar);
  return bar;
}

std::string Sparkline(const std::vector<double>& values, double top, bool unicode) {
  constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<const char*, 8> kLetters = {"_", ".", ":", "-", "=", "+", "*", "#"};
  constexpr int kLevels = 8;
  std::string line;
  for (const double value : values) {
    const int level = std::max(1, StepsOf(value / top, kLevels)) - 1;
    absl::StrAppend(&line, unicode ? kBlocks[level] : kLetters[level]);
  }
  return line;
}

}  // namespace epsledger::cli
