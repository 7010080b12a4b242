#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/history_flags.h"
#include "epsledger/rounded_number.h"
#include "proto/bridge/compute.h"

namespace epsledger::cli {
namespace {

struct AttackFlags {
  HistoryFlags history;
  v1::Accountant::Kind accountant = v1::Accountant::BEST;
  std::vector<double> false_positive_rates = {0.001, 0.01, 0.1};
  std::vector<double> priors = {0.5};
  std::vector<double> baselines = {0.001};
  double alpha_min = 1e-6;
};

// What the attacker does, as the first column and as the id of the answer, with its question.
struct Attack {
  std::string name;
  v1::Query query;
};

// Without the attacks that are one number for both directions if one direction is asked for.
std::vector<Attack> AttacksOf(const AttackFlags& flags, bool one_direction) {
  std::vector<Attack> attacks;
  const auto add = [&](std::string name) {
    attacks.push_back({std::move(name), {}});
    return &attacks.back().query;
  };
  add("advantage of membership inference")->mutable_advantage();
  for (const double rate : flags.false_positive_rates) {
    add(absl::StrCat("TPR at FPR ", ExactNumber(rate)))->set_true_positive_rate_at(rate);
  }
  for (const double prior : one_direction ? std::vector<double>() : flags.priors) {
    add(absl::StrCat("membership, prior ", ExactNumber(prior)))->set_bayes_success_at(prior);
  }
  for (const double baseline : one_direction ? std::vector<double>() : flags.baselines) {
    add(absl::StrCat("reconstruction, baseline ", ExactNumber(baseline)))
        ->set_reconstruction_success_at(baseline);
  }
  add(absl::StrCat("mu on [", ExactNumber(flags.alpha_min), ", 1 - ", ExactNumber(flags.alpha_min),
                   "]"))
      ->mutable_gaussian_dp_mu()
      ->set_alpha_min(flags.alpha_min);
  return attacks;
}

void Attacks(Invocation& invocation, const AttackFlags& flags) {
  v1::ComputeRequest request;
  const absl::Status status = flags.history.Fill(invocation.terminal().in, &request);
  if (!status.ok()) return invocation.FailOffline(status);
  request.set_accountant(flags.accountant);
  std::vector<v1::ComputeResponse> answers;
  Table table({"attack", "at most", "at least", "regret", "kind", "accountant", "theorem"});
  const bool one_direction = request.adjacency() != v1::Adjacency::KIND_UNSPECIFIED;
  for (Attack& attack : AttacksOf(flags, one_direction)) {
    request.set_id(attack.name);
    *request.mutable_query() = std::move(attack.query);
    absl::StatusOr<v1::ComputeResponse> answer = bridge::Compute(request);
    if (!answer.ok()) return invocation.FailOffline(answer.status());
    table.AddRow({attack.name,
                  answer->has_upper() ? TableCell(answer->upper(), Rounding::kUp) : TableCell(""),
                  answer->has_lower() ? TableCell(answer->lower(), Rounding::kDown) : TableCell(""),
                  answer->has_regret() ? TableCell(answer->regret(), Rounding::kUp) : TableCell(""),
                  v1::Guarantee::Kind_Name(answer->kind()),
                  v1::Accountant::Kind_Name(answer->accountant()), answer->theorem()});
    answers.push_back(*std::move(answer));
  }
  std::vector<const google::protobuf::Message*> messages;
  for (const v1::ComputeResponse& answer : answers) messages.push_back(&answer);
  invocation.Print({.messages = std::move(messages),
                    .is_list = true,
                    .table = std::move(table),
                    .summary = one_direction
                                   ? "Attacks with a prior or a baseline are left out: each is one "
                                     "number for both directions."
                                   : ""});
}

}  // namespace

void AddAttackCommand(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<AttackFlags>();
  CLI::App* attack = app.add_subcommand(
      "attack", "What an attacker who sees every output can do at most; needs no server");
  attack->fallthrough();
  flags->history.AddTo(*attack);
  AddAccountantFlag(*attack, flags->accountant);
  const char* group = "Attacks";
  attack
      ->add_option("--fpr", flags->false_positive_rates,
                   "false positive rates; default: 0.001,0.01,0.1")
      ->type_name("X,X,...")
      ->delimiter(',')
      ->group(group);
  attack
      ->add_option("--prior", flags->priors,
                   "probabilities that the record is in the data set; default: 0.5")
      ->type_name("X,X,...")
      ->delimiter(',')
      ->group(group);
  attack
      ->add_option("--baseline", flags->baselines,
                   "the best guess of a record, or of an attribute, without the output; default: "
                   "0.001")
      ->type_name("X,X,...")
      ->delimiter(',')
      ->group(group);
  attack->add_option("--alpha-min", flags->alpha_min, "mu covers the type I errors from here on")
      ->type_name("X")
      ->capture_default_str()
      ->group(group);
  attack->footer(
      "The advantage is the largest TPR - FPR of a membership test. With a prior, the number is\n"
      "the probability of a right answer. Reconstruction is the probability that a record, or an\n"
      "attribute, is guessed by someone who knows all other records. mu is the smallest of which\n"
      "the Gaussian curve is below the trade-off curve on the range; regret is what that loses.\n"
      "\"at most\" is rounded up, \"at least\" down; json has every digit.\n"
      "Examples:\n"
      "  epsctl attack --gaussian 1.1 --sampling-probability 0.01 --count 1000\n"
      "  epsctl attack --gaussian 40 --count 100 --fpr 0.0001,0.01 --prior 0.1 --baseline 0.25");
  attack->callback([&invocation, flags] { Attacks(invocation, *flags); });
}

}  // namespace epsledger::cli
