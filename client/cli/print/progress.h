#ifndef EPSLEDGER_CLIENT_CLI_PRINT_PROGRESS_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/print/terminal.h"

namespace epsledger::cli {

// While it lives, a line on the error stream that says what is running and for how long. Prints
// nothing if that stream is not a terminal, or if the work ends within `patience`. Thread-safe.
class Progress {
 public:
  static constexpr std::chrono::milliseconds kPatience{500};

  // `what` as in "verifying budgets/adult".
  Progress(Terminal& terminal, std::string what, std::chrono::milliseconds patience = kPatience);
  // Removes the line.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Reports that `done` of `total` are done.
  void Report(int64_t done, int64_t total) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run(std::chrono::milliseconds patience) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string Line() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Terminal& terminal_;
  const std::string what_;
  const std::chrono::steady_clock::time_point start_;
  absl::Mutex mutex_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_PROGRESS_H_
