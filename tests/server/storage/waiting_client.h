#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_WAITING_CLIENT_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_WAITING_CLIENT_H_

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/core/durable_ledger.h"
#include "tests/server/core/compute_pricing.h"

namespace epsledger {

// The cost of one charge in these tests. Sums of it are exact in binary.
inline constexpr double kStep = 1.0 / 128;
inline constexpr auto kDataLoss = absl::StatusCode::kDataLoss;
inline constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// Sends commands to a DurableLedger and waits for each. Computes the prices that they need, as a
// server does.
class WaitingClient {
 public:
  explicit WaitingClient(core::DurableLedger& ledger, int64_t time_micros = 0,
                         core::Tenant tenant = {})
      : ledger_(ledger), time_micros_(time_micros), tenant_(std::move(tenant)) {}

  template <class Body>
  std::future<absl::StatusOr<core::Outcome>> Submit(Body body) {
    auto promise = std::make_shared<Promise>();
    auto answer = promise->get_future();
    SubmitPriced(ledger_, tenant_, {.time_micros = time_micros_, .body = std::move(body)},
                 std::move(promise));
    return answer;
  }
  template <class Body>
  absl::StatusOr<core::Outcome> Run(Body body) {
    return Submit(std::move(body)).get();
  }

  absl::Status CreateBudget(const std::string& id, double epsilon) {
    return Run(core::CreateBudget{
                   {.id = id, .cap = core::PureEpsilonCap{epsilon}, .privacy_unit = "person"}})
        .status();
  }
  core::SessionName CreateSession(const std::string& budget, const std::string& id) {
    Run(core::CreateSession{{.budget_id = budget, .id = id}}).IgnoreError();
    return {.budget_id = budget, .session_id = id};
  }
  int64_t OpenAttempt(const core::SessionName& session) {
    const auto outcome = Run(core::OpenAttempt{session, ""});
    return outcome.ok() ? std::get<core::AttemptOutcome>(*outcome).attempt : 0;
  }
  static core::Charge MakeCharge(const core::SessionName& session, int64_t attempt,
                                 const std::string& id, accounting::MechanismEvent event) {
    return {.session = session, .attempt = attempt, .items = {{id, std::move(event), 1}}};
  }
  absl::StatusOr<core::ChargeRecord> Charge(const core::SessionName& session, int64_t attempt,
                                            const std::string& id,
                                            accounting::MechanismEvent event) {
    auto outcome = Run(MakeCharge(session, attempt, id, std::move(event)));
    if (!outcome.ok()) return outcome.status();
    return std::get<core::ChargeOutcome>(*outcome).records[0];
  }

  // Runs `read` on the durable state and returns its result.
  template <class Function>
  auto Read(Function read) {
    using Result = decltype(read(*static_cast<core::LedgerReader*>(nullptr)));
    auto promise = std::make_shared<std::promise<absl::StatusOr<Result>>>();
    ledger_.Read(tenant_,
                 [promise, read = std::move(read)](absl::StatusOr<core::LedgerReader*> reader) {
                   if (reader.ok()) {
                     promise->set_value(read(**reader));
                   } else {
                     promise->set_value(reader.status());
                   }
                 });
    return promise->get_future().get();
  }
  core::LedgerHead Head(const std::string& budget) {
    return *Read([&](core::LedgerReader& reader) { return reader.LedgerOf(budget)->head(); });
  }
  core::Cost Spent(const std::string& budget) {
    return *Read([&](core::LedgerReader& reader) {
      return reader.LedgerOf(budget)->FindBudget(budget)->balance.spent()[0];
    });
  }

 private:
  using Promise = std::promise<absl::StatusOr<core::Outcome>>;

  static void SubmitPriced(core::DurableLedger& ledger, const core::Tenant& tenant,
                           core::Command command, std::shared_ptr<Promise> promise) {
    ledger.Submit(tenant, std::move(command),
                  [&ledger, tenant, promise](absl::StatusOr<core::Outcome> outcome) {
                    const auto* wanted =
                        outcome.ok() ? std::get_if<core::PricesWanted>(&*outcome) : nullptr;
                    if (wanted == nullptr) return promise->set_value(std::move(outcome));
                    core::Command again = *wanted->command;
                    again.pricing = core::ComputePricing(*wanted, again.pricing.get());
                    SubmitPriced(ledger, tenant, std::move(again), promise);
                  });
  }

  core::DurableLedger& ledger_;
  int64_t time_micros_;
  core::Tenant tenant_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_WAITING_CLIENT_H_
