#include "accounting/numeric/mills_ratio.h"

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>

#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

static_assert(LDBL_MANT_DIG >= 64, "the table is computed in an arithmetic wider than double");

constexpr int kDegree = 13;

// I_n(x) = integral over t > 0 of t^n exp(-x t - t^2/2), n = 0, ..., 13, to 2^-60 relative for
// n <= 1 and 2^-56 beyond. REQUIRES: -1 <= x <= 64.
std::array<long double, kDegree + 1> Integrals(long double x) {
  std::array<long double, kDegree + 1> integral;
  if (x < 0.5L) {
    // R(x) = sqrt(pi/2) e^{x^2/2} - (x + x^3/3!! + x^5/5!! + ...): for x below 1/2 the cancellation
    // costs less than one bit. Then I_{n+1} = n I_{n-1} - x I_n, all positive for x < 0 and nearly
    // so here.
    long double term = x;
    long double sum = x;
    for (int k = 1; k < 40; ++k) {
      term *= x * x / (2 * k + 1);
      sum += term;
    }
    integral[0] = 1.2533141373155002512078826424055L * std::exp(0.5L * x * x) - sum;
    integral[1] = 1 - x * integral[0];
    for (int n = 1; n < kDegree; ++n) {
      integral[n + 1] = n * integral[n - 1] - x * integral[n];
    }
    return integral;
  }
  // r_n = I_n / I_{n-1} = n / (x + r_{n+1}), backwards from an n where the error of the start
  // shrinks to exp(-49), as in normal.cc.
  const int last = kDegree + 20 + static_cast<int>(600 / (x * x));
  long double r = 2 * last / (x + std::sqrt(x * x + 4 * last));
  std::array<long double, kDegree + 1> ratio;
  for (int n = last; n >= 1; --n) {
    r = n / (x + r);
    if (n <= kDegree) ratio[n] = r;
  }
  integral[0] = 1 / (x + ratio[1]);
  for (int n = 1; n <= kDegree; ++n) integral[n] = integral[n - 1] * ratio[n];
  return integral;
}

// R about one node: R(node + d) = high + low + c[0] d + c[1] d^2 + ..., high + low to 2^-60.
struct Piece {
  double node;
  double high;
  double low;
  std::array<double, kDegree> c;
};

// 40 pieces of width 1/8 from -1 to 4, then 16 pieces an octave to 64. Nodes in the middle.
constexpr int kEvenPieces = 40;
constexpr int kOctavePieces = 64;
constexpr double kTableEnd = 64;
using Table = std::array<Piece, kEvenPieces + kOctavePieces>;

Table MakeTable() {
  Table table;
  for (int i = 0; i < kEvenPieces + kOctavePieces; ++i) {
    Piece& piece = table[i];
    const int j = i - kEvenPieces;
    piece.node = j < 0 ? -1 + (i + 0.5) / 8 : std::ldexp(16 + j % 16 + 0.5, j / 16 - 2);
    const auto integral = Integrals(piece.node);
    piece.high = static_cast<double>(integral[0]);
    piece.low = static_cast<double>(integral[0] - piece.high);
    long double factorial = 1;
    for (int n = 1; n <= kDegree; ++n) {
      factorial *= -n;
      piece.c[n - 1] = static_cast<double>(integral[n] / factorial);
    }
  }
  return table;
}

inline int PieceIndex(double x) {
  if (x < 4) return static_cast<int>((x + 1) * 8);
  return kEvenPieces + static_cast<int>((std::bit_cast<uint64_t>(x) >> 48) - 0x4010);
}

inline double PieceWidth(double node) {
  return node < 4 ? 0.125 : node < 8 ? 0.25 : node < 16 ? 0.5 : node < 32 ? 1.0 : 2.0;
}

const Table& MillsTable() {
  static const Table table = MakeTable();
  return table;
}

// R = high + rest.
struct Split {
  double high;
  double rest;
  double error;  // of rest, and of R by the omitted terms
};

