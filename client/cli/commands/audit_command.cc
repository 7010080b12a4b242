#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "accounting/event/status_macros.h"
#include "client/cli/commands/canary_file.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/input_file.h"
#include "client/cli/flags/history_flags.h"
#include "client/cli/flags/resource_name.h"
#include "proto/bridge/canary_audit.h"

namespace epsledger::cli {
namespace {

// Scores are read here, not sent: as many as fit in memory.
constexpr int64_t kMaxLocalScores = 100'000'000;

const std::map<std::string, v1::AuditCanariesRequest::Method>& Methods() {
  static const auto* const methods = new std::map<std::string, v1::AuditCanariesRequest::Method>{
      {"two-arm-threshold", v1::AuditCanariesRequest::TWO_ARM_THRESHOLD},
      {"two-arm-gdp", v1::AuditCanariesRequest::TWO_ARM_GDP},
      {"one-run", v1::AuditCanariesRequest::ONE_RUN},
      {"one-run-f-dp", v1::AuditCanariesRequest::ONE_RUN_F_DP}};
  return *methods;
}

struct AuditFlags {
  std::string method;
  std::string scores_file;
  std::string two_arm_counts;
  std::string one_run_counts;
  double confidence = 0.95;
  double delta = 0;
  std::optional<int64_t> guesses;
  std::optional<double> claimed_epsilon;
  std::string record;
  std::string source;
  HistoryFlags history;
};

absl::Status ReadScores(std::istream& in, const std::string& file_name,
                        v1::AuditCanariesRequest* request) {
  ASSIGN_OR_RETURN(const std::string text, ReadInput("--scores", file_name, in));
  const absl::Status status = ParseCanaryScores(text, request);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("--scores ", file_name, ": ", status.message()));
}

// Parses "A<separator>B<separator>..." as `count` integers.
absl::StatusOr<std::vector<int64_t>> ParseIntegers(const std::string& flag, const std::string& text,
                                                   const absl::ByAnyChar& separators, size_t count,
                                                   const std::string& wanted) {
  std::vector<int64_t> integers;
  for (const absl::string_view part : absl::StrSplit(text, separators)) {
    int64_t integer = 0;
    if (!absl::SimpleAtoi(part, &integer)) break;
    integers.push_back(integer);
  }
  const std::vector<std::string> parts = absl::StrSplit(text, separators);
  if (parts.size() == count && integers.size() == count) return integers;
  return absl::InvalidArgumentError(absl::StrCat(flag, ": got ", text, ", want ", wanted));
}

absl::Status ReadCounts(const AuditFlags& flags, v1::AuditCanariesRequest* request) {
  if (!flags.two_arm_counts.empty()) {
    ASSIGN_OR_RETURN(const auto counts,
                     ParseIntegers("--two-arm-counts", flags.two_arm_counts, absl::ByAnyChar("/,"),
                                   4, "like 930/1000,14/1000"));
    v1::TwoArmCounts* message = request->mutable_two_arm_counts();
    message->set_true_positives(counts[0]);
    message->set_members(counts[1]);
    message->set_false_positives(counts[2]);
    message->set_non_members(counts[3]);
  }
  if (!flags.one_run_counts.empty()) {
    ASSIGN_OR_RETURN(const auto counts, ParseIntegers("--one-run-counts", flags.one_run_counts,
                                                      absl::ByAnyChar("/"), 3, "like 98/100/1000"));
    v1::OneRunCounts* message = request->mutable_one_run_counts();
    message->set_correct(counts[0]);
    message->set_guesses(counts[1]);
    message->set_canaries(counts[2]);
  }
  return absl::OkStatus();
}

// The charged events, if there are any.
absl::Status ReadEvents(std::istream& in, const AuditFlags& flags,
                        v1::AuditCanariesRequest* request) {
  if (!flags.history.event.any() && flags.history.events_file.empty()) return absl::OkStatus();
  if (flags.history.adjacency != v1::Adjacency::KIND_UNSPECIFIED || flags.history.group_size != 1 ||
      flags.history.relative_width.has_value()) {
    return absl::InvalidArgumentError(
        "--adjacency, --group-size, --relative-width: got one of them, want none: an audit covers "
        "both directions and one record");
  }
  v1::ComputeRequest history;
  RETURN_IF_ERROR(flags.history.Fill(in, &history));
  *request->mutable_events() = history.events();
  request->set_neighboring_relation(history.neighboring_relation());
  request->set_sensitivity_relation(history.sensitivity_relation());
  return absl::OkStatus();
}

absl::StatusOr<v1::AuditCanariesRequest> ToRequest(std::istream& in, const AuditFlags& flags) {
  v1::AuditCanariesRequest request;
  request.set_method(Methods().at(flags.method));
  request.set_confidence(flags.confidence);
  request.set_delta(flags.delta);
  if (flags.guesses.has_value()) request.set_guesses(*flags.guesses);
  if (flags.claimed_epsilon.has_value()) request.set_claimed_epsilon(*flags.claimed_epsilon);
  absl::Status status = absl::OkStatus();
  if (!flags.scores_file.empty()) status = ReadScores(in, flags.scores_file, &request);
  if (status.ok()) status = ReadCounts(flags, &request);
  if (status.ok()) status = ReadEvents(in, flags, &request);
  if (!status.ok()) return status;
  return request;
}

std::string DescribeCounts(const v1::AuditCanariesResponse& audit) {
  if (audit.has_two_arm_counts()) {
    const v1::TwoArmCounts& counts = audit.two_arm_counts();
    return absl::StrCat("members called members ", counts.true_positives(), " of ",
                        counts.members(), ", non-members ", counts.false_positives(), " of ",
                        counts.non_members());
  }
  const v1::OneRunCounts& counts = audit.one_run_counts();
  return absl::StrCat(counts.correct(), " of ", counts.guesses(), " guesses right, of ",
                      counts.canaries(), " canaries");
}

Table AuditTable(const v1::AuditCanariesResponse& audit) {
  const auto optional = [](bool set, double value, Rounding rounding) {
    return set ? TableCell(value, rounding) : TableCell("");
  };
  const v1::Guarantee& certified = audit.certified_epsilon();
  Table table({"method", "epsilon lower", "at delta", "confidence", "if", "mu lower", "threshold",
               "counted", "claimed epsilon", "contradicts claim", "certified epsilon",
               "contradicts certificate", "theorem"});
  table.AddRow(
      {v1::AuditCanariesRequest::Method_Name(audit.method()),
       TableCell(audit.epsilon_lower_bound().lower(), Rounding::kDown), ExactNumber(audit.delta()),
       ExactNumber(audit.confidence()),
       audit.hypothesis() == v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF
           ? "the trade-off function is Gaussian"
           : "",
       optional(audit.has_mu_lower_bound(), audit.mu_lower_bound(), Rounding::kDown),
       optional(audit.has_threshold(), audit.threshold(), Rounding::kDown), DescribeCounts(audit),
       optional(audit.has_claimed_epsilon(), audit.claimed_epsilon(), Rounding::kUp),
       audit.has_contradicts_claim() ? (audit.contradicts_claim() ? "yes" : "no") : "",
       optional(certified.has_upper(), certified.upper(), Rounding::kUp),
       audit.has_contradicts_certificate() ? (audit.contradicts_certificate() ? "yes" : "no") : "",
       audit.epsilon_lower_bound().theorem()});
  return table;
}

// Claimed against audited, in words.
std::string Verdict(const v1::AuditCanariesResponse& audit) {
  const std::string confidence = absl::StrCat("at confidence ", ExactNumber(audit.confidence()));
  const double lower = audit.epsilon_lower_bound().lower();
  const bool gaussian = audit.hypothesis() == v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF;
  std::string text;
  if (lower > 0) {
    text = absl::StrCat("Audited: epsilon is at least ", RoundedNumber(lower, Rounding::kDown),
                        " at delta ", ExactNumber(audit.delta()), ", ", confidence,
                        gaussian ? ", if the trade-off function is Gaussian" : "", ".");
  } else {
    text = absl::StrCat("Audited: nothing is shown ", confidence, ". This does not prove privacy.");
  }
  if (audit.has_claimed_epsilon()) {
    absl::StrAppend(
        &text, "\nClaimed: epsilon ", RoundedNumber(audit.claimed_epsilon(), Rounding::kUp),
        ". The audit ",
        audit.contradicts_claim() ? "CONTRADICTS the claim." : "does not contradict it.");
  }
  if (audit.has_contradicts_certificate()) {
    absl::StrAppend(&text, "\nCertified by the charged events: epsilon ",
                    RoundedNumber(audit.certified_epsilon().upper(), Rounding::kUp), ". The audit ",
                    audit.contradicts_certificate()
                        ? "CONTRADICTS it: the mechanism spends more than was charged."
                        : "does not contradict it.");
  }
  return text;
}

// Sends the result to the server, for the record of the session.
void Record(Invocation& invocation, const AuditFlags& flags,
            const v1::AuditCanariesResponse& found) {
  const absl::StatusOr<std::string> name = SessionName(flags.record);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::RecordAuditRequest request;
  request.set_session(*name);
  v1::SessionAudit* audit = request.mutable_audit();
  audit->set_method(found.method());
  audit->set_hypothesis(found.hypothesis());
  audit->set_epsilon_lower_bound(found.epsilon_lower_bound().lower());
  audit->set_delta(found.delta());
  audit->set_confidence(found.confidence());
  audit->set_trials(found.has_two_arm_counts()
                        ? found.two_arm_counts().members() + found.two_arm_counts().non_members()
                        : found.one_run_counts().canaries());
  if (found.has_mu_lower_bound()) audit->set_mu_lower_bound(found.mu_lower_bound());
  if (found.has_claimed_epsilon()) audit->set_claimed_epsilon(found.claimed_epsilon());
  audit->set_source(flags.source);
  const auto session =
      invocation.Call(&Connection::sessions, &v1::SessionService::StubInterface::RecordAudit,
                      request, CallKind::kWrite);
  if (session == nullptr) return;
  invocation.Tell(invocation.flags().dry_run
                      ? absl::StrCat("would be recorded in ", session->name(), "; it was not")
                      : absl::StrCat("recorded in ", session->name(), ", which has ",
                                     session->audit_count(), " audits."));
}

void Audit(Invocation& invocation, const AuditFlags& flags) {
  const absl::StatusOr<v1::AuditCanariesRequest> request =
      ToRequest(invocation.terminal().in, flags);
  if (!request.ok()) return invocation.FailOffline(request.status());
  const auto question = bridge::ToQuestion(*request, kMaxLocalScores);
  if (!question.ok()) return invocation.FailOffline(question.status());
  const absl::StatusOr<v1::AuditCanariesResponse> audit = bridge::AuditCanaries(*question);
  if (!audit.ok()) return invocation.FailOffline(audit.status());
  invocation.Print({.messages = {&*audit}, .table = AuditTable(*audit)});
  if (invocation.IsForPeople()) invocation.terminal().out << "\n" << Verdict(*audit) << "\n";
  if (!flags.record.empty()) Record(invocation, flags, *audit);
}

}  // namespace

