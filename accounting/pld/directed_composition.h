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

// The composition of profiles in one direction, as a privacy loss distribution on a lattice that
// follows the question: extent, tilt and step are chosen for the (epsilon, delta) that is asked
// about, and the step is refined until the bracket is as narrow as wanted or the points or the work
// run out.
// What was built for one question serves the next one where it is good enough.
//
// Bounds hold whatever the lattice; a bad choice only widens them. Not safe to share between
// threads.
class DirectedComposition {
 public:
  // REQUIRES: counts >= 1. `contour`, if given, is the same composition, its first pairs being the
  // first profiles; it answers where it can and the lattice where it cannot.
  explicit DirectedComposition(std::vector<CountedProfile> profiles,
                               std::optional<ContourComposition> contour = std::nullopt);
  ~DirectedComposition();
  DirectedComposition(DirectedComposition&&) noexcept;
  DirectedComposition& operator=(DirectedComposition&&) noexcept;

  // `more` further uses of profile `index`. Keeps what has been built.
  void Add(size_t index, double more);

  // Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta. log_delta in [-inf, 0];
  // below about -660, where doubles end, the upper one is the sum of the largest losses, if finite.
  Bounds Epsilon(double log_delta, const Precision& precision);
  // Bounds on log delta(epsilon), epsilon finite.
  Bounds LogDelta(double epsilon, const Precision& precision);

  // No loss is larger; +inf where there is no bound or a mass at infinity. The second leaves that
  // mass out.
  double SumOfLargestLosses() const;
  double SumOfFiniteLosses() const;

  // What was spent so far, as Precision::max_work counts it.
  double work() const { return work_; }

  // The order of the moment that bounded the last answer best.
  double saddle() const { return level_ == nullptr && contour_ ? contour_->saddle() : saddle_; }

 private:
  struct Level;
  struct Aim;
  struct Line;
  // The losses that matter: the ranges of one use, and the work of all at an interval of 1.
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
  // Returns the smallest value of the objective and leaves its place in saddle_.
  double Saddle(absl::FunctionRef<double(double order)> objective);
  Aim AimAtDelta(double log_delta);
  Aim AimAtEpsilon(double epsilon);
  Line ChooseLine(const Aim& aim, const Precision& precision) const;
  double LogMomentAt(double order) const;

  std::vector<CountedProfile> profiles_;
  std::optional<ContourComposition> contour_;
  std::unique_ptr<Level> level_;
  double saddle_ = 2;
  double last_epsilon_ = 0;
  double work_ = 0;
  int contour_failures_ = 0;  // of the last questions for a delta, in a row
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_DIRECTED_COMPOSITION_H_
