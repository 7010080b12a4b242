#include "server/json_log.h"

#include <string>

#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "spdlog/details/log_msg.h"

namespace epsledger {
namespace {

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& record, spdlog::memory_buf_t& out) override {
    nlohmann::ordered_json line;
    line["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(record.time),
                                    absl::UTCTimeZone());
    const spdlog::string_view_t level = spdlog::level::to_string_view(record.level);
    line["level"] = std::string(level.data(), level.size());
    line["message"] = std::string(record.payload.data(), record.payload.size());
    // Replace bytes that are not UTF-8, so that no record is lost.
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

}  // namespace

std::unique_ptr<spdlog::formatter> MakeJsonFormatter() { return std::make_unique<JsonFormatter>(); }

}  // namespace epsledger
