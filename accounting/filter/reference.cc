// Computes how many units fit into a cap.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "accounting/filter/event_profiles.h"
#include "accounting/filter/filter.h"
#include "accounting/filter/pair_spectrum.h"
#include "accounting/filter/residue.h"
#include "accounting/numeric/rounding.h"
#include "accounting/pld/fft.h"

namespace epsledger::accounting {
namespace {

// The shares of delta that are kept for rounding and for events with a delta of their own.
constexpr double kSlackShare = 0.02;
constexpr double kReserveShare = 0.005;

constexpr int64_t kMaxPairPoints = int64_t{1} << 15;
// Beyond this a finer lattice of the reference makes every price too slow.
constexpr size_t kLargestReferenceTransform = size_t{1} << 17;
constexpr double kWorthRefining = 1.003;
constexpr int64_t kMaxUnits = int64_t{1} << 40;
// A search for the least epsilon ends here.
constexpr double kSmallestEpsilon = 1e-10;
// The limit of transformed points in the search for the units of a cap: some 5 s of work; an
// ordinary reference takes a tenth.
constexpr int64_t kMostPoints = int64_t{1} << 26;

// Upper bounds on H(e^epsilon) of many uses of one direction of a pair.
class TiltedDelta {
 public:
  TiltedDelta(const Direction& direction, double infinity_mass, double interval, size_t size)
      : direction_(direction),
        infinity_mass_(infinity_mass),
        interval_(interval),
        extended_(size),
        transform_(size) {}

  // Chooses the tilt for this many uses; bounds hold for any other number. The saddle point is best
  // where the tilted law has one hump; a weaker tilt is best where it has a second hump far out.
  void Aim(int64_t uses, double epsilon) {
    double best = std::numeric_limits<double>::infinity();
    double best_tilt = 0;
    for (const double tilt : {0.0, 2.0, 5.0, SaddleOf(static_cast<double>(uses), epsilon)}) {
      Tilt(tilt);
      const double upper = Upper(uses, epsilon);
      if (upper >= 0.9999 * best) continue;  // a strong tilt does not reach far
      best = upper;
      best_tilt = tilt;
    }
    if (best_tilt != tilt_) Tilt(best_tilt);
  }

  double Upper(int64_t uses, double epsilon) const { return Upper(LawOf(uses), epsilon); }

  // Returns an epsilon a little above the least one in [0, high] with Upper(uses, epsilon) <= delta
  // under any of the tilts; `high` itself where none is found. A tilt that is best at `high` may
  // reach no further down.
  double LeastEpsilon(int64_t uses, double delta, double high) {
    for (const double tilt : {0.0, 2.0, 5.0, SaddleOf(static_cast<double>(uses), high)}) {
      Tilt(tilt);
      const Law law = LawOf(uses);
      if (!(Upper(law, 0.999 * high) <= delta)) continue;
      double low = 0;
      while (high - low > 1e-5 * high && high > kSmallestEpsilon) {
        const double middle = 0.5 * (low + high);
        (Upper(law, middle) <= delta ? high : low) = middle;
      }
    }
    return high;
  }

  // The tilted law of the sum of `uses` losses, which gives bounds at any epsilon.
  struct Law {
    int64_t uses = 0;
    std::vector<std::complex<double>> masses;
    // The possible error of a bound, in units of e^{uses K - tilt loss}, largest where its sum
    // begins.
    double lost = 0;
  };
  Law LawOf(int64_t uses) const {
    const auto size = static_cast<int64_t>(transform_.size());
    const auto half = size / 2;
    std::vector<std::complex<double>> z(transform_.size());
    double squares = 0;
    double error_squares = 0;
    for (int64_t k = 0; k <= half; ++k) {
      const ExtendedComplex base = spectrum_.at[0][k];
      const double magnitude = Magnitude(base);
      const double weight = k == 0 || k == half ? 1 : 2;
      if (static_cast<double>(uses) * std::log(magnitude + spectrum_.error) < -100) {
        error_squares += weight * 1e-80;
        continue;
      }
      const ExtendedComplex power = Power(base, uses);
      const double error = PowerError(magnitude, spectrum_.error, uses);
      error_squares += weight * error * error;
      const std::complex<double> value(static_cast<double>(power.real()),
                                       static_cast<double>(power.imag()));
      squares += weight * std::norm(value);
      z[k] = value;
      if (k > 0 && k < half) z[size - k] = std::conj(value);
    }
    Law law{.uses = uses, .masses = transform_.CharacteristicFunction(z)};
    const double window = interval_ * static_cast<double>(half - 1);
    double beyond = 0;
    for (const auto& side : beyond_) {
      double best = 0;
      for (size_t i = 0; i < kTailOrders.size(); ++i) {
        const double at = static_cast<double>(uses) * side[i] - kTailOrders[i] * window;
        if (i == 0 || at < best) best = at;
      }
      beyond += std::exp(std::min(0.0, best));
    }
    law.lost = (transform_.RelativeError() * 1.1 + 0x1p-51) * std::sqrt(squares) +
               std::sqrt(error_squares) + beyond;
    return law;
  }

