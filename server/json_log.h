#ifndef EPSLEDGER_SERVER_JSON_LOG_H_
#define EPSLEDGER_SERVER_JSON_LOG_H_

#include <memory>

#include "spdlog/formatter.h"

namespace epsledger {

// Returns a formatter that writes a record as one line {"time": "2026-11-22T08:00:00.000Z",
// "level": "info", "message": ...}. Whatever the message holds, the line is one valid JSON object.
std::unique_ptr<spdlog::formatter> MakeJsonFormatter();

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_JSON_LOG_H_
