#include "server/core/units.h"

#include <algorithm>

#include "accounting/numeric/rounding.h"

namespace epsledger::core {

std::optional<size_t> UnitsCellOf(const CellFilter& filter) {
  for (size_t i = 0; i + 1 < filter.cells.size(); ++i) {
    if (filter.cells[i].quantity == accounting::CellQuantity::kUnits &&
        filter.cells[i + 1].quantity == accounting::CellQuantity::kReserve) {
      return i;
    }
  }
  return std::nullopt;
}

const ProvedUnitPrice* UnitPrices::Best(int64_t count, int64_t left) const {
  const ProvedUnitPrice* best = nullptr;
  for (const ProvedUnitPrice& price : prices_) {
    if (price.count != count || price.level > left || price.units > left) continue;
    if (best == nullptr || price.units < best->units) best = &price;
  }
  return best;
}

UnitPrices::Singles UnitPrices::PaySingles(int64_t count, int64_t left) const {
  Singles singles{.count = 0, .paid = {}, .left = left};
  while (singles.count < count) {
    const ProvedUnitPrice* price = Best(1, singles.left);
    if (price == nullptr) break;
    // The price holds down to its level, and no cheaper price applies on the way down.
    const int64_t above = singles.left - std::max(price->level, price->units);
    const int64_t uses = std::min(count - singles.count, above / price->units + 1);
    singles.count += uses;
    singles.left -= uses * price->units;
    singles.paid.units += uses * price->units;
    if (price->reserve > 0) {
      singles.paid.reserve = accounting::RoundUp(
          singles.paid.reserve + accounting::RoundUp(static_cast<double>(uses) * price->reserve));
    }
  }
  return singles;
}

std::optional<UnitPrices::Charge> UnitPrices::Of(int64_t count, int64_t left) const {
  std::optional<Charge> cheapest;
  if (const Singles singles = PaySingles(count, left); singles.count == count) {
    cheapest = singles.paid;
  }
  if (count == 1) return cheapest;
  if (const ProvedUnitPrice* block = Best(count, left);
      block != nullptr && (!cheapest.has_value() || block->units < cheapest->units)) {
    cheapest = Charge{block->units, block->reserve};
  }
  return cheapest;
}

int64_t UnitPrices::Asked(int64_t count) const {
  int64_t asked = 0;
  for (const ProvedUnitPrice& price : prices_) {
    if (price.count != count && price.count != 1) continue;
    const bool single = price.count == 1;
    if (single && count > INT64_MAX / price.units) continue;
    const int64_t units = single ? count * price.units : price.units;
    if (asked == 0 || units < asked) asked = units;
  }
  return asked;
}

int64_t UnitPrices::HowMany(int64_t left, int64_t limit) const {
  return PaySingles(limit, left).count;
}

bool UnitPrices::Knows(int64_t count, int64_t units, int64_t left) const {
  if (left < 1) return true;
  const int64_t level = accounting::LevelAtMost(units, left);
  return std::any_of(prices_.begin(), prices_.end(), [&](const ProvedUnitPrice& price) {
    // One unit is the lowest possible price.
    return price.count == count && price.level <= left &&
           (price.level >= level || price.units == 1);
  });
}

}  // namespace epsledger::core
