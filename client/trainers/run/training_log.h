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

// The log of a run for machines. The JSON file holds one object a line, with "record" first:
//   {"record": "run", ...}     once: the settings of the run
//   {"record": "step", ...}    every step
//   {"record": "result", ...}  once, at the end: a file without it is of an interrupted run
// The CSV file holds only the steps, with a header. Every line is flushed when it is written.
//
// Whoever reads the file sees what is logged: log only released and held-out numbers. Not
// thread-safe.
class TrainingLog {
 public:
  // An empty path means no such file. Nothing is written before the first Step or Result, so a run
  // that releases nothing leaves the log of an earlier run as it is. The first write replaces an
  // existing file and keeps it as PATH.previous. FAILED_PRECONDITION with the path if a file cannot
  // be written.
  static absl::StatusOr<TrainingLog> Open(const std::string& json_path,
                                          const std::string& csv_path);

  // The fields are written with the first Step or Result.
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
