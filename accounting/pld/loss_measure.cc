#include "accounting/pld/loss_measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// The profile at the lattice points: delta, and x Q[loss > epsilon], x = e^epsilon, which is the
// slope of delta in x times -x, and at most P[loss > epsilon].
struct Samples {
  std::vector<double> delta_upper;
  std::vector<double> delta_lower;
  std::vector<double> slope_upper;
  std::vector<double> slope_lower;
};

// Beyond this epsilon x overflows, or soon the tail underflows.
constexpr double kLargestExponent = 690;

// Bounds the slopes where x is too large for a product. Delta is convex in x: the slope at a point
// is between those of the chords on both sides of it.
void BoundSlopesByChords(const Lattice& lattice, Samples* samples) {
  Samples& s = *samples;
  const size_t size = s.delta_upper.size();
  const double growth = std::expm1(lattice.interval);
  const double one_minus_decay = -std::expm1(-lattice.interval);
  for (size_t i = 0; i < size; ++i) {
    const auto index = static_cast<double>(lattice.first + static_cast<int64_t>(i));
    if (index * lattice.interval <= kLargestExponent) continue;
    double upper = 1;
    double lower = 0;
    if (i > 0) {
      const double fall = RoundUpNonNegative(s.delta_upper[i - 1] - s.delta_lower[i], 1);
      upper = std::min(upper, RoundUpNonNegative(fall / one_minus_decay, 4));
    }
    if (i + 1 < size) {
      const double fall = RoundDownNonNegative(s.delta_lower[i] - s.delta_upper[i + 1], 1);
      lower = RoundDownNonNegative(fall / growth, 4);
    }
    s.slope_upper[i] = upper;
    s.slope_lower[i] = std::min(lower, upper);
  }
}

Samples SampleProfile(const PrivacyProfile& profile, const Lattice& lattice) {
  const size_t size = static_cast<size_t>(lattice.last - lattice.first + 1);
  Samples s;
  s.delta_upper.resize(size);
  s.delta_lower.resize(size);
  s.slope_upper.resize(size);
  s.slope_lower.resize(size);
  for (size_t i = 0; i < size; ++i) {
    const double epsilon = static_cast<double>(lattice.first + static_cast<int64_t>(i)) *
                           lattice.interval;  // exact: 29 bits times 24 bits
    const ProfilePoint point = profile.At(epsilon);
    s.delta_upper[i] = point.delta.upper;
    s.delta_lower[i] = point.delta.lower;
    const double x = std::exp(epsilon);
    s.slope_upper[i] = x * point.tail.upper;
    s.slope_lower[i] = x * point.tail.lower;
  }
  BoundSlopesByChords(lattice, &s);
  return s;
}

// The masses of a survival function: survival[i] = P[loss >= point i], and `beyond` past the last.
std::vector<double> MassesOf(const std::vector<double>& survival, double beyond, bool up) {
  std::vector<double> masses(survival.size());
  for (size_t i = 0; i < survival.size(); ++i) {
    const double next = i + 1 < survival.size() ? survival[i + 1] : beyond;
    const double mass = survival[i] - next;
    masses[i] = up ? RoundUpNonNegative(mass, 1) : RoundDownNonNegative(mass, 1);
  }
  return masses;
}

// The intercept at x = 0 of the line through (x_{i-1}, left) and (x_i, right), x_i = e^h x_{i-1}:
// P[loss >= point i] of a piecewise linear profile. (left - right e^{-h}) / (1 - e^{-h}).
double Intercept(double left, double right, double decay, double one_minus_decay, bool up) {
  const double product = right * decay;
  const double value = (left - product) / one_minus_decay;
  // The errors of the product, of its subtraction and of `decay` are relative to left and right;
  // those of the quotient and of one_minus_decay are relative to the value.
  const double error =
      (3 * kUnitRoundoff * (left + right)) / one_minus_decay + 4 * kUnitRoundoff * std::abs(value);
  return up ? value + error : value - error;
}

LossMeasure Above(const Samples& s, const Lattice& lattice) {
  const double decay = std::exp(-lattice.interval);
  const double one_minus_decay = -std::expm1(-lattice.interval);
  const size_t size = s.delta_upper.size();
  LossMeasure measure;
  measure.first = lattice.first;
  measure.infinity_mass = s.delta_upper.back();
  std::vector<double> survival(size);
  double largest = measure.infinity_mass;
  for (size_t i = size - 1; i > 0; --i) {
    const double g =
        Intercept(s.delta_upper[i - 1], s.delta_upper[i], decay, one_minus_decay, true);
    largest = std::min(1.0, std::max(largest, g));  // a survival function, and at most 1
    survival[i] = largest;
  }
  survival[0] = 1;  // everything below the first point moves to it
  measure.masses = MassesOf(survival, measure.infinity_mass, true);
  return measure;
}

