#include "server/metrics/observed_ledger.h"

#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"

namespace epsledger::metrics {
namespace {

using core::RefusalReason;

// The commands, by their index in core::Command::body.
constexpr const char* kCommands[] = {
    "create_budget", "update_budget",  "change_budget_phase", "supersede_budget", "create_session",
    "close_session", "record_audit",   "open_attempt",        "charge",           "settle_lease",
    "access",        "charge_preview", "set_approval_policy", "propose_change",   "reject_proposal",
    "annotate",      "record_sign_off"};
static_assert(std::size(kCommands) == std::variant_size_v<core::CommandBody::variant>);

constexpr RefusalReason kReasons[] = {
    RefusalReason::kBudgetExhausted, RefusalReason::kBudgetFrozen,
    RefusalReason::kClosed,          RefusalReason::kNotInPlan,
    RefusalReason::kAttemptFenced,   RefusalReason::kEventNotChargeable,
    RefusalReason::kBatchRefused,    RefusalReason::kPolicyViolation,
    RefusalReason::kBudgetSuperseded};

// Codes of absl and of gRPC.
constexpr int kLastCode = 16;

// From a commit in memory to a very busy disk.
const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
    0.05,    0.1,    0.25,    0.5,    1,     2.5,    5,     10};

}  // namespace

struct ObservedLedger::Instruments {
  explicit Instruments(std::shared_ptr<prometheus::Registry> shared) : owner(std::move(shared)) {
    prometheus::Registry& registry = *owner;
    auto& charge_family = prometheus::BuildCounter()
                              .Name("epsledger_charges_total")
                              .Help("Charges decided, repetitions of a key included.")
                              .Register(registry);
    accepted = &charge_family.Add({{"decision", "accepted"}});
    refused = &charge_family.Add({{"decision", "refused"}});
    auto& refusal_family = prometheus::BuildCounter()
                               .Name("epsledger_refusals_total")
                               .Help("Refused charges and plans, by reason.")
                               .Register(registry);
    refusals.resize(1 + std::size(kReasons));
    for (RefusalReason reason : kReasons) {
      refusals[static_cast<size_t>(reason)] = &refusal_family.Add({{"reason", core::Name(reason)}});
    }
    auto& command_family =
        prometheus::BuildHistogram()
            .Name("epsledger_command_seconds")
            .Help("From a command's arrival at the ledger to its durable answer.")
            .Register(registry);
    auto& error_family = prometheus::BuildCounter()
                             .Name("epsledger_command_errors_total")
                             .Help("Commands that got an error instead of an outcome, by code.")
                             .Register(registry);
    for (const char* command : kCommands) {
      seconds.push_back(&command_family.Add({{"command", command}}, kSeconds));
    }
    for (int code = 0; code <= kLastCode; ++code) {
      errors.push_back(&error_family.Add(
          {{"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}}));
    }
    in_flight = &prometheus::BuildGauge()
                     .Name("epsledger_commands_in_flight")
                     .Help("Commands that the ledger has not answered.")
                     .Register(registry)
                     .Add({});
  }

  void Refused(const core::Refusal& refusal) {
    refusals[static_cast<size_t>(refusal.reason)]->Increment();
  }

  void Count(const core::Outcome& outcome) {
    if (const auto* charges = std::get_if<core::ChargeOutcome>(&outcome)) {
      for (const core::ChargeRecord& record : charges->records) {
        (record.row.refusal ? refused : accepted)->Increment();
        if (record.row.refusal) Refused(*record.row.refusal);
      }
    }
    const auto* session = std::get_if<core::SessionOutcome>(&outcome);
    if (session != nullptr && session->refusal) Refused(*session->refusal);
  }

  const std::shared_ptr<prometheus::Registry> owner;  // of the metrics below
  prometheus::Counter* accepted = nullptr;
  prometheus::Counter* refused = nullptr;
  std::vector<prometheus::Counter*> refusals;   // by number of the reason
  std::vector<prometheus::Histogram*> seconds;  // by index of the command
  std::vector<prometheus::Counter*> errors;     // by code
  prometheus::Gauge* in_flight = nullptr;
};

ObservedLedger::ObservedLedger(core::DurableLedger& ledger,
                               std::shared_ptr<prometheus::Registry> registry)
    : ForwardingLedger(ledger), instruments_(std::make_shared<Instruments>(std::move(registry))) {}

void ObservedLedger::Submit(core::Tenant tenant, core::Command command, Reply reply) {
  const size_t kind = command.body.index();
  const auto start = std::chrono::steady_clock::now();
  instruments_->in_flight->Increment();
  ledger().Submit(
      std::move(tenant), std::move(command),
      [instruments = instruments_, kind, start,
       reply = std::move(reply)](absl::StatusOr<core::Outcome> outcome) mutable {
        instruments->in_flight->Decrement();
        // Not an answer: the command comes again once its events are priced.
        if (outcome.ok() && std::holds_alternative<core::PricesWanted>(*outcome)) {
          return std::move(reply)(std::move(outcome));
        }
        instruments->seconds[kind]->Observe(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        if (outcome.ok()) {
          instruments->Count(*outcome);
        } else {
          instruments->errors[static_cast<size_t>(outcome.status().code())]->Increment();
        }
        std::move(reply)(std::move(outcome));
      });
}

}  // namespace epsledger::metrics
