#include "client/trainers/run/ledger_flags.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <CLI/CLI.hpp>

#include "absl/random/random.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/run/waiting_notice.h"

namespace epsledger::trainers {
namespace {

// The delta of reports if no cap has a delta.
constexpr double kUsualDelta = 1e-5;

std::string MakeSessionId(const std::string& program) {
  absl::BitGen random;
  return absl::StrFormat("%s-%s-%04x", program,
                         absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::UTCTimeZone()),
                         absl::Uniform<uint16_t>(random));
}

void AddLedgerFlags(CLI::App& app, LedgerFlags& flags) {
  const char* group = "Ledger";
  app.add_option("--server", flags.client.address, "host:port or unix:path")
      ->envname("EPSLEDGER_SERVER")
      ->capture_default_str()
      ->group(group);
  app.add_option("--tls-ca", flags.client.tls.ca_file, "use TLS, with these authorities (PEM)")
      ->envname("EPSLEDGER_TLS_CA")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--tls-cert", flags.client.tls.certificate_file, "own certificate (PEM)")
      ->envname("EPSLEDGER_TLS_CERT")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--tls-key", flags.client.tls.key_file, "and its key (PEM)")
      ->envname("EPSLEDGER_TLS_KEY")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--token-file", flags.token_file,
                 "a file with the token that says who calls; else the variable EPSLEDGER_TOKEN")
      ->envname("EPSLEDGER_TOKEN_FILE")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--allow-insecure", flags.client.allow_insecure,
               "speak without TLS to an address that is not loopback")
      ->envname("EPSLEDGER_ALLOW_INSECURE")
      ->group(group);
  app.add_option("--budget", flags.budget, "the budget that pays")->required()->group(group);
  app.add_option("--session", flags.session, "the session's id; made up if not given")
      ->group(group);
}

void AddPrivacyFlags(CLI::App& app, LedgerFlags& flags) {
  const char* group = "Privacy";
  const CLI::Range open_unit(std::numeric_limits<double>::min(), 1 - 1e-16);
  app.add_option("--steps", flags.steps, "how many steps the noise is chosen for")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-steps", flags.max_steps,
                 "stop after so many; twice --steps if not given, so that the ledger decides")
      ->check(CLI::PositiveNumber)
      ->group(group);
  CLI::Option* multiplier =
      app.add_option("--noise-multiplier", flags.noise_multiplier,
                     "noise / largest contribution of one record; if not given, the smallest "
                     "with which --steps steps fit into the cap")
          ->check(CLI::PositiveNumber)
          ->group(group);
  CLI::Option* fit =
      app.add_option_function<std::string>(
             "--fit",
             [&flags](const std::string& what) { flags.fit_remaining = what == "remaining"; },
             "what --steps steps are to fit into: the whole cap (cap, if not "
             "given), or what is left of the budget now (remaining), of a session "
             "that pays step by step")
          ->type_name("WHAT")
          ->check(CLI::IsMember({"cap", "remaining"}))
          ->group(group);
  CLI::Option* epsilon = app.add_option("--epsilon", flags.epsilon, "a cap of the run's own")
                             ->check(CLI::PositiveNumber)
                             ->group(group);
  CLI::Option* delta = app.add_option("--delta", flags.delta, "and its delta, in (0, 1)")
                           ->check(open_unit)
                           ->group(group);
  epsilon->needs(delta);
  delta->needs(epsilon);
  multiplier->excludes(epsilon);
  fit->excludes(epsilon);
  fit->excludes(multiplier);
  app.add_flag("--declared,!--adaptive", flags.declared,
               flags.declared
                   ? "--adaptive: pay step by step instead of committing to --steps steps, paid in "
                     "full at the start"
                   : "commit to --steps steps before the first one, paid in full at the start")
      ->group(group);
  app.add_option("--lease", flags.lease,
                 "take steps from leases of so many: one question to the ledger for all of them; "
                 "what is not used at the end is wasted")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  const std::map<std::string, NeighboringRelation> relations = {
      {"add-or-remove-one", NeighboringRelation::kAddOrRemoveOne},
      {"replace-one", NeighboringRelation::kReplaceOne},
      {"replace-special", NeighboringRelation::kReplaceSpecial}};
  app.add_option_function<std::string>(
         "--relation",
         [&flags, relations](const std::string& name) { flags.relation = relations.at(name); },
         "must be the budget's; add-or-remove-one if not given")
      ->type_name("RELATION")
      ->check(CLI::IsMember(relations))
      ->group(group);
}

}  // namespace

void LedgerFlags::AddTo(CLI::App& app) {
  AddLedgerFlags(app, *this);
  AddPrivacyFlags(app, *this);
}

absl::Status LedgerFlags::Complete(const std::string& program) {
  budget = BudgetId(budget);
  client.tls.enabled = !client.tls.ca_file.empty() || !client.tls.certificate_file.empty() ||
                       !client.tls.key_file.empty();
  if (const char* secret = std::getenv("EPSLEDGER_TOKEN")) client.token = secret;
  if (!token_file.empty()) {
    ASSIGN_OR_RETURN(std::string secret, ReadTokenFile(token_file));
    client.token = std::move(secret);
  }
  if (fit_remaining && declared) {
    return absl::InvalidArgumentError(
        "--fit: got remaining with --declared, want a session that pays step by step (--adaptive): "
        "a plan is paid as one");
  }
  client.retry.on_wait = WaitingNotice(program, client.address, std::cerr);
  if (session.empty()) session = MakeSessionId(program);
  if (declared || max_steps == 0) max_steps = declared ? steps : 2 * steps;
  return absl::OkStatus();
}

std::string BudgetId(const std::string& name_or_id) {
  constexpr std::string_view kBudgets = "budgets/";
  return name_or_id.starts_with(kBudgets) ? name_or_id.substr(kBudgets.size()) : name_or_id;
}

double ReportDelta(const LedgerFlags& flags, const Budget& budget) {
  if (flags.delta.has_value()) return *flags.delta;
  const auto* cap = std::get_if<ApproximateDpCap>(&budget.cap);
  if (const auto* units = std::get_if<UnitsCap>(&budget.cap)) return units->delta;
  return cap != nullptr ? cap->delta : kUsualDelta;
}

}  // namespace epsledger::trainers