// How far the profile can lie below its chord over [x_i, x_{i+1}]: it lies above the tangents at
// both ends, which meet `depth` below the chord, at the share `place` of the way. The right tangent
// is `extended` below the left end of the chord.
struct Sag {
  double depth;
  double place;
  double extended;
};
Sag SagOfChord(const Samples& s, size_t i, double interval) {
  const double rounding = 8 * kUnitRoundoff * (s.delta_upper[i] + s.delta_upper[i + 1]) +
                          (s.delta_upper[i] - s.delta_lower[i]) +
                          (s.delta_upper[i + 1] - s.delta_lower[i + 1]);
  const double drop = s.delta_upper[i] - s.delta_lower[i + 1];
  const double fall_left = s.slope_upper[i] * std::expm1(interval);
  const double fall_right = s.slope_lower[i + 1] * -std::expm1(-interval);
  const double left = std::max(0.0, fall_left - drop) + rounding;
  const double right = std::max(0.0, drop - fall_right) + rounding;
  if (left + right == 0) return {0, 0.5, 0};
  const double extended = right * (1 + 1e-12);
  // The step to the next point may overflow: then the tangents meet at the left end.
  if (!(left < 1e300)) return {extended, 0, extended};
  return {left / (left + right) * right * (1 + 1e-12), right / (left + right), extended};
}

constexpr double kAtRightEnd = 0.999;

LossMeasure Below(const PrivacyProfile& profile, const Samples& s, const Lattice& lattice) {
  const double decay = std::exp(-lattice.interval);
  const double one_minus_decay = -std::expm1(-lattice.interval);
  const size_t size = s.delta_lower.size();
  // Past the largest loss the profile is constant and equals its infinity mass. Otherwise none is
  // counted.
  const bool ends = static_cast<double>(lattice.last) * lattice.interval >= profile.LargestLoss();
  LossMeasure measure;
  measure.first = lattice.first;
  measure.infinity_mass = ends ? s.delta_lower.back() : 0;
  const double base = ends ? s.delta_upper.back() : 0;

  // Points below the profile whose chords are below it too, down to 0 at the last one. A chord
  // whose ends are lowered by r and r' passes below the tangents' meeting point, and hence below
  // both tangents, if (1 - place) r + place r' >= depth; it also does if r puts its left end on the
  // extended right tangent.
  std::vector<double> lowered(size, 0.0);
  double owed = 0;  // the reduction of this point that the chord before it needs
  size_t zero = size - 1;
  Sag sag = SagOfChord(s, 0, lattice.interval);
  for (size_t i = 0; i + 1 < size; ++i) {
    const Sag next = i + 2 < size ? SagOfChord(s, i + 1, lattice.interval) : sag;
    // Taking only what is owed would alternate between nothing and twice the depth; leaving to the
    // next point more than its own chord needs would lower the flat part past a kink.
    // A kink at the right end, as from an atom on the lattice, costs that point almost nothing.
    const double fair =
        sag.place > kAtRightEnd
            ? 0
            : std::min(sag.extended, (sag.depth - sag.place * next.depth) / (1 - sag.place));
    const double reduction = std::max({owed, sag.depth, fair});
    lowered[i] = s.delta_lower[i] - base - reduction;
    owed = reduction >= sag.extended
               ? 0
               : std::max(0.0, (sag.depth - (1 - sag.place) * reduction) / sag.place) * (1 + 1e-12);
    sag = next;
    if (lowered[i] <= 0) {
      lowered[i] = 0;
      zero = i;
      break;
    }
  }
  if (zero > 0) {
    // The chord that ends in 0 starts on the tangent at its end, or lower.
    const double fall = s.slope_lower[zero] * one_minus_decay * (1 - 1e-12);
    const double tangent = std::max(0.0, s.delta_lower[zero] - base) + fall;
    lowered[zero - 1] = std::min(lowered[zero - 1], RoundDownNonNegative(tangent, 4));
  }

  // Next to a kink of the profile the lowered points are not convex. Their lower convex hull is
  // below them and below all their chords.
  std::vector<size_t> hull{0};
  const auto intercept = [&](size_t i, size_t k, bool up) {
    const double exponent = -static_cast<double>(k - i) * lattice.interval;
    return Intercept(lowered[i], lowered[k], k == i + 1 ? decay : std::exp(exponent),
                     k == i + 1 ? one_minus_decay : -std::expm1(exponent), up);
  };
  for (size_t i = 1; i < size; ++i) {
    while (hull.size() > 1 &&
           intercept(hull[hull.size() - 2], hull.back(), true) < intercept(hull.back(), i, false)) {
      hull.pop_back();
    }
    hull.push_back(i);
  }

  std::vector<double> survival(size);
  const double at_first = std::max(0.0, s.delta_lower[0] - base);
  double smallest = RoundDownNonNegative(at_first + s.slope_lower[0], 6);
  survival[0] = smallest;
  for (size_t v = 1; v < hull.size(); ++v) {
    // The running minimum repairs the errors of the hull that come from rounding.
    smallest = std::max(0.0, std::min(smallest, intercept(hull[v - 1], hull[v], false)));
    for (size_t i = hull[v - 1] + 1; i <= hull[v]; ++i) survival[i] = smallest;
  }
  measure.masses = MassesOf(survival, 0, false);
  return measure;
}

}  // namespace