  double Upper(const Law& law, double epsilon) const {
    const auto size = static_cast<int64_t>(transform_.size());
    const auto half = size / 2;
    const auto j = static_cast<int64_t>(std::floor(epsilon / interval_));
    const long double step = static_cast<long double>(tilt_) * interval_;
    const long double scale = 1.0L / static_cast<long double>(size);
    long double sum = law.lost;
    for (int64_t i = j + 1; i < half; ++i) {
      const long double mass = law.masses[(size - i) % size].real() * scale;
      if (mass <= 0) continue;  // rounding, counted in `lost`
      const long double excess = i * static_cast<long double>(interval_) - epsilon;
      if (excess > 0) sum += mass * std::exp(-step * (i - j)) * -std::expm1(-excess);
    }
    const long double log_start = static_cast<long double>(law.uses) * log_moment_ - step * j;
    const double at_infinity = RoundUp(static_cast<double>(law.uses) * infinity_mass_, 2);
    const double delta = static_cast<double>(sum * std::exp(log_start)) * (1 + 1e-11);
    return std::isnan(delta) ? 1 : delta + at_infinity;
  }

 private:
  double SaddleOf(double uses, double epsilon) const {
    double low = std::log(1e-2);
    double high = std::log(2000.0);
    const auto exponent = [&](double log_tilt) {
      const double tilt = std::exp(log_tilt);
      return uses * LogMomentOf(direction_, interval_, tilt) - tilt * epsilon;
    };
    for (int i = 0; i < 24; ++i) {
      const double a = low + 0.382 * (high - low);
      const double b = low + 0.618 * (high - low);
      if (exponent(a) < exponent(b)) {
        high = b;
      } else {
        low = a;
      }
    }
    return std::exp(0.5 * (low + high));
  }

  void Tilt(double tilt) {
    tilt_ = tilt;
    const long double step = static_cast<long double>(tilt_) * interval_;
    long double sum = 0;
    const long double edge =
        step * static_cast<long double>(direction_.first +
                                        static_cast<int64_t>(direction_.masses.size()) - 1);
    std::array<Direction, 2> tilted;
    tilted[0].first = direction_.first;
    tilted[0].masses.resize(direction_.masses.size());
    for (size_t i = 0; i < direction_.masses.size(); ++i) {
      const long double at =
          step * static_cast<long double>(direction_.first + static_cast<int64_t>(i));
      tilted[0].masses[i] = direction_.masses[i] * std::exp(at - edge);
      sum += tilted[0].masses[i];
    }
    for (long double& mass : tilted[0].masses) mass /= sum;
    log_moment_ = edge + std::log(sum);
    spectrum_ = SpectrumOf(tilted, extended_);
    for (size_t i = 0; i < kTailOrders.size(); ++i) {
      beyond_[0][i] = LogMomentOf(tilted[0], interval_, kTailOrders[i]);
      beyond_[1][i] = LogMomentOf(tilted[0], interval_, -kTailOrders[i]);
    }
  }

