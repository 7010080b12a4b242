#ifndef EPSLEDGER_SERVER_CORE_LIMITS_H_
#define EPSLEDGER_SERVER_CORE_LIMITS_H_

// Every bound of the ledger, with its reason.

#include <cstdint>

namespace epsledger::core {

// An organisation, a data set, a block and a project fit; a charge touches every level.
inline constexpr int kMaxBudgetDepth = 8;
// A session keeps each distinct event and its costs in memory: about 1 kB each.
inline constexpr int64_t kMaxDistinctEvents = 100'000;
// The canonical encodings of those events together: about ten times as much in memory.
inline constexpr int64_t kMaxEventBytes = 16 << 20;
// What is kept of an event whose charge was refused: a line for people.
inline constexpr size_t kMaxEventWordsBytes = 200;
// Distinct events of one plan: they are composed when the session is created.
inline constexpr int64_t kMaxPlanEvents = 10'000;
// Prices in units of one event under one cap: some forty levels of some blocks. Beyond, blocks of
// other sizes are charged as single uses.
inline constexpr size_t kMaxUnitPrices = 2'048;
// The units of a cap: more of them cost next to nothing each.
inline constexpr int64_t kMaxUnits = int64_t{1} << 40;
// Points of the curve that a cap in units promises: each costs a composition when it is made.
inline constexpr int64_t kMaxGuaranteePoints = 12;
// The refusals that a budget remembers: a page or two for people, 16 kB.
inline constexpr size_t kMaxRecentRefusals = 1'000;
// Entries that are recorded of one quarantine. A further one may begin it again.
inline constexpr int64_t kMaxLostEntries = 1'000;
// One transaction's worth.
inline constexpr int64_t kMaxBatchItems = 1'000;
// An answer's worth of entries.
inline constexpr int64_t kMaxPageSize = 1'000;
// The contents of entries that are read between two commits: milliseconds. An entry may be longer
// by itself.
inline constexpr int64_t kMaxListedBytes = 128 << 10;
// Ids are parts of resource names and of keys on disk.
inline constexpr int64_t kMaxIdBytes = 63;
inline constexpr int64_t kMaxChargeIdBytes = 64;
inline constexpr int64_t kMaxPrivacyUnitBytes = 128;
inline constexpr int64_t kMaxDisplayNameBytes = 256;
inline constexpr int64_t kMaxReasonBytes = 256;
// Proposals of one budget that are pending, of all and of one proposer, and that are kept when they
// no longer are. A budget's specification has 20 KB at most.
inline constexpr int64_t kMaxPendingProposals = 100;
inline constexpr int64_t kMaxPendingProposalsOfOne = 20;
inline constexpr size_t kMaxResolvedProposals = 100;
// A proposal waits so long at most.
inline constexpr int64_t kMaxProposalLifeMicros = int64_t{90} * 24 * 60 * 60 * 1'000'000;
// Makers of a token that are followed up. A token with more of them approves nothing.
inline constexpr size_t kMaxMakers = 32;
inline constexpr int64_t kMaxLibraryBytes = 64;
inline constexpr int64_t kMaxLabels = 64;
inline constexpr int64_t kMaxLabelKeyBytes = 63;
inline constexpr int64_t kMaxLabelValueBytes = 256;
inline constexpr int64_t kMaxAlertThresholds = 16;
// Every point of a cap costs one composition of the plan.
inline constexpr int64_t kMaxCurvePoints = 100;
// Open leases of one session: each is kept in memory until it is settled.
inline constexpr int64_t kMaxOpenLeases = 10'000;
// Tokens of one tenant that are neither revoked nor expired: each is kept in memory, and copied
// when one changes.
inline constexpr int64_t kMaxLivingTokens = 10'000;
// Logins of one token that are kept: browsers. A further one ends the oldest.
inline constexpr size_t kMaxLogins = 20;
// Grants of one token, and the bytes of the names in them: with kMaxLivingTokens 40 MB of a tenant.
inline constexpr size_t kMaxGrants = 32;
inline constexpr size_t kMaxGrantBytes = 4'096;
// Tokens of one tenant that have ended and are still known. The entries of older ones stay. Ledgers
// of release 0.1, which kept every token, have at most as many in all.
inline constexpr size_t kMaxEndedTokens = 10'000;
// Audits of one session that are kept in memory and shown: one a training run would be diligent.
inline constexpr int64_t kMaxShownAudits = 100;
// What an audit may count: exact as a double.
inline constexpr int64_t kMaxAuditTrials = int64_t{1} << 53;
// "Fits without end" is reported as this: exact as a double.
inline constexpr int64_t kMaxStepsReported = int64_t{1} << 53;

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_LIMITS_H_
