#include "client/trainers/network/clipping.h"

#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers::network {
namespace {

constexpr double kSmallestClipNorm = 1e-30;
constexpr double kLargestClipNorm = 1e30;

template <class T>
T ClipFactor(double squared_norm, double clip_norm) {
  constexpr double kMargin = 4.0 * std::numeric_limits<T>::epsilon();  // 8 unit roundoffs
  if (!std::isfinite(squared_norm)) return 0;
  const double largest = clip_norm * (1 - kMargin);
  const double norm = std::sqrt(squared_norm);
  if (norm <= largest) return 1;
  const double factor = largest / norm;
  return factor < std::numeric_limits<T>::min() ? T{0} : static_cast<T>(factor);
}

}  // namespace

template <class T>
absl::StatusOr<Vector<T>> ClipFactors(const Eigen::ArrayXd& squared_norms, double clip_norm) {
  if (!(clip_norm >= kSmallestClipNorm && clip_norm <= kLargestClipNorm)) {
    return absl::InvalidArgumentError(absl::StrCat("clip_norm: got ", clip_norm,
                                                   ", want a number in [", kSmallestClipNorm, ", ",
                                                   kLargestClipNorm, "]"));
  }
  Vector<T> factors(squared_norms.size());
  for (Eigen::Index i = 0; i < factors.size(); ++i) {
    factors[i] = ClipFactor<T>(squared_norms[i], clip_norm);
  }
  return factors;
}

template absl::StatusOr<Vector<float>> ClipFactors<float>(const Eigen::ArrayXd&, double);
template absl::StatusOr<Vector<double>> ClipFactors<double>(const Eigen::ArrayXd&, double);

}  // namespace epsledger::trainers::network
