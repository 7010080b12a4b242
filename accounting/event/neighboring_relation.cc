#include "accounting/event/neighboring_relation.h"

namespace epsledger::accounting {

std::string_view Name(NeighboringRelation relation) {
  switch (relation) {
    case NeighboringRelation::kAddOrRemoveOne:
      return "add-or-remove-one";
    case NeighboringRelation::kReplaceOne:
      return "replace-one";
    case NeighboringRelation::kReplaceSpecial:
      return "replace-special";
  }
  return "unknown relation";
}

double MeanShift(NeighboringRelation relation, SensitivityRelation stated_against) {
  const bool doubled = relation == NeighboringRelation::kReplaceOne &&
                       stated_against == SensitivityRelation::kContribution;
  return doubled ? 2.0 : 1.0;
}

}  // namespace epsledger::accounting
