#include "accounting/filter/loss_pair.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"
#include "accounting/pld/lattice_placement.h"

namespace epsledger::accounting {
namespace {

using Units = unsigned __int128;

constexpr int kMassBits = 100;
constexpr int64_t kMaxIndex = int64_t{1} << 24;

// x rounded down to a multiple of 2^-100.
double CutMass(double x) { return std::ldexp(std::floor(std::ldexp(x, kMassBits)), -kMassBits); }

// Returns a multiple of 2^-100 in [0, 1] as a count of 2^-100.
Units UnitsOf(double mass) {
  int exponent = 0;
  const double mantissa = std::frexp(mass, &exponent);  // mass = mantissa 2^exponent
  const auto bits = static_cast<uint64_t>(std::ldexp(mantissa, 53));
  const int shift = exponent - 53 + kMassBits;
  return shift >= 0 ? Units{bits} << shift : Units{bits} >> -shift;
}

// Returns 1 - the sum of the masses, exactly, as a count of 2^-100; nullopt if the sum exceeds 1.
bool RestOf(const std::vector<double>& masses, Units* rest) {
  constexpr Units kOne = Units{1} << kMassBits;
  Units sum = 0;
  for (const double mass : masses) {
    sum += UnitsOf(mass);
    if (sum > kOne) return false;
  }
  *rest = kOne - sum;
  return true;
}

// Returns x >= the number, off by one rounding.
double ToDoubleUp(Units units) {
  double x = std::ldexp(static_cast<double>(units), -kMassBits);
  if (std::ldexp(x, kMassBits) < static_cast<double>(units)) x = NextUp(x);
  return units == 0 ? 0 : NextUp(x);
}

// Returns an upper bound on the sum of masses[i] e^-L: extended precision, far less than 2^-56 off.
long double SumOfQ(const LossPair& pair) {
  long double sum = 0;
  long double lost = 0;  // [Knuth97] 4.2.2: the errors of the additions are added back
  for (size_t i = 0; i < pair.masses.size(); ++i) {
    const long double loss = static_cast<long double>(pair.first + static_cast<int64_t>(i)) *
                             static_cast<long double>(pair.interval);
    const long double q = static_cast<long double>(pair.masses[i]) * std::exp(-loss);
    const long double total = sum + q;
    lost += sum >= q ? (sum - total) + q : (q - total) + sum;
    sum = total;
  }
  // Each term is within 4 units of 2^-64 of its share.
  return (sum + lost) * (1 + 0x1p-60L);
}

// One side of the pair: the losses of one sign, under the order of the laws in which they are
// positive. delta[i] >= the profile at i * interval.
struct Side {
  std::vector<double> delta;
};

absl::StatusOr<Side> SampleSide(const PrivacyProfile& profile, double interval, double log_tail,
                                int64_t max_points) {
  const double largest = std::max(0.0, LossRange(profile, log_tail).upper);
  if (!(largest / interval < static_cast<double>(max_points))) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("losses up to %g at a spacing of %g need more than %d points", largest,
                        interval, max_points));
  }
  // One more point: the end lies past the last atom.
  const int64_t last = static_cast<int64_t>(std::ceil(largest / interval)) + 1;
  Side side;
  side.delta.reserve(static_cast<size_t>(last) + 1);
  for (int64_t i = 0; i <= last; ++i) {
    const double delta = profile.At(static_cast<double>(i) * interval).delta.upper;
    if (!(delta >= 0)) return absl::InternalError("a profile is no number");
    side.delta.push_back(std::min(1.0, delta));
  }
  return side;
}

// The vertices of the lower convex hull of the points (e^{i interval}, delta[i]): the profile is
// convex, so it lies below the chords of the hull. Also the slope of each chord, negative, in units
// of e^{-(left end)}.
struct Hull {
  std::vector<int64_t> vertex;
  std::vector<long double> slope;  // slope[k] of the chord from vertex k to k + 1, times e^{left}
};

