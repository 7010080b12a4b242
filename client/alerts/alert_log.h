#ifndef EPSLEDGER_CLIENT_ALERTS_ALERT_LOG_H_
#define EPSLEDGER_CLIENT_ALERTS_ALERT_LOG_H_

#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace epsledger::alerts {

// The log: one line a record, for people, or as JSON like that of epsledgerd with --json-log:
// "time", "level", "message", and fields of their own. Used by one thread.
class AlertLog {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // REQUIRES: `out` outlives this.
  AlertLog(std::ostream& out, bool as_json) : out_(out), as_json_(as_json) {}

  void Info(const std::string& message, const Fields& fields = {}) {
    Write("info", message, fields);
  }
  void Warn(const std::string& message, const Fields& fields = {}) {
    Write("warning", message, fields);
  }
  void Error(const std::string& message, const Fields& fields = {}) {
    Write("error", message, fields);
  }
  // Writes a line when a failure of `what` begins, and one when it ends.
  void Note(const std::string& what, const absl::Status& status);

 private:
  void Write(const char* level, const std::string& message, const Fields& fields);

  std::ostream& out_;
  const bool as_json_;
  std::map<std::string, bool> failing_;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_ALERT_LOG_H_
