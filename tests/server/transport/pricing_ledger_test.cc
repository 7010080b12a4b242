// What it costs to price events, and who pays for it.

#include "server/transport/grpc/calls/pricing_ledger.h"

#include "gtest/gtest.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/storage/group_commit_ledger.h"
#include "tests/server/storage/memory_store.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::transport {
namespace {

using accounting::MechanismEvent;

const core::Tenant kHog{"hog"};
const core::Tenant kVictim{"victim"};

// One event that takes about `kinds` / 300 seconds to price in Renyi orders.
MechanismEvent Dear(int kinds) {
  accounting::Composed composed;
  for (int i = 0; i < kinds; ++i) {
    const MechanismEvent noise(accounting::Gaussian{.noise_multiplier = 1 + i * 1e-6});
    composed.events.push_back(
        {MechanismEvent(accounting::RandomAllocation{.rounds = 100, .selected = 1, .event = noise}),
         1});
  }
  return MechanismEvent(std::move(composed));
}

// One that takes as long in units of a reference, for each of its kinds.
MechanismEvent DearInUnits(int kinds) {
  accounting::Composed composed;
  for (int i = 0; i < kinds; ++i) {
    accounting::MixtureOfGaussians mixture{.noise_multiplier = 5 + i * 1e-2};
    for (int k = 0; k < 50; ++k) mixture.sensitivities.push_back(1 + k * 1e-3);
    mixture.probabilities.assign(50, 1.0 / 50);
    composed.events.push_back({MechanismEvent(std::move(mixture)), 1});
  }
  return MechanismEvent(std::move(composed));
}

class PricingLedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ledger_ = *storage::GroupCommitLedger::Open(std::make_unique<storage::MemoryStore>(), {});
    Serve(PricingLedger::kMaxPricing);
    for (const core::Tenant& tenant : {kHog, kVictim}) {
      WaitingClient client(*ledger_, 0, tenant);
      core::BudgetSpec spec{.id = "b", .cap = core::RenyiCap{.order = 2, .divergence = 1e6}};
      spec.privacy_unit = "person";
      ASSERT_TRUE(client.Run(core::CreateBudget{std::move(spec)}).ok());
      client.CreateSession("b", "s");
      ASSERT_EQ(client.OpenAttempt(kSession), 1);
    }
  }

  void Serve(absl::Duration max_pricing, size_t max_queued = 100) {
    pool_ = std::make_shared<ComputationPool>(1, max_queued);
    priced_ = std::make_unique<PricingLedger>(*ledger_, pool_, max_pricing);
  }

  std::future<absl::StatusOr<core::Outcome>> Submit(const core::Tenant& tenant,
                                                    core::Command command) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<core::Outcome>>>();
    priced_->Submit(tenant, std::move(command), [promise](absl::StatusOr<core::Outcome> outcome) {
      promise->set_value(std::move(outcome));
    });
    return promise->get_future();
  }
  std::future<absl::StatusOr<core::Outcome>> Charge(const core::Tenant& tenant,
                                                    const std::string& id,
                                                    const MechanismEvent& event) {
    return Submit(tenant, {.body = WaitingClient::MakeCharge(kSession, 1, id, event)});
  }

  const core::SessionName kSession{"b", "s"};
  std::unique_ptr<storage::GroupCommitLedger> ledger_;
  std::shared_ptr<ComputationPool> pool_;
  std::unique_ptr<PricingLedger> priced_;
};

