#include "accounting/filter/residue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "accounting/filter/event_profiles.h"
#include "accounting/filter/pair_spectrum.h"
#include "accounting/numeric/rounding.h"
#include "accounting/pld/fft.h"

namespace epsledger::accounting {
namespace {

// Returns the largest, over j = 0, 1, ..., half - 1, of at_infinity + the sum over i > j of
// masses[i] (1 - e^{(j - i) interval}), for the masses of a signed measure on the circle.
double LargestExcess(const std::vector<std::complex<double>>& measure, size_t law, double interval,
                     int64_t size, double scale, long double at_infinity) {
  const long double decay = std::exp(-static_cast<long double>(interval));
  const long double one_minus_decay = -std::expm1(-static_cast<long double>(interval));
  long double above = 0;
  long double discounted = 0;
  long double largest = at_infinity;
  for (int64_t j = size / 2 - 1; j >= 0; --j) {
    largest = std::max(largest, above + at_infinity);
    // CharacteristicFunction has the sign +; reading its output backwards gives the inverse.
    const std::complex<double>& z = measure[(size - j) % size];
    const long double mass = static_cast<long double>(law == 0 ? z.real() : z.imag()) * scale;
    discounted = mass + decay * discounted;
    above += one_minus_decay * discounted;
  }
  return static_cast<double>(largest);
}

absl::Status NobodyWaitsForThePrice() {
  return absl::CancelledError("nobody waits for the price any more");
}

}  // namespace

// An event on the reference's lattice: each of its uses as a pair.
struct PreparedEvent {
  struct Part {
    LossPair pair;
    int64_t count = 0;  // in one use of the event
    TailMoments moments;
  };
  std::vector<Part> parts;
  double infinity_mass = 0;  // of one use, either order
  double spread = 0;         // of one use: the second moment of its loss, a first guess at its cost
  size_t masses = 0;         // of all pairs
};

// The characteristic functions of a number of uses of an event.
struct ResiduePricer::PowersOfEvent {
  std::vector<std::array<ExtendedComplex, 2>> at;  // [frequency][law]
  std::vector<std::array<double, 2>> error;        // of each entry of `at`
};

class ResiduePricer::Chain {
 public:
  explicit Chain(Reference reference)
      : reference_(std::move(reference)),
        directions_(DirectionsOf(reference_.pair)),
        moments_(TailMomentsOf(directions_, reference_.pair.interval)),
        per_unit_(reference_.slack / static_cast<double>(reference_.units)),
        size_(SizeFor()),
        transform_(size_),
        extended_(size_),
        spectrum_(SpectrumOf(directions_, extended_)),
        spread_(SpreadOf(directions_)) {}

  absl::StatusOr<std::shared_ptr<const PreparedEvent>> Prepare(
      const MechanismEvent& event, NeighboringRelation relation,
      absl::FunctionRef<bool()> abandoned) const {
    if (ContainsNonPrivate(event)) {
      return absl::UnimplementedError("a release without privacy has no finite price");
    }
    const std::vector<Use> uses = UsesOf(event, relation);
    if (uses.empty()) return absl::UnimplementedError("an event without uses");
    if (uses.size() > kMaxParts) {
      return absl::ResourceExhaustedError("an event of more than 64 different parts");
    }
    auto priced = std::make_shared<PreparedEvent>();
    for (const Use& use : uses) {
      if (abandoned()) return NobodyWaitsForThePrice();
      if (!(use.count >= 1 && use.count < 0x1p40)) {
        return absl::ResourceExhaustedError("an event of more than 2^40 uses");
      }
      ASSIGN_OR_RETURN(DirectedProfiles profiles, ProfilesOfUse(use, relation));
      const double log_tail =
          std::log(reference_.slack) + std::log(kTailShare) - std::log(use.count);
      ASSIGN_OR_RETURN(LossPair pair,
                       DominatingLossPair(profiles, reference_.pair.interval, log_tail,
                                          static_cast<int64_t>(kLargestTransform)));
      const std::array<Direction, 2> directions = DirectionsOf(pair);
      const double infinity = std::max(InfinityMassOfP(pair), InfinityMassOfQ(pair));
      priced->infinity_mass = RoundUp(priced->infinity_mass + use.count * infinity, 2);
      priced->spread += use.count * SpreadOf(directions);
      priced->masses += pair.masses.size();
      priced->parts.push_back({.pair = std::move(pair),
                               .count = static_cast<int64_t>(use.count),
                               .moments = TailMomentsOf(directions, reference_.pair.interval)});
    }
    return priced;
  }