Hull LowerHull(const std::vector<double>& delta, double interval) {
  const auto slope_between = [&](int64_t i, int64_t k) {
    const long double width = static_cast<long double>(k - i) * interval;
    return (static_cast<long double>(delta[k]) - delta[i]) / std::expm1(width);
  };
  Hull hull;
  for (int64_t i = 0; i < static_cast<int64_t>(delta.size()); ++i) {
    while (hull.vertex.size() > 1) {
      const int64_t middle = hull.vertex.back();
      const int64_t left = hull.vertex[hull.vertex.size() - 2];
      const long double turn = std::exp(-static_cast<long double>(middle - left) * interval);
      if (slope_between(middle, i) * turn > slope_between(left, middle)) break;
      hull.vertex.pop_back();
    }
    hull.vertex.push_back(i);
  }
  for (size_t k = 0; k + 1 < hull.vertex.size(); ++k) {
    hull.slope.push_back(slope_between(hull.vertex[k], hull.vertex[k + 1]));
  }
  return hull;
}

// masses[i] is the mass of the outcome with loss i * interval, i >= 1, under the law that gives it
// more mass. `beyond` is delta past the end; `first_slope` the slope at e^0.
struct SideMasses {
  std::vector<double> masses;
  long double first_slope = 0;
};
SideMasses MassesOf(const Side& side, const Hull& hull, double interval) {
  SideMasses result;
  result.masses.assign(side.delta.size(), 0.0);
  for (size_t k = 1; k < hull.vertex.size(); ++k) {
    const long double width =
        static_cast<long double>(hull.vertex[k] - hull.vertex[k - 1]) * interval;
    // The mass under the other law is the change of slope; under this law it is e^loss times that.
    const long double before = hull.slope[k - 1] * std::exp(width);
    const long double after = k < hull.slope.size() ? hull.slope[k] : 0.0L;
    result.masses[hull.vertex[k]] = static_cast<double>(std::max(0.0L, after - before));
  }
  result.first_slope = hull.slope.empty() ? 0.0L : hull.slope[0];
  return result;
}

// Returns the most by which the pair's profile is below `delta` at a vertex, given that the mass at
// infinity is `infinity`; masses[i] has loss i * interval under this order. All terms are positive.
long double LargestDeficit(const std::vector<long double>& masses, const Side& side,
                           const Hull& hull, double interval, long double infinity) {
  const long double decay = std::exp(-static_cast<long double>(interval));
  const long double one_minus_decay = -std::expm1(-static_cast<long double>(interval));
  // At j: above = sum over i > j of masses[i] (1 - e^{(j - i) interval}).
  long double above = 0;
  long double discounted = 0;  // sum over i >= j of masses[i] e^{(j - i) interval}
  long double deficit = 0;
  const auto last = static_cast<int64_t>(side.delta.size()) - 1;
  const long double rounding = static_cast<long double>(last + 16) * 0x1p-62L;
  size_t vertex = hull.vertex.size();
  for (int64_t j = last; j >= 0; --j) {
    if (vertex > 0 && hull.vertex[vertex - 1] == j) {
      --vertex;
      deficit = std::max(deficit, side.delta[j] - (above * (1 - rounding) + infinity));
    }
    discounted = masses[j] + decay * discounted;
    above += one_minus_decay * discounted;
  }
  return deficit;
}

}  // namespace

bool IsLossPair(const LossPair& pair) {
  if (!(pair.interval > 0 && pair.interval <= 1) || pair.masses.empty()) return false;
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(pair.interval, &exponent), 29);
  if (mantissa != std::floor(mantissa)) return false;
  if (static_cast<int64_t>(pair.masses.size()) >= 2 * kMaxIndex) return false;
  if (pair.first <= -kMaxIndex || pair.first >= kMaxIndex || pair.last() >= kMaxIndex) return false;
  for (const double mass : pair.masses) {
    if (!(mass >= 0 && mass <= 1) || CutMass(mass) != mass) return false;
  }
  Units rest = 0;
  return RestOf(pair.masses, &rest) && SumOfQ(pair) <= 1 + 0x1p-56L;
}

double InfinityMassOfP(const LossPair& pair) {
  Units rest = 0;
  return RestOf(pair.masses, &rest) ? ToDoubleUp(rest) : 1;
}

double InfinityMassOfQ(const LossPair& pair) {
  const long double rest = 1 - SumOfQ(pair) * (1 - 0x1p-57L);
  return rest > 0 ? RoundUp(static_cast<double>(rest), 1) : 0;
}