  const Direction& direction_;
  const double infinity_mass_;
  const double interval_;
  const ExtendedFourierTransform extended_;
  const FourierTransform transform_;
  double tilt_ = 0;
  long double log_moment_ = 0;
  Spectrum spectrum_;
  std::array<std::array<double, kTailOrders.size()>, 2> beyond_{};
};

// Returns the least epsilon with (epsilon, delta)-DP for this many uses of the pair by Chernoff's
// bound; +inf if none exists.
double EpsilonNear(const LossPair& pair, int64_t uses, double delta) {
  double epsilon = 0;
  for (const Direction& direction : DirectionsOf(pair)) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 24; ++i) {
      const double order = 0.5 * std::pow(1.4, i);
      const double moment = LogMomentOf(direction, pair.interval, order);
      best = std::min(best, (static_cast<double>(uses) * moment - std::log(delta)) / order);
    }
    epsilon = std::max(epsilon, best);
  }
  return epsilon;
}

// Returns roughly how many uses of the pair are (epsilon, delta)-DP, by Chernoff's bound; at least
// 1.
int64_t UsesNear(const LossPair& pair, double epsilon, double delta) {
  constexpr int kOrders = 24;
  const std::array<Direction, 2> directions = DirectionsOf(pair);
  double uses = static_cast<double>(kMaxUnits);
  for (const Direction& direction : directions) {
    double best = 1;
    for (int i = 0; i < kOrders; ++i) {
      const double order = 0.5 * std::pow(1.4, i);
      const double moment = LogMomentOf(direction, pair.interval, order);
      if (moment > 0) best = std::max(best, (order * epsilon + std::log(delta)) / moment);
    }
    uses = std::min(uses, best);
  }
  return std::max<int64_t>(1, std::llround(uses));
}

// Returns the number of points of a transform that covers a stream of this many units except mass
// 1e-9 delta, and leaves room for the epsilon in question.
size_t TransformFor(const std::array<Direction, 2>& directions, double interval, double epsilon,
                    double delta, int64_t units) {
  const TailMoments moments = TailMomentsOf(directions, interval);
  const CountedMoments uses = {{&moments, static_cast<double>(units)}};
  size_t size = kSmallestTransform;
  while (size < kLargestTransform) {
    const double window = interval * static_cast<double>(size / 2 - 1);
    if (window > 1.25 * epsilon && MassBeyond(uses, 0, window) <= 1e-9 * delta &&
        MassBeyond(uses, 1, window) <= 1e-9 * delta) {
      break;
    }
    size *= 2;
  }
  return size;
}

// Upper bounds on the privacy loss of a number of units, in both orders.
class SpendOfUnits {
 public:
  SpendOfUnits(const LossPair& pair, double epsilon, double delta, int64_t aimed)
      : directions_(DirectionsOf(pair)),
        transform_(TransformFor(directions_, pair.interval, epsilon, delta, 2 * aimed)),
        orders_{TiltedDelta(directions_[0], InfinityMassOfP(pair), pair.interval, transform_),
                TiltedDelta(directions_[1], InfinityMassOfQ(pair), pair.interval, transform_)},
        epsilon_(epsilon) {}
  SpendOfUnits(const SpendOfUnits&) = delete;
  SpendOfUnits& operator=(const SpendOfUnits&) = delete;

  // Bounds are tightest near `aimed` units, and hold for any number.
  void Aim(int64_t aimed) {
    for (TiltedDelta& order : orders_) order.Aim(aimed, epsilon_);
  }

  // R_units(e^epsilon) <= delta.
  bool IsWithin(int64_t units, double delta) const {
    return orders_[0].Upper(units, epsilon_) <= delta && orders_[1].Upper(units, epsilon_) <= delta;
  }
  size_t transform() const { return transform_; }

  // Returns an epsilon a little above the least one in [0, high] with R_units(e^epsilon) <= delta;
  // `high` itself where none is found.
  double LeastEpsilon(int64_t units, double delta, double high) {
    return std::max(orders_[0].LeastEpsilon(units, delta, high),
                    orders_[1].LeastEpsilon(units, delta, high));
  }

 private:
  const std::array<Direction, 2> directions_;
  const size_t transform_;
  std::array<TiltedDelta, 2> orders_;
  const double epsilon_;
};

struct Room {
  int64_t units = 0;
  size_t transform = 0;
};

