#include "accounting/pld/contour_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "accounting/pld/chernoff.h"

namespace epsledger::accounting {
namespace {

constexpr int kLargestNodeCount = 1 << 17;
constexpr int kLargestPointCount = 1 << 18;

// The steps that build a line. Each returns false where the line does not pay.
class LineBuilder {
 public:
  LineBuilder(const std::vector<CountedPair>& pairs, Bounds mu, const ContourTarget& target,
              const ContourSearch& search)
      : pairs_(pairs),
        mu_(mu),
        target_(target),
        search_(search),
        parts_(static_cast<double>(pairs.size())),
        cells_(pairs.size() > 16 ? 64 : 128) {}

  std::unique_ptr<ContourLine> Build() {
    if (!ChooseTilt()) return nullptr;
    BoundAliases();
    AssumeMoments();
    if (!PlaceNodes()) return nullptr;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (!Evaluate(i)) return nullptr;
    }
    return std::move(line_);
  }

 private:
  bool ChooseTilt();
  void BoundAliases();
  void AssumeMoments();
  bool PlaceNodes();
  bool Evaluate(size_t i);
  // Returns an upper bound on the product of all |phi|, including that of the plain Gaussian, at
  // `frequency`.
  template <class BoundOf>
  double LogProduct(double frequency, BoundOf bound_of) const;

  const std::vector<CountedPair>& pairs_;
  const Bounds mu_;
  const ContourTarget& target_;
  const ContourSearch& search_;
  const double parts_;
  const int cells_;
  std::unique_ptr<ContourLine> line_ = std::make_unique<ContourLine>();
  std::vector<FrequencyDecay> decays_;
  std::vector<double> assumed_;  // each log moment is at most this
  double log_wanted_ = 0;        // a node below e^log_wanted_ may be left out
};

// Chooses a tilt near the saddle that makes the period short. Away from the saddle rounding weighs
// more, by e^excess.
bool LineBuilder::ChooseTilt() {
  const double reach = -target_.log_delta - target_.log_share;
  constexpr double kRatio = 1.15;
  constexpr int kBelow = 9;
  constexpr int kAbove = 9;
  std::vector<double> orders;
  std::vector<double> exponents;
  for (int i = -kBelow; i <= kAbove; ++i) {
    orders.push_back(search_.saddle * std::pow(kRatio, i));
    exponents.push_back(search_.rough_moment(orders.back()) - orders.back() * target_.epsilon);
  }
  double least_cost = kInfinity;
  double period = kInfinity;
  for (size_t i = 0; i + 1 < orders.size(); ++i) {
    const double excess = exponents[i] - exponents[kBelow];
    for (size_t k = i + 1; k < orders.size(); ++k) {
      const double above =
          (exponents[k] + LogChernoffConstant(orders[k]) + reach) / (orders[k] - orders[i]);
      const double needed = std::max(reach / orders[i], above);
      const double cost = std::log(needed) + std::max(0.0, excess) / search_.patience;
      if (cost < least_cost) {
        least_cost = cost;
        period = needed;
        line_->tilt = orders[i];
        line_->order = orders[k];
      }
    }
  }
  if (!std::isfinite(period)) return false;
  line_->step = 2 * kPi / (1.05 * period);
  return true;
}

// Computes upper bounds on the moments that bound the aliases, to a total error of a thousandth.
void LineBuilder::BoundAliases() {
  for (const CountedPair& p : pairs_) {
    const double tolerance = std::clamp(1e-3 / (p.count * parts_), 1e-13, 1e-6);
    const TiltedLoss loss(p.pair, line_->order, 0, tolerance, kLargestPointCount);
    line_->log_order_moment.push_back(loss.valid() ? loss.log_moment() + loss.log_moment_error()
                                                   : kInfinity);
  }
}

// Assumes moments for placing the nodes. Evaluate replaces those that turn out too small.
void LineBuilder::AssumeMoments() {
  const double tilt = line_->tilt;
  double log_scale = 0.5 * tilt * (tilt + 1) * mu_.upper * mu_.upper;
  for (const CountedPair& p : pairs_) {
    const double rough = RoughLogMoment(p.pair, tilt);
    log_scale += p.count * rough;
    assumed_.push_back(rough + 1e-4);
    decays_.emplace_back(p.pair, tilt, assumed_.back(), cells_);
  }
  log_wanted_ = target_.log_delta + tilt * target_.epsilon - log_scale + target_.log_share;
}

template <class BoundOf>
double LineBuilder::LogProduct(double frequency, BoundOf bound_of) const {
  double log_product = -0.5 * mu_.lower * mu_.lower * frequency * frequency;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    log_product += pairs_[i].count * std::log(bound_of(decays_[i]));
  }
  return log_product;
}

