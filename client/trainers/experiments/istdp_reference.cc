// istdp-reference measures the quality of coefficients on the training records without noise, and
// of the optimum without privacy. It is for PUBLIC benchmark data only: on private records every
// number it prints would be an uncharged release. The trainer itself never does this.
//
//   istdp-reference --data a9a --lambda 5e-4 --shape 2000 run-1.json run-2.json
//
// prints one JSON object: the objective F and the held-out results of the optimum and of each
// model.

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "client/trainers/istdp/evaluation.h"
#include "client/trainers/istdp/problem.h"
#include "client/trainers/istdp/sound.h"
#include "client/trainers/istdp/sparse_problem.h"

namespace epsledger::trainers::istdp {
namespace {

using Json = nlohmann::ordered_json;

class WithoutNoise : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    return exact_sum;
  }
};

struct Flags {
  std::string data;
  double lambda = 5e-4;
  double shape = 2000;
  double cap = 1;
  std::string penalty = "mcp";
  std::vector<std::string> models;
};

double SupportF1(const std::vector<int>& found, const std::vector<int>& truth) {
  const auto right = std::count_if(found.begin(), found.end(), [&](int j) {
    return std::find(truth.begin(), truth.end(), j) != truth.end();
  });
  return 2.0 * static_cast<double>(right) / static_cast<double>(found.size() + truth.size());
}

int Fail(const std::string& message) {
  std::cerr << "istdp-reference: " << message << "\n";
  return 1;
}

absl::StatusOr<Eigen::VectorXd> ReadModel(const std::string& path, const char* field) {
  std::ifstream file(path);
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains(field) || !json[field].is_array()) {
    return absl::InvalidArgumentError(path + ": not a model of epsledger-istdp");
  }
  Eigen::VectorXd theta(static_cast<Eigen::Index>(json[field].size()));
  for (size_t j = 0; j < json[field].size(); ++j) {
    if (!json[field][j].is_number()) {
      return absl::InvalidArgumentError(path + ": a coefficient is not a number");
    }
    theta[static_cast<Eigen::Index>(j)] = json[field][j].get<double>();
  }
  return theta;
}

int Run(const Flags& flags) {
  CommandLine options;
  options.data = flags.data;
  options.regularizer = McpPenalty{.lambda = flags.lambda, .shape = flags.shape};
  if (flags.penalty == "l1") options.regularizer = L1Penalty{flags.lambda};
  if (flags.penalty == "l2") options.regularizer = L2Penalty{flags.lambda};
  if (flags.penalty == "scad") {
    options.regularizer = ScadPenalty{.lambda = flags.lambda, .shape = flags.shape};
  }
  if (flags.penalty == "capped-l1") {
    options.regularizer = CappedL1Penalty{.lambda = flags.lambda, .cap = flags.cap};
  }
  absl::StatusOr<Problem> problem = PrepareProblem(options);
  if (!problem.ok()) return Fail(std::string(problem.status().message()));
  // The type is for held-out records; here the training records are public too.
  const HeldOutRows train{problem->train};
  const absl::StatusOr<LinearLoss> loss =
      LinearLoss::Create(options.loss, problem->train, options.clip_norm);
  if (!loss.ok()) return Fail(std::string(loss.status().message()));

  TrainingOptions training;
  training.max_steps = 3000;
  training.public_record_count = loss->record_count();
  training.steps = BarzilaiBorweinSteps(LipschitzConstant(options.loss, 1));
  training.regularizer = options.regularizer;
  training.tolerance = 1e-9;
  WithoutNoise exact;
  const absl::StatusOr<TrainingResult> optimum = TrainSound(*loss, training, exact);
  if (!optimum.ok()) return Fail(std::string(optimum.status().message()));

  std::vector<int> truth;
  if (flags.data.rfind("synthetic:", 0) == 0) {
    truth = Support(MakeSparseProblem({.record_count = 1}).truth);
  }
  const double best = Objective(train, options.loss, options.regularizer, optimum->last);
  const auto describe = [&](const Eigen::VectorXd& theta) {
    Json json;
    const double objective = Objective(train, options.loss, options.regularizer, theta);
    json["objective"] = objective;
    json["gap"] = objective - best;
    json["accuracy"] = Accuracy(problem->held_out, theta);
    json["supportSize"] = Support(theta).size();
    if (!truth.empty()) json["supportF1"] = SupportF1(Support(theta), truth);
    return json;
  };
  Json output;
  output["optimum"] = describe(optimum->last);
  output["models"] = Json::array();
  for (const std::string& path : flags.models) {
    const absl::StatusOr<Eigen::VectorXd> last = ReadModel(path, "last");
    if (!last.ok()) return Fail(std::string(last.status().message()));
    const absl::StatusOr<Eigen::VectorXd> averaged = ReadModel(path, "averaged");
    if (!averaged.ok()) return Fail(std::string(averaged.status().message()));
    if (last->size() != loss->feature_count() || averaged->size() != loss->feature_count()) {
      return Fail(path + ": is of another problem");
    }
    Json model = describe(*last);
    model["averaged"] = describe(*averaged);
    output["models"].push_back(std::move(model));
  }
  std::cout << output.dump() << "\n";
  return 0;
}

}  // namespace
}  // namespace epsledger::trainers::istdp

int main(int argc, char** argv) {
  epsledger::trainers::istdp::Flags flags;
  CLI::App app("Measures models on PUBLIC training data, without noise.", "istdp-reference");
  app.add_option("--data", flags.data)->required();
  app.add_option("--lambda", flags.lambda);
  app.add_option("--shape", flags.shape);
  app.add_option("--penalty", flags.penalty)
      ->check(CLI::IsMember({"mcp", "scad", "capped-l1", "l1", "l2"}));
  app.add_option("--cap", flags.cap);
  app.add_option("models", flags.models, "files that epsledger-istdp --model wrote");
  CLI11_PARSE(app, argc, argv);
  return epsledger::trainers::istdp::Run(flags);
}
