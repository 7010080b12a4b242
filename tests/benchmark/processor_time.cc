#include "tests/benchmark/processor_time.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace epsledger {
namespace {

struct Times {
  long parent = 0;
  long ticks = 0;
};

Times TimesOf(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  Times times;
  if (!std::getline(file, line)) return times;
  long user = 0;
  long system = 0;
  // After the name, which ends with the last parenthesis: the state, the parent, 9 fields, then the
  // two.
  std::sscanf(line.c_str() + line.rfind(')') + 1,
              " %*s %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %ld", &times.parent, &user,
              &system);
  times.ticks = user + system;
  return times;
}

double Seconds(long ticks) {
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

double ProcessorSeconds(pid_t pid) { return Seconds(TimesOf(std::to_string(pid)).ticks); }

double FamilyProcessorSeconds(pid_t parent) {
  long ticks = TimesOf(std::to_string(parent)).ticks;
  std::error_code ignored;
  for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = process.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const Times times = TimesOf(name);
    if (times.parent == parent) ticks += times.ticks;
  }
  return Seconds(ticks);
}

double MachineProcessorSeconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  long user = 0;
  long nice = 0;
  long system = 0;
  file >> word >> user >> nice >> system;
  return Seconds(user + nice + system);
}

}  // namespace epsledger
