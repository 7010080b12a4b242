#include "accounting/event/history.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Integers up to this bound are exact as doubles, and so are products that stay below it.
constexpr double kLargestExactInteger = 9007199254740992.0;

double Times(double a, double b) {
  const double product = a * b;
  return product <= kLargestExactInteger ? product : RoundUp(product);
}

template <class Event>
concept HoldsAnEvent = requires(Event e) {
  e.event;
};
template <class Event>
concept IsSampledIndependently = requires(Event e) {
  e.sampling_probability;
};

// True if the event gives its answer without noise. A new kind of event does not, unless it is
// listed here or has a noise_multiplier.
template <class Event>
bool HasNoNoise(const Event& event) {
  if constexpr (std::is_same_v<Event, DiscreteGaussian>) {
    return event.sigma == 0;
  } else if constexpr (std::is_same_v<Event, RandomizedResponse>) {
    return event.noise_parameter == 0;
  } else if constexpr (requires { event.noise_multiplier; }) {
    return event.noise_multiplier == 0;
  } else {
    return std::is_same_v<Event, NonPrivate>;
  }
}

void Open(const MechanismEvent& event, double count, std::vector<Use>& uses) {
  if (ReleasesNothing(event)) return;
  if (const auto* composed = event.As<Composed>()) {
    for (const CountedEvent& part : composed->events) {
      Open(*part.event, Times(count, static_cast<double>(part.count)), uses);
    }
  } else if (const auto* repeated = event.As<SelfComposed>()) {
    Open(*repeated->event, Times(count, static_cast<double>(repeated->count)), uses);
  } else if (const auto* sampled = event.As<PoissonSampled>();
             sampled != nullptr && sampled->sampling_probability == 1) {
    Open(*sampled->event, count, uses);
  } else {
    uses.push_back(Use{.event = &event, .count = count});
  }
}

bool HoldsNonPrivate(const NestedEvent& event) {
  return event.has_value() && ContainsNonPrivate(*event);
}
bool HoldsNonPrivate(const std::vector<CountedEvent>& events) {
  for (const CountedEvent& e : events) {
    if (HoldsNonPrivate(e.event)) return true;
  }
  return false;
}
template <class T>
bool HoldsNonPrivate(const T&) {
  return false;  // a number or a text
}

}  // namespace

std::vector<Use> Flatten(const std::vector<CountedEvent>& events) {
  std::vector<Use> uses;
  uses.reserve(events.size());
  for (const CountedEvent& e : events) Open(*e.event, static_cast<double>(e.count), uses);
  return uses;
}

std::vector<Use> Flatten(const MechanismEvent& event) {
  std::vector<Use> uses;
  Open(event, 1, uses);
  return uses;
}

std::vector<Use> OpenBandedMatrixFactorizations(std::vector<Use> uses, const Setting& setting) {
  if (setting.relation == NeighboringRelation::kReplaceOne) return uses;
  for (Use& use : uses) {
    const auto* banded = use.event->As<BandedMatrixFactorization>();
    if (banded == nullptr) continue;
    const double q = banded->sampling_probability * static_cast<double>(banded->bands);
    if (!(q <= 1)) continue;
    const MechanismEvent release(Gaussian{banded->noise_multiplier});
    const double rounded = q == 1 ? 1 : std::min(1.0, RoundUp(q));
    use.count = Times(use.count, static_cast<double>((banded->iterations - 1) / banded->bands + 1));
    use.opened = rounded == 1 ? release : MechanismEvent(PoissonSampled{rounded, release});
    use.event = &*use.opened;
  }
  return uses;
}

std::vector<Use> OpenRandomAllocations(std::vector<Use> uses) {
  for (Use& use : uses) {
    const auto* allocation = use.event->As<RandomAllocation>();
    if (allocation == nullptr || allocation->selected == 1) continue;
    use.count = Times(use.count, static_cast<double>(allocation->selected));
    use.opened =
        MechanismEvent(RandomAllocation{.rounds = allocation->rounds / allocation->selected,
                                        .selected = 1,
                                        .event = allocation->event});
    use.event = &*use.opened;
  }
  return uses;
}

bool ReleasesNothing(const MechanismEvent& event) {
  return std::visit(
      [](const auto& kind) {
        using Event = std::decay_t<decltype(kind)>;
        if constexpr (IsSampledIndependently<Event>) {
          if (kind.sampling_probability == 0) return true;
        }
        if constexpr (HoldsAnEvent<Event>) {
          return ReleasesNothing(*kind.event);
        } else if constexpr (std::is_same_v<Event, Composed>) {
          return ReleasesNothing(kind.events);
        } else {
          return false;
        }
      },
      event.kind());
}

bool ReleasesNothing(const std::vector<CountedEvent>& events) {
  return std::all_of(events.begin(), events.end(),
                     [](const CountedEvent& part) { return ReleasesNothing(*part.event); });
}

bool ContainsNonPrivate(const MechanismEvent& event) {
  bool found = false;
  std::visit(
      [&](const auto& kind) {
        found = HasNoNoise(kind);
        std::decay_t<decltype(kind)>::Fields(
            kind, [&](const char*, const auto& field) { found = found || HoldsNonPrivate(field); });
      },
      event.kind());
  return found;
}

std::string KindName(const MechanismEvent& event) {
  return std::visit([](const auto& kind) { return JsonName(std::decay_t<decltype(kind)>::kName); },
                    event.kind());
}

absl::Status UnknownEvent(Accountant accountant, const MechanismEvent& event,
                          const std::string& reason) {
  return absl::UnimplementedError(absl::StrCat("the ", std::string(Name(accountant)),
                                               " accountant does not know ", KindName(event),
                                               " yet: ", reason));
}

}  // namespace epsledger::accounting
