#ifndef EPSLEDGER_SERVER_CORE_LIMITS_H_
#define EPSLEDGER_SERVER_CORE_LIMITS_H_

// All bounds of the ledger, with their reasons.

#include <cstdint>

namespace epsledger::core {

// Enough for an organization, a data set, a block and a project. A charge touches every level.
inline constexpr int kMaxBudgetDepth = 8;
// A session keeps each distinct event and its costs in memory: about 1 kB each.
inline constexpr int64_t kMaxDistinctEvents = 100'000;
// The total size of the canonical encodings of those events, which use about ten times as much
// memory.
inline constexpr int64_t kMaxEventBytes = 16 << 20;
// The text that is kept of an event whose charge was refused: one line for people.
inline constexpr size_t kMaxEventWordsBytes = 200;
// Distinct events of one plan. They are composed when the session is created.
inline constexpr int64_t kMaxPlanEvents = 10'000;
// Prices in units of one event under one cap: about forty levels for each of some block sizes.
// Above this bound, blocks of other sizes are charged as single uses.
inline constexpr size_t kMaxUnitPrices = 2'048;
// Units of a cap. If there were more, each would cost almost nothing.
inline constexpr int64_t kMaxUnits = int64_t{1} << 40;
// Points of the curve that a cap in units promises. Each costs a composition when the cap is
// created.
inline constexpr int64_t kMaxGuaranteePoints = 12;
// Refusals that a budget remembers: one or two pages for people, 16 kB.
inline constexpr size_t kMaxRecentRefusals = 1'000;
// Days of which a budget remembers what was spent at their end: a year and a month, 7 kB.
inline constexpr size_t kMaxSpendDays = 400;
// Lost entries that are recorded in one quarantine. A further one may begin a new quarantine later.
inline constexpr int64_t kMaxLostEntries = 1'000;
// Items that one transaction can hold.
inline constexpr int64_t kMaxBatchItems = 1'000;
// Entries that one answer can hold.
inline constexpr int64_t kMaxPageSize = 1'000;
// Bytes of entry contents that are read between two commits, which takes milliseconds. A single
// entry may be longer.
inline constexpr int64_t kMaxListedBytes = 128 << 10;
// Ids are parts of resource names and of keys on disk.
inline constexpr int64_t kMaxIdBytes = 63;
inline constexpr int64_t kMaxChargeIdBytes = 64;
inline constexpr int64_t kMaxPrivacyUnitBytes = 128;
inline constexpr int64_t kMaxDisplayNameBytes = 256;
inline constexpr int64_t kMaxReasonBytes = 256;
// Proposals of one budget: pending ones of all proposers, pending ones of one proposer, and kept
// ones that are no longer pending. The specification of a budget has at most 20 KB.
inline constexpr int64_t kMaxPendingProposals = 100;
inline constexpr int64_t kMaxPendingProposalsOfOne = 20;
inline constexpr size_t kMaxResolvedProposals = 100;
// The longest life of a proposal.
inline constexpr int64_t kMaxProposalLifeMicros = int64_t{90} * 24 * 60 * 60 * 1'000'000;
// Makers of a token that are traced. A token with more makers cannot approve anything.
inline constexpr size_t kMaxMakers = 32;
inline constexpr int64_t kMaxLibraryBytes = 64;
inline constexpr int64_t kMaxLabels = 64;
inline constexpr int64_t kMaxLabelKeyBytes = 63;
inline constexpr int64_t kMaxLabelValueBytes = 256;
inline constexpr int64_t kMaxAlertThresholds = 16;
// Each point of a cap costs one composition of the plan.
inline constexpr int64_t kMaxCurvePoints = 100;
// Open leases of one session. Each is kept in memory until it is settled.
inline constexpr int64_t kMaxOpenLeases = 10'000;
// Tokens of one tenant that are neither revoked nor expired. Each is kept in memory, and copied
// when one changes.
inline constexpr int64_t kMaxLivingTokens = 10'000;
// Logins (browsers) of one token that are kept. A further login ends the oldest.
inline constexpr size_t kMaxLogins = 20;
// Grants of one token, and the bytes of their names: 40 MB per tenant with kMaxLivingTokens.
inline constexpr size_t kMaxGrants = 32;
inline constexpr size_t kMaxGrantBytes = 4'096;
// Ended tokens of one tenant that are still known. The entries of older ones stay in the ledger.
// Ledgers of release 0.1, which kept every token, have at most this many tokens in total.
inline constexpr size_t kMaxEndedTokens = 10'000;
// Audits of one session that are kept in memory and shown. One per training run would be diligent.
inline constexpr int64_t kMaxShownAudits = 100;
// Bytes of one annotation: a paragraph or two of an official form.
inline constexpr int64_t kMaxAnnotationBytes = 2'048;
// Sign-offs of one budget or session that are kept in memory and shown.
inline constexpr size_t kMaxShownSignOffs = 100;
inline constexpr int64_t kMaxSignerBytes = 128;
// Trials of an audit: exact as a double.
inline constexpr int64_t kMaxAuditTrials = int64_t{1} << 53;
// Unlimited steps are reported as this number: exact as a double.
inline constexpr int64_t kMaxStepsReported = int64_t{1} << 53;

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_LIMITS_H_