// Returns the most units with R_units + slack_per_unit units <= delta in both orders. Returns any
// number soon after `abandoned` returns true.
Room UnitsWithin(const LossPair& pair, double epsilon, double delta, double slack_per_unit,
                 int64_t near, int64_t* points_left, absl::FunctionRef<bool()> abandoned) {
  // The start of the search does not affect validity: its result is proved separately.
  Room room;
  int64_t next = near;
  for (int round = 0; round < 30 && *points_left > 0 && !abandoned(); ++round) {
    const int64_t aimed = std::max<int64_t>(1, next);
    SpendOfUnits spend(pair, epsilon, delta, aimed);
    spend.Aim(aimed);
    room.transform = spend.transform();
    *points_left -= 8 * static_cast<int64_t>(room.transform);  // the work of aiming
    next = LargestThat(
        kMaxUnits, aimed,
        [&](int64_t units) {
          *points_left -= 2 * static_cast<int64_t>(room.transform);
          const double slack = RoundUp(static_cast<double>(units) * slack_per_unit, 1);
          return !abandoned() && slack <= delta && spend.IsWithin(units, RoundDown(delta - slack));
        },
        /*bits=*/16);
    room.units = std::max(room.units, next);
    if (next == 0 || (std::abs(next - aimed) <= aimed / 20 && round > 0)) break;
  }
  return room;
}

absl::Status NobodyWaits() {
  return absl::CancelledError("nobody waits for the reference any more");
}

absl::Status CheckEpsilon(double epsilon) {
  if (epsilon <= kLargestEpsilonOfUnits) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("the cap's epsilon is %g, and units count up to an epsilon of %g", epsilon,
                      kLargestEpsilonOfUnits));
}

// Losses with less delta than this are treated as infinite.
double LogTailOf(double delta) { return std::log(delta) + std::log(kTailShare); }

// Returns a spacing of 28 bits that divides epsilon up to rounding.
double SpacingNear(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, 28)), exponent - 28);
}

// FitsCap with at most this many aims.
bool Fits(const Reference& reference, double epsilon, double delta, size_t most_aims) {
  const double room = RoundDown(RoundDown(delta - reference.slack) - reference.reserve);
  if (!IsLossPair(reference.pair) || reference.units < 1 || reference.units > kMaxUnits ||
      !(reference.slack > 0) || !(reference.reserve >= 0) || !(room > 0)) {
    return false;
  }
  if (!CheckEpsilon(epsilon).ok()) return false;
  // A bound depends a little on its aim; a bound at any aim is a proof.
  constexpr double kShares[] = {1.0, 0.97, 1.03, 0.9, 1.1, 0.7, 1.5};
  for (size_t i = 0; i < std::min(most_aims, std::size(kShares)); ++i) {
    const auto aimed = static_cast<int64_t>(kShares[i] * static_cast<double>(reference.units));
    SpendOfUnits spend(reference.pair, epsilon, delta, std::max<int64_t>(1, aimed));
    spend.Aim(std::max<int64_t>(1, aimed));
    if (spend.IsWithin(reference.units, room)) return true;
  }
  return false;
}

// Lowers the units, each with `slack_per_unit` if given, until the stored reference can be proved
// again on its own. RESOURCE_EXHAUSTED if a few tries do not suffice.
absl::Status LowerUntilProved(double epsilon, double delta, std::optional<double> slack_per_unit,
                              absl::FunctionRef<bool()> abandoned, Reference* reference) {
  for (int tries = 0; tries < 8 && reference->units > 0; ++tries) {
    if (abandoned()) return NobodyWaits();
    if (slack_per_unit.has_value()) {
      reference->slack = RoundUp(*slack_per_unit * static_cast<double>(reference->units), 1);
    }
    if (FitsCap(*reference, epsilon, delta)) return absl::OkStatus();
    reference->units -= std::max<int64_t>(1, reference->units >> (8 - tries));
  }
  return absl::ResourceExhaustedError(absl::StrFormat(
      "no number of it is proved to fit (%g, %g) within the bound of work", epsilon, delta));
}

}  // namespace