absl::StatusOr<LossPair> DominatingLossPair(const DirectedProfiles& profiles, double interval,
                                            double log_tail, int64_t max_points) {
  absl::StatusOr<Side> remove = SampleSide(*profiles.remove, interval, log_tail, max_points);
  if (!remove.ok()) return remove.status();
  ASSIGN_OR_RETURN(Side add, profiles.add == profiles.remove
                                 ? remove
                                 : SampleSide(*profiles.add, interval, log_tail, max_points));
  // At epsilon = 0 both are the total variation distance.
  double middle = std::max(remove->delta[0], add.delta[0]);
  Hull remove_hull;
  Hull add_hull;
  SideMasses of_p;
  SideMasses of_q;
  long double at_zero = -1;
  for (int round = 0; at_zero < 0 && round < 200; ++round) {
    remove->delta[0] = add.delta[0] = middle;
    remove_hull = LowerHull(remove->delta, interval);
    add_hull = LowerHull(add.delta, interval);
    of_p = MassesOf(*remove, remove_hull, interval);
    of_q = MassesOf(add, add_hull, interval);
    // The slopes at e^0. To the right it is the slope of remove. To the left it comes from the
    // slope of add at the right: H(g) = 1 - g + g h(1/g) has the slope -1 + h(1) - h'(1).
    at_zero = of_p.first_slope - (-1 + static_cast<long double>(middle) - of_q.first_slope);
    if (at_zero >= 0) break;
    // The two sides do not meet in a convex curve, and the chord past e^0 is an upper bound too.
    const int64_t right = remove_hull.vertex[1];
    const int64_t left = add_hull.vertex[1];
    const long double to_right = std::expm1(static_cast<long double>(right) * interval);
    const long double to_left = -std::expm1(-static_cast<long double>(left) * interval);
    const long double at_left = to_left + (1 - to_left) * add.delta[left];
    const long double chord =
        (at_left * to_right + remove->delta[right] * to_left) / (to_left + to_right);
    middle = std::min(NextDown(middle), NextUp(static_cast<double>(chord)));
  }
  if (at_zero < 0) return absl::InternalError("the two orders of a pair do not fit together");

  const auto below = static_cast<int64_t>(add.delta.size()) - 1;
  const auto above = static_cast<int64_t>(remove->delta.size()) - 1;
  std::vector<long double> exact(static_cast<size_t>(below + above + 1), 0.0L);
  for (int64_t i = 1; i <= below; ++i) {
    exact[below - i] = of_q.masses[i] * std::exp(-static_cast<long double>(i) * interval);
  }
  for (int64_t i = 1; i <= above; ++i) exact[below + i] = of_p.masses[i];
  exact[below] = at_zero;

  // Moves mass to infinity, under both laws alike, until both profiles are proved.
  long double moved = 0x1p-62L;
  for (int round = 0; round < 40; ++round) {
    LossPair pair{.interval = interval, .first = -below, .masses = {}};
    pair.masses.reserve(exact.size());
    for (const long double mass : exact) {
      pair.masses.push_back(CutMass(static_cast<double>(mass * (1 - moved))));
    }
    Units rest = 0;
    if (RestOf(pair.masses, &rest)) {
      const long double sum_of_q = SumOfQ(pair);
      const long double infinity_of_p = std::ldexp(static_cast<long double>(rest), -kMassBits);
      const long double infinity_of_q = 1 - sum_of_q;
      if (infinity_of_q >= 0) {
        std::vector<long double> p(remove->delta.size(), 0.0L);
        std::vector<long double> q(add.delta.size(), 0.0L);
        for (int64_t i = 1; i <= above; ++i) p[i] = pair.masses[below + i];
        for (int64_t i = 1; i <= below; ++i) {
          q[i] = static_cast<long double>(pair.masses[below - i]) *
                 std::exp(static_cast<long double>(i) * interval);
        }
        const long double deficit = std::max(
            LargestDeficit(p, *remove, remove_hull, interval, infinity_of_p * (1 - 0x1p-60L)),
            LargestDeficit(q, add, add_hull, interval, infinity_of_q));
        if (deficit <= 0) return pair;
        moved = 2 * (moved + deficit);
        continue;
      }
    }
    moved *= 4;
  }
  return absl::InternalError("no pair on the lattice was proved to be above the profiles");
}

}  // namespace epsledger::accounting
