#include "accounting/guarantee.h"

namespace epsledger::accounting {

std::string_view Name(Accountant accountant) {
  switch (accountant) {
    case Accountant::kBasic:
      return "BASIC";
    case Accountant::kAdvanced:
      return "ADVANCED";
    case Accountant::kOptimal:
      return "OPTIMAL";
    case Accountant::kRenyi:
      return "RENYI";
    case Accountant::kMoments:
      return "MOMENTS";
    case Accountant::kMomentsHolder:
      return "MOMENTS_HOLDER";
    case Accountant::kMomentsAsPublished:
      return "MOMENTS_AS_PUBLISHED";
    case Accountant::kZcdp:
      return "ZCDP";
    case Accountant::kGaussian:
      return "GAUSSIAN";
    case Accountant::kClt:
      return "CLT";
    case Accountant::kPld:
      return "PLD";
    case Accountant::kTradeOff:
      return "TRADE_OFF";
    case Accountant::kBest:
      return "BEST";
  }
  return "UNKNOWN";
}

}  // namespace epsledger::accounting