TEST_F(PricingLedgerTest, NobodyWaitsForWhatAnotherTenantAsksFor) {
  Serve(absl::InfiniteDuration());
  std::atomic<bool> gone = false;
  core::Command dear{
      .body = core::ChargePreview{.session = kSession, .event = Dear(5'000), .count = 1}};
  dear.abandoned = [&gone] { return gone.load(); };
  auto preview = Submit(kHog, dear);
  dear.body = WaitingClient::MakeCharge(kSession, 1, "dear", Dear(5'001));
  auto charge = Submit(kHog, dear);
  for (int i = 0; i < 50; ++i) {
    const MechanismEvent event(accounting::Gaussian{.noise_multiplier = 10.0 + i});
    EXPECT_TRUE(Charge(kVictim, std::to_string(i), event).get().ok());
  }
  // Everything of the victim's was answered first, and what nobody wants any more ends.
  gone = true;
  EXPECT_EQ(preview.get().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(charge.get().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(WaitingClient(*ledger_, 0, kHog).Head("b").sequence, 3);
}

TEST_F(PricingLedgerTest, ChargesOfOneNewEventAreOneComputation) {
  Serve(PricingLedger::kMaxPricing, /*max_queued=*/2);
  const MechanismEvent event = Dear(10);
  std::vector<std::future<absl::StatusOr<core::Outcome>>> charges;
  for (int i = 0; i < 50; ++i) charges.push_back(Charge(kHog, std::to_string(i), event));
  for (auto& charge : charges) {
    const absl::StatusOr<core::Outcome> outcome = charge.get();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(std::get<core::ChargeOutcome>(*outcome).records[0].row.decision,
              core::ChargeDecision::kAccepted);
  }
}

// Nor for an event that another tenant asked for before, and that waits in its queue.
TEST_F(PricingLedgerTest, NobodyWaitsInTheQueueOfAnotherTenant) {
  std::atomic<bool> gone = false;
  const MechanismEvent guessed(accounting::Gaussian{.noise_multiplier = 7});
  std::vector<std::future<absl::StatusOr<core::Outcome>>> previews;
  for (int i = 0; i < 4; ++i) {
    core::Command preview{.body = core::ChargePreview{.session = kSession,
                                                      .event = i < 3 ? Dear(5'000 + i) : guessed,
                                                      .count = 1}};
    preview.abandoned = [&gone] { return gone.load(); };
    previews.push_back(Submit(kHog, std::move(preview)));
  }
  EXPECT_TRUE(Charge(kVictim, "a", guessed).get().ok());
  gone = true;
  for (auto& preview : previews) {
    EXPECT_EQ(preview.get().status().code(), absl::StatusCode::kCancelled);
  }
}

TEST_F(PricingLedgerTest, TheWorkOfOneChargeIsBounded) {
  Serve(absl::ZeroDuration());
  const absl::Status status = Charge(kHog, "a", Dear(3)).get().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, 6), "event:") << status;
  EXPECT_EQ(WaitingClient(*ledger_, 0, kHog).Head("b").sequence, 3);
}

// In units a price takes as long for each kind that the event is composed of: here minutes.
TEST_F(PricingLedgerTest, PricesInUnitsAreBoundedAndEndWhenNobodyWaits) {
  WaitingClient client(*ledger_, 0, kHog);
  core::BudgetSpec spec{
      .id = "units",
      .cap = core::ApproximateDpCap{
          .epsilon = 2, .delta = 1e-6, .filter = accounting::ApproximateDpFilter::kResidue}};
  spec.privacy_unit = "person";
  ASSERT_TRUE(client.Run(core::CreateBudget{std::move(spec)}).ok());
  client.CreateSession("units", "s");
  const core::SessionName session{"units", "s"};
  ASSERT_EQ(client.OpenAttempt(session), 1);
  const core::ChargePreview preview{.session = session, .event = DearInUnits(60), .count = 1};

  Serve(absl::ZeroDuration());
  EXPECT_EQ(Submit(kHog, {.body = preview}).get().status().code(),
            absl::StatusCode::kInvalidArgument);

  Serve(absl::InfiniteDuration());
  core::Command command{.body = preview};
  std::atomic<int> asked = 0;  // some thirty times for the reference, then for each kind
  command.abandoned = [&asked] { return ++asked > 60; };
  EXPECT_EQ(Submit(kHog, std::move(command)).get().status().code(), absl::StatusCode::kCancelled);
}

TEST_F(PricingLedgerTest, TimeInWhichItDoesNotComputeIsNotCounted) {
  Serve(absl::Seconds(2));
  core::Command command{
      .body = core::ChargePreview{.session = kSession, .event = Dear(10), .count = 1}};
  // A processor that is taken away for three seconds whenever the computation looks up.
  std::atomic<int> looks = 0;
  command.abandoned = [&looks] {
    if (++looks <= 3) absl::SleepFor(absl::Seconds(3));
    return false;
  };
  const auto outcome = Submit(kHog, std::move(command)).get();
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_GE(looks, 3);
}

TEST_F(PricingLedgerTest, AStopAnswersEverybody) {
  absl::Notification begun;
  absl::Notification release;
  ASSERT_TRUE(pool_
                  ->Submit(kHog,
                           [&] {
                             begun.Notify();
                             release.WaitForNotification();
                           })
                  .ok());
  begun.WaitForNotification();
  std::vector<std::future<absl::StatusOr<core::Outcome>>> charges;
  for (int i = 0; i < 5; ++i) charges.push_back(Charge(kHog, std::to_string(i), Dear(2)));
  release.Notify();
  priced_.reset();
  pool_.reset();
  for (auto& charge : charges) {
    const absl::Status status = charge.get().status();
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
  }
}

}  // namespace
}  // namespace epsledger::transport