bool LineBuilder::PlaceNodes() {
  // Half octaves of frequency, outward until the remainder is small enough.
  std::vector<double> starts;
  std::vector<double> log_bounds;  // on the product, in the half octave that begins there
  double start = 4 * line_->step;
  const auto log_of_tail = [](double log_bound, double from) {  // the integral of 1/y^2, first term
    return log_bound - std::log(from) + std::log(2.0);
  };
  for (int band = 0; band < 64; ++band, start *= std::sqrt(2.0)) {
    const double log_bound =
        LogProduct(start, [&](const FrequencyDecay& decay) { return decay.BoundNear(start); });
    // Bounds everything beyond, where this can be small or the bounds near `start` no longer fall.
    const bool at_end = !log_bounds.empty() && log_bound > log_bounds.back();
    double log_beyond = kInfinity;
    if (at_end || log_of_tail(log_bound, start) < log_wanted_ - 2) {
      log_beyond =
          LogProduct(start, [&](const FrequencyDecay& decay) { return decay.BoundBeyond(start); });
    }
    starts.push_back(start);
    log_bounds.push_back(std::min(log_bound, log_beyond));
    if (log_of_tail(log_beyond, start) < log_wanted_ - 2) break;
  }
  // Moves inward from the far end while the bands stay small.
  size_t first = starts.size() - 1;
  while (first > 0 && log_of_tail(log_bounds[first - 1], starts[first - 1]) <
                          log_wanted_ - 2 - std::log(static_cast<double>(starts.size()))) {
    --first;
  }
  const double last_node = std::ceil(starts[first] / line_->step);
  if (!(last_node < kLargestNodeCount)) return false;
  line_->count = static_cast<int>(last_node) + 1;
  // The kept bands begin where the nodes end.
  const double scale = line_->step * static_cast<double>(line_->count - 1) / starts[first];
  for (size_t i = first; i < starts.size(); ++i) line_->band_start.push_back(starts[i] * scale);
  return true;
}

// Turns phi - 1 at the nodes into log phi; returns the relative error of each phi.
std::vector<double> TakeLogarithms(const TiltedLoss& loss, double step,
                                   std::vector<std::complex<double>>& phi) {
  std::vector<double> errors;
  for (size_t k = 0; k < phi.size(); ++k) {
    std::complex<double>& value = phi[k];
    const double squared = 2 * value.real() + std::norm(value);  // |phi|^2 - 1
    const double size = std::sqrt(std::max(0.0, 1 + squared));
    const double error = loss.Error(step * static_cast<double>(k));
    if (error < 0.5 * size) {
      errors.push_back(error / (size - error));
      value = std::complex(0.5 * std::log1p(squared), std::atan2(value.imag(), 1 + value.real()));
    } else {
      errors.push_back(kInfinity);
      value = std::complex(std::log(size + error), 0.0);
    }
  }
  return errors;
}

bool LineBuilder::Evaluate(size_t i) {
  const CountedPair& p = pairs_[i];
  const double top = line_->step * static_cast<double>(line_->count - 1);
  // The error of each node is this times the count; the weights of the nodes sum to about 1 / tilt.
  const double tolerance =
      std::clamp(0.1 * line_->tilt * std::exp(log_wanted_) / p.count / parts_, 1e-25, 1e-9);
  const double most = std::min<double>(kLargestPointCount, search_.work / line_->count);
  const TiltedLoss loss(p.pair, line_->tilt, top, tolerance, static_cast<int>(most));
  if (!loss.valid() || static_cast<double>(loss.size()) > most) return false;
  line_->log_moment.push_back(
      {loss.log_moment() - loss.log_moment_error(), loss.log_moment() + loss.log_moment_error()});
  auto phi = loss.CharacteristicFunctionMinusOne(line_->step, line_->count);
  line_->relative_error.push_back(TakeLogarithms(loss, line_->step, phi));
  line_->log_phi.push_back(std::move(phi));
  // Computes the decay again with the certified moment.
  const double certified = line_->log_moment.back().upper;
  if (certified > assumed_[i]) {
    decays_[i] = FrequencyDecay(p.pair, line_->tilt, certified, cells_);
  }
  std::vector<double> logs;
  for (size_t b = 0; b < line_->band_start.size(); ++b) {
    const double beyond = decays_[i].BoundBeyond(line_->band_start[b]);
    const bool last = b + 1 == line_->band_start.size();
    logs.push_back(
        std::log(last ? beyond : std::min(beyond, decays_[i].BoundNear(line_->band_start[b]))));
  }
  line_->log_decay.push_back(std::move(logs));
  return true;
}

}  // namespace

std::unique_ptr<ContourLine> BuildContourLine(const std::vector<CountedPair>& pairs, Bounds mu,
                                              const ContourTarget& target,
                                              const ContourSearch& search) {
  return LineBuilder(pairs, mu, target, search).Build();
}

}  // namespace epsledger::accounting