absl::StatusOr<Reference> MakeReference(const MechanismEvent& event, NeighboringRelation relation,
                                        double epsilon, double delta,
                                        absl::FunctionRef<bool()> abandoned) {
  RETURN_IF_ERROR(CheckEpsilon(epsilon));
  if (ContainsNonPrivate(event)) {
    return absl::InvalidArgumentError("got a nonPrivate event, want one with a finite cost");
  }
  const std::vector<Use> uses = UsesOf(event, relation);
  if (uses.empty()) {
    return absl::InvalidArgumentError(
        "got an event that releases nothing, want one that is worth counting");
  }
  if (uses.size() != 1 || uses[0].count != 1) {
    return absl::InvalidArgumentError(
        "got a sequence of events, want the one event that most charges are made of");
  }
  ASSIGN_OR_RETURN(DirectedProfiles profiles, ProfilesOfUse(uses[0], relation));
  const double log_tail = LogTailOf(delta);
  const double slack = delta * kSlackShare;
  const double reserve = delta * kReserveShare;
  const double room_for_units = RoundDown(delta - slack - reserve, 2);
  double interval = epsilon;
  while (interval > 1.0 / 512 || interval > epsilon / 512) interval /= 2;
  Reference best;
  int64_t near = 0;
  int64_t points_left = kMostPoints;
  for (int halvings = 0; halvings < 8 && points_left > 0; ++halvings, interval /= 2) {
    absl::StatusOr<LossPair> pair =
        DominatingLossPair(profiles, SpacingNear(interval), log_tail, kMaxPairPoints);
    if (!pair.ok()) {
      if (best.units > 0) break;
      return pair.status();
    }
    if (near == 0) near = UsesNear(*pair, epsilon, room_for_units);
    const Room room = UnitsWithin(*pair, epsilon, room_for_units, 0, near, &points_left, abandoned);
    if (abandoned()) return NobodyWaits();
    if (room.transform > kLargestReferenceTransform && best.units > 0) break;
    const bool worth =
        static_cast<double>(room.units) > kWorthRefining * static_cast<double>(best.units);
    if (room.units > best.units) {
      best = Reference{
          .pair = *std::move(pair), .units = room.units, .slack = slack, .reserve = reserve};
    }
    near = std::max<int64_t>(1, room.units);
    if (!worth && halvings > 0) break;
    if (room.transform == kLargestReferenceTransform) break;
  }
  if (best.units == 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("not one use of it is proved to fit (%g, %g)", epsilon, delta));
  }
  if (best.units >= kMaxUnits) {
    return absl::InvalidArgumentError("it costs next to nothing: more than 2^40 of them would fit");
  }
  // The stored reference can be proved again on its own.
  RETURN_IF_ERROR(LowerUntilProved(epsilon, delta, std::nullopt, abandoned, &best));
  return best;
}

absl::StatusOr<Reference> WithCap(const Reference& reference, double epsilon, double delta,
                                  absl::FunctionRef<bool()> abandoned) {
  RETURN_IF_ERROR(CheckEpsilon(epsilon));
  const double reserve = delta * kReserveShare;
  const double per_unit = RoundUp(reference.slack / static_cast<double>(reference.units), 1);
  int64_t points_left = kMostPoints;
  const Room room = UnitsWithin(reference.pair, epsilon, RoundDown(delta - reserve, 2), per_unit,
                                reference.units, &points_left, abandoned);
  if (abandoned()) return NobodyWaits();
  if (room.units == 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("one unit costs more than (%g, %g)", epsilon, delta));
  }
  Reference next{.pair = reference.pair, .units = room.units, .slack = 0, .reserve = reserve};
  RETURN_IF_ERROR(LowerUntilProved(epsilon, delta, per_unit, abandoned, &next));
  return next;
}

