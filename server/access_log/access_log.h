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
  // Who called, if they were known: principal is empty otherwise.
  access::Caller caller;
  std::string client;    // what they say of themselves
  std::string peer;      // the address at the other end of the connection
  std::string resource;  // the name that the request is about; of strangers whatever they sent
  absl::StatusCode outcome = absl::StatusCode::kOk;
  std::string reason;  // of ErrorInfo
  absl::Duration duration;
  std::string request_id;
  std::string traceparent;
};

// A line of JSON, without its end. Fields that are empty are left out. Whatever the record holds,
// the line is one valid JSON object.
std::string JsonLineOf(const CallRecord& record);

// Who asked for what, and what became of it: one line of JSON a call, in a file. Calls never wait
// for the file: a thread of its own writes.
//
// Lines may be missing, and then a line {"time": ..., "lost": N} says how many: of callers who are
// not known, beyond kMaxStrangerLines at once and kStrangerLinesPerSecond (denials of all are
// counted in the ledger of access); of all, beyond kMaxWaiting, or where the file cannot be
// written. Thread-safe.
class AccessLog {
 public:
  static constexpr size_t kMaxWaiting = 65'536;
  static constexpr double kMaxStrangerLines = 1'000;
  static constexpr double kStrangerLinesPerSecond = 100;

  // `path`: "-" is the standard output. The file is made readable to its owner alone, appended to,
  // and opened anew after it was moved or removed. One in `accepted_sample`
  // accepted charges gets a line; everything else has one. NOT_FOUND and others if it cannot be
  // opened. REQUIRES: accepted_sample >= 1.
  static absl::StatusOr<std::unique_ptr<AccessLog>> Open(std::string path, int64_t accepted_sample);
  // Writes what waits.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // False for a call that gets no line: ask before a record is made.
  bool Wants(std::string_view method, absl::StatusCode outcome);
  void Add(CallRecord record) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  AccessLog(std::string path, int64_t accepted_sample, int file);

  // False, and it counts as lost, for a stranger too many.
  bool TakesStranger(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Called by the writing thread.
  void Write(const std::vector<CallRecord>& records, int64_t lost) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReopenIfMoved();

  const std::string path_;
  const int64_t accepted_sample_;
  std::atomic<int64_t> accepted_ = 0;
  int file_;
  bool failed_ = false;  // and it was said
  bool is_cut_ = false;  // the last line in the file

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
