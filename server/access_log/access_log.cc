#include "server/access_log/access_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"
#include "server/access/method_rules.h"
#include "spdlog/spdlog.h"

namespace epsledger::access_log {
namespace {

// The longest time that a line waits, and the number of lines that are written before that.
constexpr absl::Duration kWritingInterval = absl::Milliseconds(100);
constexpr size_t kWritingCount = 1'024;

void AppendJsonText(std::string_view text, std::string* out) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
  if (is_plain) {
    absl::StrAppend(out, "\"", absl::string_view(text.data(), text.size()), "\"");
  } else {
    // Bytes that are not UTF-8 are replaced.
    *out += nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                      nlohmann::json::error_handler_t::replace);
  }
}

void AppendField(const char* name, std::string_view value, std::string* out) {
  if (value.empty()) return;
  absl::StrAppend(out, out->size() > 1 ? ", " : "", "\"", name, "\": ");
  AppendJsonText(value, out);
}

const char* NameOf(core::Door door) { return door == core::Door::kHttp ? "HTTP" : "GRPC"; }

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

int OpenToAppend(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

// Returns true if the file ends within a line, as a killed process or a full disk leaves it. Pipes,
// devices and files that cannot be read never do.
bool EndsWithinLine(const std::string& path) {
  struct stat there {};
  if (stat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode) || there.st_size == 0) {
    return false;
  }
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char last = '\n';
  const bool read = pread(file, &last, 1, there.st_size - 1) == 1;
  close(file);
  return read && last != '\n';
}

}  // namespace

std::string JsonLineOf(const CallRecord& record) {
  std::string line = "{";
  AppendField("time", TimeText(record.time), &line);
  AppendField("door", NameOf(record.door), &line);
  AppendField("method", record.method, &line);
  AppendField("outcome", absl::StatusCodeToString(record.outcome), &line);
  AppendField("reason", record.reason, &line);
  AppendField("resource", record.resource, &line);
  if (!record.caller.principal.empty()) {
    AppendField("tenant", record.caller.tenant.name, &line);
    AppendField("principal", record.caller.principal, &line);
    AppendField("role", access::Name(record.caller.role), &line);
  }
  AppendField("client", record.client, &line);
  AppendField("peer", record.peer, &line);
  AppendField("requestId", record.request_id, &line);
  AppendField("traceparent", record.traceparent, &line);
  absl::StrAppendFormat(&line, ", \"seconds\": %.6f}", absl::ToDoubleSeconds(record.duration));
  return line;
}

absl::StatusOr<std::unique_ptr<AccessLog>> AccessLog::Open(std::string path,
                                                           int64_t accepted_sample) {
  const int file = path == "-" ? dup(STDOUT_FILENO) : OpenToAppend(path);
  if (file < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("--access-log: ", path, " cannot be opened"));
  }
  std::unique_ptr<AccessLog> log(new AccessLog(std::move(path), accepted_sample, file));
  log->is_cut_ = EndsWithinLine(log->path_);
  log->thread_ = std::thread([raw = log.get()] { raw->Loop(); });
  return log;
}

AccessLog::AccessLog(std::string path, int64_t accepted_sample, int file)
    : path_(std::move(path)),
      accepted_sample_(accepted_sample),
      file_(file),
      stranger_time_(absl::Now()) {}

AccessLog::~AccessLog() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
  close(file_);
}

bool AccessLog::Wants(std::string_view method, absl::StatusCode outcome) {
  if (accepted_sample_ == 1 || outcome != absl::StatusCode::kOk ||
      method != "epsledger.v1.ChargeService.Charge") {
    return true;
  }
  return accepted_.fetch_add(1, std::memory_order_relaxed) % accepted_sample_ == 0;
}

bool AccessLog::TakesStranger(absl::Time now) {
  const double seconds = absl::ToDoubleSeconds(now - stranger_time_);
  stranger_time_ = now;
  stranger_credit_ = std::min(kMaxStrangerLines,
                              stranger_credit_ + std::max(0.0, seconds) * kStrangerLinesPerSecond);
  if (stranger_credit_ < 1) return false;
  stranger_credit_ -= 1;
  return true;
}

void AccessLog::Add(CallRecord record) {
  const bool is_stranger = record.caller.principal.empty();
  const absl::Time now = is_stranger ? absl::Now() : absl::Time();
  absl::MutexLock lock(&mutex_);
  if (waiting_.size() >= kMaxWaiting || (is_stranger && !TakesStranger(now))) {
    ++lost_;
    return;
  }
  waiting_.push_back(std::move(record));
}

void AccessLog::Loop() {
  const auto due = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || waiting_.size() >= kWritingCount;
  };
  while (true) {
    std::vector<CallRecord> records;
    int64_t lost = 0;
    bool last = false;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&due), kWritingInterval);
      records.swap(waiting_);
      lost = std::exchange(lost_, 0);
      last = stopping_;
    }
    if (!records.empty() || lost > 0) Write(records, lost);
    if (last) return;
  }
}

void AccessLog::ReopenIfMoved() {
  if (path_ == "-") return;
  struct stat there {};
  struct stat here {};
  if (stat(path_.c_str(), &there) == 0 && fstat(file_, &here) == 0 && there.st_ino == here.st_ino &&
      there.st_dev == here.st_dev) {
    return;
  }
  const int file = OpenToAppend(path_);
  if (file < 0) return;  // keep the open file
  close(file_);
  file_ = file;
  is_cut_ = EndsWithinLine(path_);
}

void AccessLog::Write(const std::vector<CallRecord>& records, int64_t lost) {
  ReopenIfMoved();
  std::string text = std::exchange(is_cut_, false) ? "\n" : "";
  for (const CallRecord& record : records) absl::StrAppend(&text, JsonLineOf(record), "\n");
  if (lost > 0) {
    absl::StrAppend(&text, "{\"time\": \"", TimeText(absl::Now()), "\", \"lost\": ", lost, "}\n");
  }
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      if (!std::exchange(failed_, true)) {
        spdlog::error("--access-log: {} cannot be written, and its lines are lost until it can: {}",
                      path_, std::strerror(error));
      }
      is_cut_ = left.size() < text.size() && text[text.size() - left.size() - 1] != '\n';
      const auto lines = std::count(left.begin(), left.end(), '\n');
      absl::MutexLock lock(&mutex_);
      lost_ += lines + (lost > 0 ? lost - 1 : 0);
      return;
    }
    left.remove_prefix(static_cast<size_t>(written));
  }
  if (std::exchange(failed_, false)) spdlog::info("--access-log: {} is written again", path_);
}

}  // namespace epsledger::access_log
