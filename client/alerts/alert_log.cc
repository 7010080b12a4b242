#include "client/alerts/alert_log.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace epsledger::alerts {

void AlertLog::Write(const char* level, const std::string& message, const Fields& fields) {
  const std::string time =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  if (as_json_) {
    nlohmann::ordered_json line;
    line["time"] = time;
    line["level"] = level;
    line["message"] = message;
    for (const auto& [name, value] : fields) line[name] = value;
    out_ << line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  } else {
    std::string line = absl::StrCat(time, " ", level, " ", message);
    for (const auto& [name, value] : fields) absl::StrAppend(&line, ", ", name, " ", value);
    // One record is one line, whatever the ledger's texts hold.
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    out_ << line << "\n";
  }
  out_.flush();
}

void AlertLog::Note(const std::string& what, const absl::Status& status) {
  const bool was_failing = std::exchange(failing_[what], !status.ok());
  if (!status.ok() && !was_failing) {
    Error(absl::StrCat(what, " failed: ", status.message()));
  } else if (status.ok() && was_failing) {
    Info(absl::StrCat(what, " works again"));
  }
}

}  // namespace epsledger::alerts
