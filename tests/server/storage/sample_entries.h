#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_SAMPLE_ENTRIES_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_SAMPLE_ENTRIES_H_

#include <string>
#include <utility>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "gtest/gtest.h"
#include "server/core/command.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::storage {

// The cap and the size of the charges of MakeEntries.
inline constexpr double kSampleCap = 1 << 20;
inline constexpr double kSampleCharge = 1.0 / 128;

// Returns entries of a budget with a session and `charges` charges, and with a child if one is
// named. A real ledger makes them.
inline std::vector<core::Entry> MakeEntries(const std::string& budget_id, int charges,
                                            const std::string& child_id = "") {
  core::LedgerHarness ledger;
  const auto run = [&](auto body) {
    const absl::StatusOr<core::Outcome> outcome =
        ledger.Run(core::Command{.time_micros = 1, .body = std::move(body)});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
  };
  const core::SessionName session{.budget_id = budget_id, .session_id = "run"};
  run(core::CreateBudget{
      {.id = budget_id, .cap = core::PureEpsilonCap{kSampleCap}, .privacy_unit = "person"}});
  if (!child_id.empty()) {
    run(core::CreateBudget{{.id = child_id,
                            .parent_id = budget_id,
                            .cap = core::PureEpsilonCap{1},
                            .privacy_unit = "person"}});
  }
  run(core::CreateSession{{.budget_id = budget_id, .id = "run"}});
  run(core::OpenAttempt{session, ""});
  for (int i = 0; i < charges; ++i) {
    run(core::Charge{
        .session = session,
        .attempt = 1,
        .items = {{"step-" + std::to_string(i), accounting::PureDp{kSampleCharge}, 1}}});
  }
  return std::move(ledger.entries);
}

}  // namespace epsledger::storage

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_SAMPLE_ENTRIES_H_
