#ifndef EPSLEDGER_ACCOUNTING_PLD_DIRECTED_COMPOSITION_H_
#define EPSLEDGER_ACCOUNTING_PLD_DIRECTED_COMPOSITION_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "accounting/numeric/bounds.h"
#include "accounting/pld/contour_composition.h"
#include "accounting/pld/precision.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// `count` uses of a mechanism with this profile.
struct CountedProfile {
  std::shared_ptr<const PrivacyProfile> profile;
  double count = 0;
};

// The composition of profiles in one direction, as a privacy loss distribution on a lattice that is
// chosen for the question: extent, tilt and step follow the (epsilon, delta) in question, and the
// step is refined until the bracket is as narrow as wanted or the points or the work run out. The
// lattice of one question is reused for the next one where it is good enough.
//
// Bounds hold whatever the lattice; a bad choice only widens them. Not safe to share between
// threads.
class DirectedComposition {
 public:
  // REQUIRES: counts >= 1. `contour`, if given, is the same composition; its pairs are the first
  // profiles, in the same order. It answers where it can, the lattice elsewhere.
  explicit DirectedComposition(std::vector<CountedProfile> profiles,
                               std::optional<ContourComposition> contour = std::nullopt);
  ~DirectedComposition();
  DirectedComposition(DirectedComposition&&) noexcept;
  DirectedComposition& operator=(DirectedComposition&&) noexcept;

  // Adds `more` further uses of profile `index`. Keeps earlier results.
  void Add(size_t index, double more);

  // Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta. log_delta in [-inf, 0];
  // below about -660, where doubles end, the upper one is the sum of the largest losses, if finite.
  Bounds Epsilon(double log_delta, const Precision& precision);
  // Bounds on log delta(epsilon), epsilon finite.
  Bounds LogDelta(double epsilon, const Precision& precision);

  // No loss is larger than SumOfLargestLosses(); +inf if no bound exists or there is a mass at
  // infinity. SumOfFiniteLosses() ignores that mass.
  double SumOfLargestLosses() const;
  double SumOfFiniteLosses() const;

  // The work so far, as Precision::max_work counts it.
  double work() const { return work_; }

  // The order of the moment that gave the best bound for the last answer.
  double saddle() const { return level_ == nullptr && contour_ ? contour_->saddle() : saddle_; }

 private:
  struct Level;
  struct Aim;
  struct Line;
  // The relevant losses: the ranges of one use, and the work of all profiles at an interval of 1.
  struct Extent {
    double narrowest;
    double widest;
    double work;
  };

  void BuildLevel(double interval, double log_tail);
  // True if the points ran out.
  bool BuildSpectrum(const Aim& aim, const Precision& precision);
  void Recompose();
  double LogTailOf(const CountedProfile& p, double log_tail) const;
  double IntervalNear(double interval) const;
  double InitialInterval(const Extent& extent) const;
  Extent ExtentOf(double log_tail) const;
  double Allowed(const Precision& precision) const;
  double SmallestInterval(const Extent& extent, const Precision& precision, double work) const;
  double NextInterval(double too_wide, bool resolved) const;
  // Returns the smallest value of the objective and stores its position in saddle_.
  double Saddle(absl::FunctionRef<double(double order)> objective);
  Aim AimAtDelta(double log_delta);
  Aim AimAtEpsilon(double epsilon);
  Line ChooseLine(const Aim& aim, const Precision& precision) const;
  double LogMomentAt(double order) const;

  std::vector<CountedProfile> profiles_;
  std::optional<ContourComposition> contour_;
  std::unique_ptr<Level> level_;
  // Some profile is known from above only: the bracket never closes, and refining ends where the
  // upper bound has settled.
  bool one_sided_ = false;
  double saddle_ = 2;
  double last_epsilon_ = 0;
  double work_ = 0;
  int contour_failures_ = 0;  // consecutive, of the last questions for a delta
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_DIRECTED_COMPOSITION_H_