  absl::StatusOr<UnitPrice> PriceOf(const PreparedEvent& event, int64_t count, int64_t level,
                                    absl::FunctionRef<bool()> abandoned) const {
    UnitPrice price;
    // An infinite loss with a larger probability than the slack of a few units is paid from the
    // reserve.
    const double infinite = RoundUp(event.infinity_mass * static_cast<double>(count), 1);
    if (infinite > per_unit_) price.reserve = infinite;
    if (price.reserve > reference_.reserve) {
      return absl::FailedPreconditionError(
          absl::StrFormat("its delta %g is more than the %g that the cap keeps for such events",
                          price.reserve, reference_.reserve));
    }
    ASSIGN_OR_RETURN(const PowersOfEvent uses, PowersOf(event, count, abandoned));
    // Once abandoned, the search ends soon, at a place without meaning.
    bool is_abandoned = false;
    const auto fails = [&](int64_t units) {
      is_abandoned = is_abandoned || abandoned();
      return !is_abandoned && !Holds(event, uses, count, level, UnitPrice{units, price.reserve});
    };
    const double guess = static_cast<double>(count) * event.spread / spread_;
    const int64_t near =
        guess < static_cast<double>(level) ? std::max<int64_t>(1, std::llround(guess)) : level;
    const int64_t too_few = LargestThat(level, near, fails);
    if (is_abandoned) return NobodyWaitsForThePrice();
    if (too_few >= level) {
      return absl::FailedPreconditionError(
          absl::StrFormat("it costs more than the %d units that are left", level));
    }
    price.units = too_few + 1;
    return price;
  }

  bool Holds(const PreparedEvent& event, int64_t count, int64_t level,
             const UnitPrice& price) const {
    const absl::StatusOr<PowersOfEvent> uses = PowersOf(event, count, NeverAbandoned);
    return uses.ok() && Holds(event, *uses, count, level, price);
  }

 private:
  static constexpr size_t kMaxParts = 64;
  size_t SizeFor() const {
    const CountedMoments uses = {{&moments_, static_cast<double>(reference_.units)}};
    size_t size = kSmallestTransform;
    while (size < kLargestTransform) {
      const double window = reference_.pair.interval * static_cast<double>(size / 2 - 1);
      const double beyond = std::max(MassBeyond(uses, 0, window), MassBeyond(uses, 1, window));
      if (beyond <= per_unit_ / 64) break;
      size *= 2;
    }
    return size;
  }

  double SpreadOf(const std::array<Direction, 2>& directions) const {
    long double sum = 1e-30L;
    for (size_t i = 0; i < directions[1].masses.size(); ++i) {
      const long double loss = (directions[1].first + static_cast<int64_t>(i)) *
                               static_cast<long double>(reference_.pair.interval);
      sum += directions[1].masses[i] * loss * loss;
    }
    return static_cast<double>(sum);
  }

  // Returns the event's characteristic functions to the power of `count`. Works on one part at a
  // time and frees its memory before the next.
  absl::StatusOr<PowersOfEvent> PowersOf(const PreparedEvent& event, int64_t count,
                                         absl::FunctionRef<bool()> abandoned) const {
    const size_t half = size_ / 2;
    PowersOfEvent powers{.at = std::vector<std::array<ExtendedComplex, 2>>(
                             half + 1, {ExtendedComplex(1, 0), ExtendedComplex(1, 0)}),
                         .error = std::vector<std::array<double, 2>>(half + 1)};
    for (const auto& part : event.parts) {
      if (abandoned()) return NobodyWaitsForThePrice();
      const Spectrum spectrum = SpectrumOf(DirectionsOf(part.pair), extended_);
      for (size_t k = 0; k <= half; ++k) {
        for (size_t law = 0; law < 2; ++law) {
          const ExtendedComplex base = spectrum.at[law][k];
          powers.at[k][law] = Product(powers.at[k][law], Power(base, part.count * count));
          // The other factors are at most 1 in magnitude.
          powers.error[k][law] += PowerError(Magnitude(base), spectrum.error, part.count * count);
        }
      }
    }
    const double products =
        static_cast<double>(event.parts.size()) * static_cast<double>(kExtendedProductError);
    for (std::array<double, 2>& error : powers.error) {
      for (double& of_law : error) of_law = 1.01 * of_law + products;
    }
    return powers;
  }

