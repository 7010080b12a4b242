#ifndef EPSLEDGER_SERVER_ACCESS_LOG_ACCESS_LOG_H_
#define EPSLEDGER_SERVER_ACCESS_LOG_ACCESS_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/access/caller.h"

namespace epsledger::access_log {

// One call that has ended.
struct CallRecord {
  absl::Time time;     // of its arrival
  std::string method;  // "epsledger.v1.ChargeService.Charge"
  core::Door door = core::Door::kGrpc;
  // The caller. `principal` is empty if the caller is unknown.
  access::Caller caller;
  std::string client;    // what it says about itself
  std::string peer;      // the address at the other end of the connection
  std::string resource;  // the name that the request is about; for strangers, whatever they sent
  absl::StatusCode outcome = absl::StatusCode::kOk;
  std::string reason;  // of ErrorInfo
  absl::Duration duration;
  std::string request_id;
  std::string traceparent;
};

// Returns one line of JSON without a newline. Omits empty fields. Whatever the record contains, the
// line is one valid JSON object.
std::string JsonLineOf(const CallRecord& record);

// A file with one line of JSON for each call: who asked for what, and the outcome. Calls never wait
// for the file: a separate thread writes it.
//
// Lines may be missing; a line {"time": ..., "lost": N} then says how many. Lines of unknown
// callers are lost beyond a burst of kMaxStrangerLines and kStrangerLinesPerSecond (the access
// ledger counts all denials). Lines of any caller are lost if more than kMaxWaiting wait, or if the
// file cannot be written. Thread-safe.
class AccessLog {
 public:
  static constexpr size_t kMaxWaiting = 65'536;
  static constexpr double kMaxStrangerLines = 1'000;
  static constexpr double kStrangerLinesPerSecond = 100;

  // `path`: "-" is the standard output. A new file is readable to its owner alone. Lines are
  // appended, and the file is opened again after it was moved or removed. One in `accepted_sample`
  // accepted charges gets a line, and so does every other call. Returns NOT_FOUND or another error
  // if the file cannot be opened. REQUIRES: accepted_sample >= 1.
  static absl::StatusOr<std::unique_ptr<AccessLog>> Open(std::string path, int64_t accepted_sample);
  // Writes the waiting lines.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // Returns false for a call that gets no line. Call this before making a record.
  bool Wants(std::string_view method, absl::StatusCode outcome);
  void Add(CallRecord record) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  AccessLog(std::string path, int64_t accepted_sample, int file);

  // Returns false, and counts the line as lost, if strangers have too many lines.
  bool TakesStranger(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Called by the writing thread.
  void Write(const std::vector<CallRecord>& records, int64_t lost) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReopenIfMoved();

  const std::string path_;
  const int64_t accepted_sample_;
  std::atomic<int64_t> accepted_ = 0;
  int file_;
  bool failed_ = false;  // and the log reported it
  bool is_cut_ = false;  // the last line of the file is cut

  absl::Mutex mutex_;
  std::vector<CallRecord> waiting_ ABSL_GUARDED_BY(mutex_);
  int64_t lost_ ABSL_GUARDED_BY(mutex_) = 0;
  double stranger_credit_ ABSL_GUARDED_BY(mutex_) = kMaxStrangerLines;
  absl::Time stranger_time_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace epsledger::access_log

#endif  // EPSLEDGER_SERVER_ACCESS_LOG_ACCESS_LOG_H_
