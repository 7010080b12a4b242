#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_TRAINING_LOG_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_TRAINING_LOG_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::trainers {

// One named value of a record. A number that is not finite is written "Infinity", "-Infinity" or
// "NaN", as proto3 JSON does.
using LogValue = std::variant<bool, int64_t, double, std::string>;
using LogFields = std::vector<std::pair<std::string, LogValue>>;

// A run as machines read it. JSON lines hold, each as an object with "record" first,
//   {"record": "run", ...}     once: what the run was told
//   {"record": "step", ...}    every step
//   {"record": "result", ...}  once, at the end: a file without one is of a run that was cut off
// and CSV holds the steps alone, with a header. Every line is flushed when it is written.
//
// What is logged is shown to whoever reads the file: log released and held-out numbers and nothing
// else. Not thread-safe.
class TrainingLog {
 public:
  // An empty path writes no such file. Nothing is written before the first Step or Result: a run
  // that releases nothing leaves the log of an earlier run as it is. Then an existing file is
  // replaced, and kept as PATH.previous. FAILED_PRECONDITION with the path if one cannot be
  // written.
  static absl::StatusOr<TrainingLog> Open(const std::string& json_path,
                                          const std::string& csv_path);

  // Kept until the first Step or Result.
  void Run(LogFields fields);
  // REQUIRES: the same names in the same order every time.
  void Step(const LogFields& fields);
  // DATA_LOSS if anything of the log could not be written.
  absl::Status Result(const LogFields& fields);

 private:
  TrainingLog() = default;
  void Begin();
  void WriteJson(const char* record, const LogFields& fields);

  std::string json_path_;
  std::string csv_path_;
  LogFields run_;
  bool begun_ = false;
  std::ofstream json_;
  std::ofstream csv_;
  bool csv_has_header_ = false;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_TRAINING_LOG_H_
