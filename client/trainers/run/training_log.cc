#include "client/trainers/run/training_log.h"

#include <cmath>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/run/result_file.h"

namespace epsledger::trainers {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const LogValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::isnan(*number)) return "NaN";
    if (std::isinf(*number)) return *number > 0 ? "Infinity" : "-Infinity";
  }
  return std::visit([](const auto& held) { return Json(held); }, value);
}

// A field of RFC 4180, quoted where necessary.
std::string CsvField(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// A file that cannot be kept is not replaced; Result reports this.
void Begin(const std::string& path, std::ofstream& file) {
  if (path.empty()) return;
  if (SetAside(path).ok()) {
    file.open(path, std::ios::trunc);
  } else {
    file.setstate(std::ios::failbit);
  }
}

}  // namespace

absl::StatusOr<TrainingLog> TrainingLog::Open(const std::string& json_path,
                                              const std::string& csv_path) {
  for (const std::string& path : {json_path, csv_path}) {
    if (path.empty()) continue;
    RETURN_IF_ERROR(CheckCanWrite(path));
  }
  TrainingLog log;
  log.json_path_ = json_path;
  log.csv_path_ = csv_path;
  return log;
}

void TrainingLog::Begin() {
  if (begun_) return;
  begun_ = true;
  trainers::Begin(json_path_, json_);
  trainers::Begin(csv_path_, csv_);
  if (!run_.empty()) WriteJson("run", run_);
}

void TrainingLog::WriteJson(const char* record, const LogFields& fields) {
  if (!json_.is_open()) return;
  Json line;
  line["record"] = record;
  for (const auto& [name, value] : fields) line[name] = ToJson(value);
  // Bytes that are not UTF-8 (for example in a path) are replaced and cause no exception.
  json_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

void TrainingLog::Run(LogFields fields) { run_ = std::move(fields); }

void TrainingLog::Step(const LogFields& fields) {
  Begin();
  WriteJson("step", fields);
  if (!csv_.is_open()) return;
  const auto line = [&](const auto& text_of) {
    std::string text;
    for (const auto& field : fields) {
      absl::StrAppend(&text, text.empty() ? "" : ",", text_of(field));
    }
    csv_ << text << "\r\n" << std::flush;
  };
  if (!csv_has_header_) {
    csv_has_header_ = true;
    line([](const auto& field) { return CsvField(Json(field.first)); });
  }
  line([](const auto& field) { return CsvField(ToJson(field.second)); });
}

absl::Status TrainingLog::Result(const LogFields& fields) {
  Begin();
  WriteJson("result", fields);
  if (!json_ || !csv_) {
    return absl::DataLossError("the training log could not be written in full");
  }
  return absl::OkStatus();
}

}  // namespace epsledger::trainers
