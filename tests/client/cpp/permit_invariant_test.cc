// The invariant of the design that belongs to the client, by its number.

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "epsledger/client.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger {
namespace {

// Whatever the server answers and loses, every permit is for a charge that the ledger holds as
// ACCEPTED under that very key, with its event and count, and no charge gives two.
RC_GTEST_PROP(Invariants, I19NoPermitWithoutAnAcceptedDecision, ()) {
  FakeLedger ledger;
  std::chrono::steady_clock::time_point now;
  ClientOptions options{.address = ledger.address()};
  options.retry.max_tries = 3;
  options.retry.sleep = [&](std::chrono::nanoseconds duration) { now += duration; };
  options.retry.now = [&] { return now; };
  auto client = Client::Connect(options);
  RC_ASSERT(client.ok());
  auto session = client->OpenSession(
      {.budget = "adult",
       .session = "run",
       .create = NewSession{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                            .no_own_cap = true}});
  RC_ASSERT(session.ok());
  ledger.set_capacity(*rc::gen::inRange(0, 30));
  std::set<std::string> permitted;
  const auto check = [&](const absl::StatusOr<Permit>& permit, int64_t count) {
    if (!permit.ok()) return;
    RC_ASSERT(permitted.insert(permit->charge_name()).second);
    const std::optional<v1::Charge> charge = ledger.FindCharge(permit->charge_name());
    RC_ASSERT(charge.has_value());
    RC_ASSERT(charge->decision() == v1::Charge::ACCEPTED);
    RC_ASSERT(charge->sequence() == permit->sequence());
    RC_ASSERT(charge->count() == count);
    RC_ASSERT(permit->uses_left() == count);
    RC_ASSERT(charge->event().gaussian().noise_multiplier() ==
              permit->mechanism().gaussian_noise_multiplier());
  };
  std::map<std::string, int64_t> counts;  // of charges whose outcome is unknown
  for (int step = 0; step < 12; ++step) {
    std::vector<Fault> faults;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
      faults.push_back(
          static_cast<Fault>(*rc::gen::inRange(0, static_cast<int>(Fault::kFenced) + 1)));
    }
    ledger.Script(faults);
    const std::vector<std::string> unknown = session->unknown_charges();
    if (!unknown.empty() && *rc::gen::arbitrary<bool>()) {
      const std::string id = *rc::gen::elementOf(unknown);
      check(session->RetryCharge(id), counts.at(id));
      continue;
    }
    const int64_t count = *rc::gen::inRange(1, 4);
    const auto permit = session->Charge(Mechanism::Gaussian(*rc::gen::inRange(1, 5)), count);
    check(permit, count);
    if (const auto id = UnknownCharge(permit.status())) counts[*id] = count;
  }
}

}  // namespace
}  // namespace epsledger