absl::StatusOr<Reference> MakeReferenceOfUnits(const MechanismEvent& event,
                                               NeighboringRelation relation, int64_t units,
                                               double delta, absl::FunctionRef<bool()> abandoned) {
  // Chooses a lattice that is fine near the epsilon of `units` units at this delta.
  double epsilon = kLargestEpsilonOfUnits;
  for (const double order : {1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0, 129.0, 257.0}) {
    if (abandoned()) return NobodyWaits();
    const double divergence =
        CostUpperBound(event, relation, {.quantity = CellQuantity::kRenyi, .order = order});
    const double at = static_cast<double>(units) * divergence - std::log(delta) / (order - 1);
    epsilon = std::min(epsilon, std::isnan(at) ? epsilon : at);
  }
  const double pure = CostUpperBound(event, relation, {.quantity = CellQuantity::kEpsilon}) *
                      static_cast<double>(units);
  if (pure == 0 && CostUpperBound(event, relation, {.quantity = CellQuantity::kDelta}) == 0) {
    return absl::InvalidArgumentError("it costs nothing, want an event that is worth counting");
  }
  if (pure > 0) epsilon = std::min(epsilon, pure);
  absl::StatusOr<Reference> reference = MakeReference(event, relation, epsilon, delta, abandoned);
  const bool too_many =
      reference.ok() && epsilon == kLargestEpsilonOfUnits && reference->units < units;
  if (too_many || absl::IsFailedPrecondition(reference.status())) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%d uses of it have no proved epsilon up to %g at delta %g", units,
                        kLargestEpsilonOfUnits, delta));
  }
  if (!reference.ok()) return reference.status();
  reference->units = units;
  return reference;
}

absl::StatusOr<Reference> WithUnits(const Reference& reference, int64_t units, double delta) {
  Reference next = reference;
  next.units = units;
  next.slack = RoundUp(RoundUp(reference.slack / static_cast<double>(reference.units)) *
                       static_cast<double>(units));
  next.reserve = std::max(reference.reserve, delta * kReserveShare);
  if (!(RoundUp(next.slack + next.reserve) <= delta / 2)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%d of these units need a delta of at least %.2g, got %g", units,
                        RoundUp(2 * RoundUp(next.slack + next.reserve), 2), delta));
  }
  return next;
}

double EpsilonOfUnits(const Reference& reference, double delta) {
  const double room = RoundDown(RoundDown(delta - reference.slack) - reference.reserve);
  if (!(room > 0)) return std::numeric_limits<double>::infinity();
  const double near = EpsilonNear(reference.pair, reference.units, room);
  const double high = std::min(kLargestEpsilonOfUnits, std::isfinite(near) ? near : 100.0);
  // The saddle point is that of `high`, so it is aimed again if the least epsilon is far below.
  std::vector<double> found = {high};
  do {
    found.push_back(SpendOfUnits(reference.pair, found.back(), delta, reference.units)
                        .LeastEpsilon(reference.units, room, found.back()));
  } while (found.size() < 6 && found.back() > kSmallestEpsilon &&
           found.back() < 0.7 * found[found.size() - 2]);
  // The search does not affect validity: its result is proved separately.
  for (size_t i = found.size() - 1; i > 0; --i) {
    double epsilon = found[i];
    for (const double more : {1e-4, 1e-2, 0.0}) {
      if (Fits(reference, epsilon, delta, 3)) return epsilon;
      if (epsilon == kLargestEpsilonOfUnits) break;
      epsilon = std::min(kLargestEpsilonOfUnits, epsilon * (1 + more) + 1e-9);
    }
  }
  return std::numeric_limits<double>::infinity();
}

size_t TransformOfUnits(const Reference& reference, double delta) {
  const double near = EpsilonNear(reference.pair, reference.units, delta);
  const double high = std::min(kLargestEpsilonOfUnits, std::isfinite(near) ? near : 100.0);
  return TransformFor(DirectionsOf(reference.pair), reference.pair.interval, high, delta,
                      2 * reference.units);
}

bool IsPairOf(const Reference& reference, const MechanismEvent& event, NeighboringRelation relation,
              double delta) {
  const std::vector<Use> uses = UsesOf(event, relation);
  if (uses.size() != 1 || uses[0].count != 1 || !IsLossPair(reference.pair)) return false;
  const absl::StatusOr<DirectedProfiles> profiles = ProfilesOfUse(uses[0], relation);
  if (!profiles.ok()) return false;
  const absl::StatusOr<LossPair> pair =
      DominatingLossPair(*profiles, reference.pair.interval, LogTailOf(delta), kMaxPairPoints);
  return pair.ok() && pair->first == reference.pair.first && pair->masses == reference.pair.masses;
}

bool FitsCap(const Reference& reference, double epsilon, double delta) {
  return Fits(reference, epsilon, delta, std::numeric_limits<size_t>::max());
}

}  // namespace epsledger::accounting
