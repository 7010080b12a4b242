#ifndef EPSLEDGER_ACCOUNTING_EVENT_HISTORY_H_
#define EPSLEDGER_ACCOUNTING_EVENT_HISTORY_H_

// A history as the accountants read it: elementary events with the count of each.

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/guarantee.h"

namespace epsledger::accounting {

// The setting of a history's guarantee.
struct Setting {
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;
  // One direction of add-or-remove-one; unset takes the worse of both.
  std::optional<Adjacency> adjacency;
  SensitivityRelation sensitivity_relation = SensitivityRelation::kContribution;

  // By how many noise-multiplier units a neighbor moves a mean: 1 or 2.
  double shift() const { return MeanShift(relation, sensitivity_relation); }
};

// `count` uses of an event that is neither composed, selfComposed nor a sampling with
// probability 1.
struct Use {
  const MechanismEvent* event = nullptr;  // borrowed from the history
  double count = 0;                       // exact up to 2^53, rounded up beyond
  NestedEvent opened = {};                // keeps `event` alive where it is not part of the history
};

// Opens composed, selfComposed and poissonSampled with probability 1 (every record is in the
// sample, so sampling changes nothing), and leaves out events that release nothing. REQUIRES: every
// event is valid. The result borrows from `events`.
std::vector<Use> Flatten(const std::vector<CountedEvent>& events);
std::vector<Use> Flatten(const MechanismEvent& event);

// Replaces every bandedMatrixFactorization{z, b, n, q} that is a use of its own by ceil(n / b) uses
// of poissonSampled{q b, gaussian{z}} ([CGMMRTX23]: a part of the records takes part every b
// iterations, each record with probability q b), or of the gaussian where q b = 1. Valid for one
// privacy unit that is added, removed or zeroed; under replace-one, and where q b > 1, nothing is
// replaced. Not valid for groups, whose members may be in different parts.
std::vector<Use> OpenBandedMatrixFactorizations(std::vector<Use> uses, const Setting& setting);

// Replaces every randomAllocation of k > 1 of t rounds that is a use of its own by k times as many
// uses of one of floor(t / k) rounds: first the rounds are split at random into k blocks of that
// size, and the rest is not used; one round of each block is then a uniform choice of k ([FS25]
// Lemma 3.2). Valid for one privacy unit.
std::vector<Use> OpenRandomAllocations(std::vector<Use> uses);

// True if the event releases nothing: a sampling with probability 0, a composition without parts,
// or any event around nothing but such ones.
bool ReleasesNothing(const MechanismEvent& event);
// True if all of them do.
bool ReleasesNothing(const std::vector<CountedEvent>& events);

// True if the event is, or contains at any depth, a release without privacy: nonPrivate, or one
// whose noise is 0; also inside a sampling with probability 0.
bool ContainsNonPrivate(const MechanismEvent& event);

// Returns the proto3 JSON name of the event's kind: "poissonSampled".
std::string KindName(const MechanismEvent& event);

// UNIMPLEMENTED "the RENYI accountant does not know tradeOffCurve yet: <reason>".
absl::Status UnknownEvent(Accountant accountant, const MechanismEvent& event,
                          const std::string& reason);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_HISTORY_H_
