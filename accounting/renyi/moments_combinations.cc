#include "accounting/renyi/moments_combinations.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"
#include "accounting/renyi/sampled_gaussian.h"

namespace epsledger::accounting {
namespace {

constexpr char kWhatIsKnown[] =
    "it combines poissonSampled Gaussians of one sampling probability and one count, the releases "
    "of a step on one sample";

// 1 / z^2 of `count` releases, rounded up.
double Precision(double noise_multiplier, double count) {
  return RoundUp(count / noise_multiplier / noise_multiplier, 3);
}

double NoiseMultiplier(double precision) {
  return RoundDownNonNegative(1 / std::sqrt(precision), 4);
}

}  // namespace

absl::StatusOr<CombinedMoments> CombinedMoments::Create(const std::vector<Use>& uses,
                                                        const Setting& setting,
                                                        Accountant accountant) {
  return Create(uses, setting,
                accountant == Accountant::kMomentsAsPublished ? MomentsCombination::kAsPublished
                                                              : MomentsCombination::kHolder,
                accountant);
}

absl::StatusOr<CombinedMoments> CombinedMoments::Create(const std::vector<Use>& uses,
                                                        const Setting& setting,
                                                        MomentsCombination combination,
                                                        Accountant asked_by) {
  CombinedMoments moments;
  moments.combination_ = combination;
  double total_precision = 0;
  for (const Use& use : uses) {
    const auto* sampled = use.event->As<PoissonSampled>();
    if (sampled == nullptr) return UnknownEvent(asked_by, *use.event, kWhatIsKnown);
    if (setting.relation == NeighboringRelation::kReplaceOne) {
      return UnknownEvent(asked_by, *use.event,
                          "its combination is stated for one record added or removed");
    }
    if (moments.releases_.empty()) {
      moments.sampling_probability_ = sampled->sampling_probability;
      moments.steps_ = use.count;
    } else if (sampled->sampling_probability != moments.sampling_probability_) {
      return UnknownEvent(asked_by, *use.event,
                          "releases on one sample have one sampling probability, and these differ");
    } else if (use.count != moments.steps_) {
      return UnknownEvent(asked_by, *use.event,
                          "the releases of one step are repeated equally often, and these counts "
                          "differ");
    }
    Release release{{}, 0, 0};
    double precision = 0;
    for (const Use& row : Flatten(*sampled->event)) {
      const auto* gaussian = row.event->As<Gaussian>();
      if (gaussian == nullptr) return UnknownEvent(asked_by, *use.event, kWhatIsKnown);
      const double z = gaussian->noise_multiplier;  // the shift is 1 here
      release.rows.push_back(Rows{z, row.count});
      release.row_count += row.count;
      precision = RoundUp(precision + Precision(z, row.count));
    }
    const bool one_row = release.rows.size() == 1 && release.row_count == 1;
    release.joint_noise_multiplier =
        one_row ? release.rows[0].noise_multiplier : NoiseMultiplier(precision);
    total_precision = RoundUp(total_precision + precision);
    moments.releases_.push_back(std::move(release));
  }
  moments.joint_noise_multiplier_ = moments.releases_.size() == 1
                                        ? moments.releases_[0].joint_noise_multiplier
                                        : NoiseMultiplier(total_precision);
  return moments;
}

double CombinedMoments::OneRelease(const Release& release, double moment, double xi) const {
  const auto divergence = [&](double noise_multiplier, double factor) {
    if (!(noise_multiplier > 0)) return kInfinity;
    const double order = RoundUp(1 + RoundUp(moment * factor, 3));
    return SampledGaussianRemoveRenyi(SampledGaussian{sampling_probability_, noise_multiplier},
                                      order);
  };
  if (combination_ == MomentsCombination::kHolder) {
    return divergence(release.joint_noise_multiplier, 1 / xi);
  }
  const double d = release.row_count;
  const double factor = combination_ == MomentsCombination::kAsPublished ? 1 / (d * xi) : d / xi;
  double sum = 0;
  for (const Rows& rows : release.rows) {
    sum = RoundUp(sum + RoundUp(rows.count * divergence(rows.noise_multiplier, factor)));
  }
  return sum;
}

double CombinedMoments::BestPair(const Release& first, const Release& second, double moment,
                                 double start) const {
  // Any 0 < xi < 1 is a valid choice; log(xi / (1 - xi)) is searched. The second part is rounded
  // down, so that the two do not add up to more than 1.
  const auto part = [](double log_odds) { return 1 / (1 + std::exp(-log_odds)); };
  const auto value = [&](double log_odds) {
    const double x = part(log_odds);
    return RoundUp(OneRelease(first, moment, x) + OneRelease(second, moment, RoundDown(1 - x, 2)));
  };
  return MinimizeFrom(value, std::log(start / (1 - start)), 0.3, -20, 20, 1e-4, 16).value;
}

double CombinedMoments::Divergence(double order) const {
  if (releases_.empty()) return 0;
  if (!(order > 1) || !(steps_ < kInfinity)) return kInfinity;
  const double moment = RoundUp(order - 1);
  // If a release counts as c_i l (l + 1), sum c_i / xi_i is smallest at xi_i ~ sqrt(c_i).
  double total = 0;
  for (const Release& release : releases_) total += 1 / release.joint_noise_multiplier;
  const auto share = [&](const Release& release) {
    return RoundDown(1 / release.joint_noise_multiplier / total, 4 + releases_.size());
  };
  double sum = 0;
  const bool two = releases_.size() == 2;
  if (two && releases_[0].joint_noise_multiplier != releases_[1].joint_noise_multiplier) {
    sum = BestPair(releases_[0], releases_[1], moment, share(releases_[0]));
  } else {
    for (const Release& release : releases_) {
      const double xi = releases_.size() == 1 ? 1 : share(release);
      sum = RoundUp(sum + OneRelease(release, moment, xi));
    }
  }
  if (proved()) {
    // One sample, independent noise: a rotation makes the step one sampled Gaussian release.
    const double joint =
        joint_noise_multiplier_ > 0
            ? SampledGaussianRemoveRenyi(
                  SampledGaussian{sampling_probability_, joint_noise_multiplier_}, order)
            : kInfinity;
    sum = std::max(sum, joint);
  }
  const double all = RoundUp(steps_ * sum);
  return std::isnan(all) ? kInfinity : all;
}

}  // namespace epsledger::accounting
