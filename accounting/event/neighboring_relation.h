#ifndef EPSLEDGER_ACCOUNTING_EVENT_NEIGHBORING_RELATION_H_
#define EPSLEDGER_ACCOUNTING_EVENT_NEIGHBORING_RELATION_H_

#include <cstdint>
#include <string_view>

namespace epsledger::accounting {

// Defines which data sets count as neighbors. A guarantee means nothing without it.
// The numbers are stored in ledgers: never renumber.
enum class NeighboringRelation : uint8_t {
  // One privacy unit is added or removed.
  kAddOrRemoveOne = 1,
  // One privacy unit is replaced by another; the size stays.
  kReplaceOne = 2,
  // One privacy unit is replaced by a public "nothing" (zero-out). A contribution of norm C moves
  // a sum by at most C, as under add-or-remove-one; the size stays.
  kReplaceSpecial = 3,
};

// A direction of add-or-remove-one. "Remove" bounds D(M(with) || M(without)), "add" the reverse.
enum class Adjacency : uint8_t { kRemove = 1, kAdd = 2 };

// The sensitivity relative to which a noise multiplier is stated.
enum class SensitivityRelation : uint8_t {
  // Noise standard deviation / largest contribution of ONE record: replace-one shifts by up to 2.
  kContribution = 1,
  // Noise standard deviation / replace-one sensitivity itself: every relation shifts by 1.
  kReplaceOne = 2,
};

// Returns the name of the relation in the literature: "add-or-remove-one", "replace-one",
// "replace-special".
std::string_view Name(NeighboringRelation relation);

// Returns by how many noise-multiplier units one neighbor step can move the mean of an
// additive-noise release: 2 for replace-one with noise stated relative to one record's
// contribution, otherwise 1.
double MeanShift(NeighboringRelation relation, SensitivityRelation stated_against);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_NEIGHBORING_RELATION_H_