MeasurePair Discretize(const PrivacyProfile& profile, const Lattice& lattice) {
  const Samples samples = SampleProfile(profile, lattice);
  return MeasurePair{Above(samples, lattice), Below(profile, samples, lattice)};
}

double LogMoment(const LossMeasure& measure, double interval, double order) {
  const size_t size = measure.masses.size();
  const double step = order * interval;
  const double first = static_cast<double>(measure.first);
  const double last = first + static_cast<double>(size - 1);
  double scale = step * last;
  double sum = 0;
  double error = 0;
  if (step * static_cast<double>(size) < 600) {
    for (size_t i = 0; i < size; ++i) {
      const double exponent = step * (first + static_cast<double>(i));
      const double term = measure.masses[i] * std::exp(exponent - scale);
      sum += term;
      error += term * (std::abs(exponent) + std::abs(scale));
    }
  } else {  // scaled by the largest exponent the sum might underflow: by the largest term then
    std::vector<double> logs(size);
    scale = -kInfinity;
    for (size_t i = 0; i < size; ++i) {
      logs[i] = std::log(measure.masses[i]) + step * (first + static_cast<double>(i));
      scale = std::max(scale, logs[i]);
    }
    if (scale == -kInfinity) return -kInfinity;
    for (size_t i = 0; i < size; ++i) {
      if (measure.masses[i] == 0) continue;
      const double term = std::exp(logs[i] - scale);
      sum += term;
      error += term * (3 * std::abs(logs[i] - scale) + std::abs(scale) + 800);
    }
  }
  if (sum == 0) return -kInfinity;
  const double relative = 2 * kUnitRoundoff * (2 * error / sum + static_cast<double>(size) + 8);
  return RoundUp(std::log(sum) + scale + relative, 4);
}

std::vector<LossPiece> PiecesOf(const LossMeasure& measure, double interval) {
  constexpr size_t kMostPieces = 2048;
  std::vector<LossPiece> pieces;
  const size_t width = measure.masses.size() / kMostPieces + 1;
  for (size_t start = 0; start < measure.masses.size(); start += width) {
    double mass = 0;
    double distance = 0;
    for (size_t k = start; k < std::min(start + width, measure.masses.size()); ++k) {
      mass += measure.masses[k];
      distance += measure.masses[k] * static_cast<double>(k - start);
    }
    if (!(mass > 0)) continue;
    const double index =
        static_cast<double>(measure.first) + static_cast<double>(start) + distance / mass;
    pieces.push_back({.log_mass = std::log(mass), .loss = interval * index});
  }
  return pieces;
}

double RoughLogMoment(const std::vector<LossPiece>& pieces, double order) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const LossPiece& piece : pieces) {
    largest = std::max(largest, piece.log_mass + order * piece.loss);
  }
  double sum = 0;
  for (const LossPiece& piece : pieces) {
    const double exponent = piece.log_mass + order * piece.loss - largest;
    if (exponent > -60) sum += std::exp(exponent);
  }
  return largest + std::log(sum);
}

}  // namespace epsledger::accounting