  bool Holds(const PreparedEvent& event, const PowersOfEvent& uses, int64_t count, int64_t level,
             const UnitPrice& price) const {
    const int64_t rest = level - price.units;
    if (rest < 0) return false;
    const auto size = static_cast<int64_t>(size_);
    const int64_t half = size / 2;
    std::vector<std::complex<double>> z(size_);
    std::array<double, 2> squares{};
    std::array<double, 2> error_squares{};
    std::array<long double, 2> at_zero{};
    for (int64_t k = 0; k <= half; ++k) {
      const double weight = k == 0 || k == half ? 1 : 2;
      std::array<std::complex<double>, 2> value{};
      for (size_t law = 0; law < 2; ++law) {
        const ExtendedComplex base = spectrum_.at[law][k];
        const double magnitude = Magnitude(base);
        if (rest > 0 && static_cast<double>(rest) * std::log(magnitude + spectrum_.error) < -90) {
          error_squares[law] += weight * 1e-74;  // the whole term is at most 2 e^-90
          continue;
        }
        const ExtendedComplex chain = Power(base, rest);
        const ExtendedComplex block = Power(base, price.units);
        const ExtendedComplex difference = uses.at[k][law] - block;
        const ExtendedComplex x = Product(chain, difference);
        const double chain_error = PowerError(magnitude, spectrum_.error, rest);
        const double difference_error =
            uses.error[k][law] + PowerError(magnitude, spectrum_.error, price.units) +
            static_cast<double>(kExtendedUnit) * (Magnitude(uses.at[k][law]) + Magnitude(block));
        const double error = chain_error * Magnitude(difference) +
                             (Magnitude(chain) + chain_error) * difference_error;
        error_squares[law] += weight * error * error;
        value[law] = {static_cast<double>(x.real()), static_cast<double>(x.imag())};
        squares[law] += weight * std::norm(value[law]);
        if (k == 0) at_zero[law] = x.real();
      }
      const std::complex<double> i(0, 1);
      z[k] = value[0] + i * value[1];
      if (k > 0 && k < half) z[size - k] = std::conj(value[0]) + i * std::conj(value[1]);
    }
    const std::vector<std::complex<double>> measure = transform_.CharacteristicFunction(z);
    const double window = reference_.pair.interval * static_cast<double>(half - 1);
    CountedMoments chain = {{&moments_, static_cast<double>(level)}};
    CountedMoments replaced = {{&moments_, static_cast<double>(rest)}};
    for (const auto& part : event.parts) {
      replaced.push_back({&part.moments, static_cast<double>(part.count * count)});
    }
    const double allowed =
        RoundDown(static_cast<double>(price.units) * per_unit_ + price.reserve, 3);
    // One transform computes both inverses: each result is off by the error of both.
    const double inverse =
        (transform_.RelativeError() * 1.1 + 0x1p-50) * std::sqrt(squares[0] + squares[1]);
    for (size_t law = 0; law < 2; ++law) {
      const double beyond = MassBeyond(chain, law, window) + MassBeyond(replaced, law, window);
      const double lost = 1.5 * (inverse + std::sqrt(error_squares[law]) + beyond);
      // The total of the difference is the difference of the masses at infinity.
      const double excess = LargestExcess(measure, law, reference_.pair.interval, size,
                                          1.0 / static_cast<double>(size), -at_zero[law]);
      if (!(excess + lost <= allowed)) return false;
    }
    return true;
  }

  const Reference reference_;
  const std::array<Direction, 2> directions_;
  const TailMoments moments_;
  const double per_unit_;
  const size_t size_;
  const FourierTransform transform_;
  const ExtendedFourierTransform extended_;
  const Spectrum spectrum_;
  const double spread_;
};

ResiduePricer::ResiduePricer(Reference reference)
    : chain_(std::make_unique<Chain>(std::move(reference))) {}
ResiduePricer::~ResiduePricer() = default;
ResiduePricer::ResiduePricer(ResiduePricer&&) noexcept = default;
ResiduePricer& ResiduePricer::operator=(ResiduePricer&&) noexcept = default;

absl::StatusOr<std::shared_ptr<const PreparedEvent>> ResiduePricer::Prepare(
    const MechanismEvent& event, NeighboringRelation relation,
    absl::FunctionRef<bool()> abandoned) const {
  return chain_->Prepare(event, relation, abandoned);
}

absl::StatusOr<UnitPrice> ResiduePricer::PriceOf(const PreparedEvent& event, int64_t count,
                                                 int64_t level,
                                                 absl::FunctionRef<bool()> abandoned) const {
  return chain_->PriceOf(event, count, level, abandoned);
}

bool ResiduePricer::IsProved(const PreparedEvent& event, int64_t count, int64_t level,
                             const UnitPrice& price) const {
  return price.units >= 1 && chain_->Holds(event, count, level, price);
}

size_t MassesOf(const PreparedEvent& event) { return event.masses; }

bool CostsOneUnit(const MechanismEvent& event, const MechanismEvent& reference,
                  NeighboringRelation relation) {
  if (event == reference) return true;
  if (relation == NeighboringRelation::kReplaceOne) return false;
  const auto* of = event.As<PoissonSampled>();
  const auto* under = reference.As<PoissonSampled>();
  if (of == nullptr || under == nullptr) return false;
  const auto* noise = of->event->As<Gaussian>();
  const auto* reference_noise = under->event->As<Gaussian>();
  return noise != nullptr && reference_noise != nullptr &&
         of->sampling_probability <= under->sampling_probability &&
         noise->noise_multiplier >= reference_noise->noise_multiplier;
}

int64_t LevelAtMost(int64_t units, int64_t left) {
  int64_t level = units;
  while (level > left) level -= std::max<int64_t>(1, level / 40);
  return level;
}

}  // namespace epsledger::accounting
