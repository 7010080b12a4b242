#include "client/trainers/istdp/checkpoint.h"

#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/trainers/run/result_file.h"

namespace epsledger::trainers::istdp {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kProgram = "epsledger-istdp";

Json ToJson(const Eigen::VectorXd& vector) {
  return Json(std::vector<double>(vector.begin(), vector.end()));
}

// Reads fields of one JSON object; the first invalid field is the error.
class Fields {
 public:
  Fields(const Json& object, const std::string& path) : object_(object), path_(path) {}

  std::string Text(const char* name) {
    const Json* field = Find(name);
    if (field != nullptr && field->is_string()) return field->get<std::string>();
    Fail(name, "a string");
    return "";
  }
  double Number(const char* name) {
    const Json* field = Find(name);
    if (field != nullptr && field->is_number()) return field->get<double>();
    Fail(name, "a number");
    return 0;
  }
  int WholeNumber(const char* name) {
    const Json* field = Find(name);
    if (field != nullptr && field->is_number_integer()) return field->get<int>();
    Fail(name, "a whole number");
    return 0;
  }
  Eigen::VectorXd Vector(const char* name) {
    const Json* field = Find(name);
    bool good = field != nullptr && field->is_array();
    if (good) {
      for (const Json& element : *field) good = good && element.is_number();
    }
    if (!good) {
      Fail(name, "an array of numbers");
      return {};
    }
    const auto values = field->get<std::vector<double>>();
    return Eigen::Map<const Eigen::VectorXd>(values.data(),
                                             static_cast<Eigen::Index>(values.size()));
  }
  void Fail(const char* name, const char* want) {
    if (status_.ok()) {
      status_ = absl::InvalidArgumentError(absl::StrCat(path_, ": ", name, ": want ", want));
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  const Json* Find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  const Json& object_;
  const std::string& path_;
  absl::Status status_;
};

}  // namespace

absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  Json json;
  json["program"] = kProgram;
  json["format"] = kFormat;
  json["budget"] = checkpoint.budget;
  json["session"] = checkpoint.session;
  json["settings"] = checkpoint.settings;
  json["noiseMultiplier"] = checkpoint.noise_multiplier;
  json["step"] = checkpoint.state.step;
  json["stepSize"] = checkpoint.state.step_size;
  json["theta"] = ToJson(checkpoint.state.theta);
  json["previousTheta"] = ToJson(checkpoint.state.previous_theta);
  json["previousGradient"] = ToJson(checkpoint.state.previous_gradient);
  json["averaged"] = ToJson(checkpoint.state.averaged);
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return WriteDurably(path, text);
}

absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": there is no such checkpoint"));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a checkpoint: want a JSON object"));
  }
  Fields fields(json, path);
  Checkpoint checkpoint;
  if (fields.Text("program") != kProgram) fields.Fail("program", kProgram);
  if (fields.WholeNumber("format") != kFormat) fields.Fail("format", "1");
  checkpoint.budget = fields.Text("budget");
  checkpoint.session = fields.Text("session");
  checkpoint.settings = fields.Text("settings");
  checkpoint.noise_multiplier = fields.Number("noiseMultiplier");
  checkpoint.state.step = fields.WholeNumber("step");
  if (checkpoint.state.step < 1) fields.Fail("step", "a number >= 1");
  checkpoint.state.step_size = fields.Number("stepSize");
  checkpoint.state.theta = fields.Vector("theta");
  checkpoint.state.previous_theta = fields.Vector("previousTheta");
  checkpoint.state.previous_gradient = fields.Vector("previousGradient");
  checkpoint.state.averaged = fields.Vector("averaged");
  if (!fields.status().ok()) return fields.status();
  return checkpoint;
}

}  // namespace epsledger::trainers::istdp