// Degree 11 of 13: on |d| <= width/2 the first omitted term, I_12 d^12 / 12!, is below 2^-59 R (at
// x >= 4 because I_n <= n!/x^{n+1}, R >= x/(1+x^2), |d| <= x/32).
// Rounding: d has 2 half-ulps, c[0] one, the product and its sums three, and the terms from d^2 on
// are below a seventh of the rest: 7 half-ulps of the rest in total, including its sum with `low`.
inline Split SplitAt(const Table& table, double x, double x_low) {
  if (!(x < kTableEnd)) {
    // The asymptotic series, which envelops R: the first omitted term is 10395 y^6 <= 2^-58.
    const double y = 1 / (x * x);
    const double value = (1 - y * (1 - y * (3 - y * (15 - y * (105 - y * 945))))) / x;
    return Split{value, -x_low * y * (1 - 3 * y), 4 * kUnitRoundoff * value};
  }
  const Piece& piece = table[PieceIndex(x)];
  const auto& c = piece.c;
  const double d = (x - piece.node) + x_low;
  const double d2 = d * d;
  const double d4 = d2 * d2;
  const double first = (c[0] + c[1] * d) + (c[2] + c[3] * d) * d2;
  const double second = (c[4] + c[5] * d) + (c[6] + c[7] * d) * d2;
  const double third = (c[8] + c[9] * d) + c[10] * d2;
  const double rest = d * (first + d4 * (second + d4 * third)) + piece.low;
  return Split{piece.high, rest, 7 * kUnitRoundoff * std::abs(rest) + 0x1p-59 * piece.high};
}

}  // namespace

double MillsRatio(double x, double low) {
  if (x < -1) return kSqrt2Pi * std::exp(0.5 * x * x + x * low) - MillsRatio(-x, -low);
  const Split split = SplitAt(MillsTable(), x, low);
  return split.high + split.rest;
}

double MillsRatio(double x) { return MillsRatio(x, 0); }

MillsDifference MillsRatioDifference(const MillsArguments& at) {
  const Table& table = MillsTable();
  const Split left = SplitAt(table, at.left, at.left_low);
  const Split right = SplitAt(table, at.right, at.right_low);
  MillsDifference result;
  result.left = left.high + left.rest;
  result.right = right.high + right.rest;
  if (at.middle < kTableEnd) {
    const Piece& piece = table[PieceIndex(at.middle)];
    if (at.width <= 0.5 * PieceWidth(piece.node)) {
      // Both ends within 3/4 of a piece of this node: R(left) - R(right) = width sum -c_n S_n,
      // S_n = (l^n - r^n) / (l - r), S_{n+1} = (l + r) S_n - l r S_{n-1}, l and r the distances
      // from the node; summed backwards (Clenshaw). |l + r| |c_2| + |l r c_3| <= 0.1 |c_1|, so that
      // rounding is c_1's own, two sums', the product's and a tenth of the same: 5 half-ulps. The
      // omitted sum_{n > 13} |c_n| n max(|l|, |r|)^{n-1} is below one half-ulp.
      const double d = (at.middle - piece.node) + at.middle_low;
      const double h = 0.5 * at.width;
      const double sum = 2 * d;
      const double product = (d - h) * (d + h);
      double next = piece.c[kDegree - 1];
      double after = 0;
      for (int n = kDegree - 2; n >= 0; --n) {
        const double now = sum * next + (piece.c[n] - product * after);
        after = next;
        next = now;
      }
      result.difference = -next * at.width;
      result.difference_error = 7 * kUnitRoundoff * result.difference;
      return result;
    }
  }
  // Three sums: of the values, of the rests, and of both.
  const double values = left.high - right.high;
  const double rests = left.rest - right.rest;
  result.difference = values + rests;
  result.difference_error =
      left.error + right.error +
      1.01 * kUnitRoundoff * (std::abs(values) + std::abs(rests) + std::abs(result.difference));
  return result;
}

}  // namespace epsledger::accounting