void AddAuditCommand(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* audit = app.add_subcommand(
      "audit",
      "A lower bound on epsilon from an attack on canaries; needs no server, except with "
      "--record");
  audit->fallthrough();
  audit
      ->add_option("--method", flags->method,
                   "two-arm-threshold, two-arm-gdp, one-run or one-run-f-dp")
      ->type_name("METHOD")
      ->check(CLI::IsMember(Methods()))
      ->required();
  const char* evidence = "Results of the attack (one of them)";
  audit
      ->add_option("--scores", flags->scores_file,
                   "a file (- for standard input): member,SCORE or non-member,SCORE a line,\n"
                   "or {\"member\": true, \"score\": SCORE}; a higher score means: a member")
      ->type_name("FILE")
      ->group(evidence);
  audit
      ->add_option("--two-arm-counts", flags->two_arm_counts,
                   "members called members, then non-members called members")
      ->type_name("K/N,K/N")
      ->group(evidence);
  audit->add_option("--one-run-counts", flags->one_run_counts, "right guesses, guesses, canaries")
      ->type_name("RIGHT/GUESSES/CANARIES")
      ->group(evidence);
  audit
      ->add_option("--guesses", flags->guesses,
                   "with the scores of one run: the number of guesses, fixed before the run;\n"
                   "default: all, a quarter, a 16th and a 64th share the failure probability")
      ->type_name("N");
  audit->add_option("--confidence", flags->confidence, "in (0, 1)")
      ->type_name("CONFIDENCE")
      ->capture_default_str();
  audit->add_option("--delta", flags->delta, "in [0, 1)")->type_name("DELTA")->required();
  audit
      ->add_option("--claimed-epsilon", flags->claimed_epsilon,
                   "the claim to compare with, at delta")
      ->type_name("EPSILON");
  const char* record = "Record (needs the server)";
  audit->add_option("--record", flags->record, "the session whose run was audited")
      ->type_name("BUDGET/SESSION")
      ->group(record);
  audit
      ->add_option("--source", flags->source,
                   "with --record: which attack, and where its scores are; up to 256 bytes")
      ->type_name("TEXT")
      ->group(record);
  flags->history.AddTo(*audit);
  audit->footer(
      "The answer is above the truth with probability at most 1 - confidence. An answer of 0\n"
      "shows nothing and is no proof of privacy. With events, the counts are also compared with\n"
      "what the events certify. Two arms: one canary, many runs with it and without it. One run:\n"
      "many canaries, each in with probability 1/2. Lower bounds are rounded down; csv and json\n"
      "have every digit.\n"
      "Examples:\n"
      "  epsctl audit --method two-arm-threshold --two-arm-counts 930/1000,14/1000 --delta 1e-5 "
      "\\\n"
      "      --claimed-epsilon 1\n"
      "  epsctl audit --method two-arm-gdp --scores scores.csv --delta 1e-5 \\\n"
      "      --gaussian 40 --count 100\n"
      "  epsctl audit --method one-run --one-run-counts 98/100/1000 --delta 1e-5 -o json\n"
      "  epsctl audit --method two-arm-gdp --scores scores.csv --delta 1e-5 \\\n"
      "      --record adult/run-1 --source \"gradient canary, scores.csv\"");
  audit->callback([&invocation, flags] { Audit(invocation, *flags); });
}

}  // namespace epsledger::cli
