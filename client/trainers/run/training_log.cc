#include "client/trainers/run/training_log.h"

#include <cmath>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

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

// A field of RFC 4180: quoted where it has to be.
std::string CsvField(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

absl::Status Open(const std::string& path, std::ofstream* file) {
  if (path.empty()) return absl::OkStatus();
  file->open(path, std::ios::trunc);
  if (!*file) return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingLog> TrainingLog::Open(const std::string& json_path,
                                              const std::string& csv_path) {
  TrainingLog log;
  if (absl::Status status = trainers::Open(json_path, &log.json_); !status.ok()) return status;
  if (absl::Status status = trainers::Open(csv_path, &log.csv_); !status.ok()) return status;
  return log;
}

void TrainingLog::WriteJson(const char* record, const LogFields& fields) {
  if (!json_.is_open()) return;
  Json line;
  line["record"] = record;
  for (const auto& [name, value] : fields) line[name] = ToJson(value);
  // Bytes that are no UTF-8 (a path, say) are replaced, not thrown at.
  json_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

void TrainingLog::Run(const LogFields& fields) { WriteJson("run", fields); }

void TrainingLog::Step(const LogFields& fields) {
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
  WriteJson("result", fields);
  if ((json_.is_open() && !json_) || (csv_.is_open() && !csv_)) {
    return absl::DataLossError("the training log could not be written in full");
  }
  return absl::OkStatus();
}

}  // namespace epsledger::trainers
