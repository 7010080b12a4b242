#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_DESCENT_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_DESCENT_H_

#include <Eigen/Core>
#include <deque>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// What all modes share: where training stands, when it stops, what it reports. A mode is a loop
//
//   while (descent.Continues()) {
//     gradient = descent.ReleaseGradient(release);   // nothing: training has ended
//     ... a step size ...
//     descent.MoveTo(point);
//   }
//
// Invariant: the state is a function of the options, of what ReleaseGradient returned and of the
// arguments of MoveTo. The records are read by ReleaseGradient and DrawBatch alone.
class Descent {
 public:
  // REQUIRES: ValidateTraining(options, loss.feature_count()).ok(). All three outlive it.
  Descent(const LinearLoss& loss, const TrainingOptions& options, const StepObserver& observer);

  // Neither stopped nor at the step limit.
  bool Continues() const;

  const Eigen::VectorXd& theta() const { return state_.theta; }
  const TrainingState& state() const { return state_; }

  // The records of the next sum: a fresh Poisson batch; nullopt means all of them.
  absl::StatusOr<std::optional<Batch>> DrawBatch() const;

  // Returns the private gradient at theta() divided by the public expected count, or nothing after
  // a refusal or a failure, which ended training.
  std::optional<Eigen::VectorXd> ReleaseGradient(GradientRelease& release);

  // Releases `exact_sum`, counted as one more release; nothing if that ended training.
  std::optional<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double contribution,
                                         GradientRelease& release);

  // The step of options.steps for this released gradient: `first`, or Barzilai and Borwein's of the
  // last two iterates and the last two released gradients.
  double StepSize(const Eigen::VectorXd& gradient) const;

  // The proximal step from theta().
  Eigen::VectorXd ProxStep(double step_size, const Eigen::VectorXd& gradient) const;

  struct Point {
    double step_size;
    const Eigen::VectorXd& gradient;  // released
    Eigen::VectorXd theta;
    int backtracks = 0;
  };
  // Completes a step and reports it; an iterate that is not finite ends training instead.
  void MoveTo(Point point);

  // Ends training: FAILED_PRECONDITION is a refusal, anything else a failure.
  void Stop(const absl::Status& status);

  // What sums are divided by.
  double expected_count() const;

  TrainingResult Result() const;

 private:
  // How far the average moves to the iterate of this step, in (0, 1].
  double AveragingWeight() const;
  bool MeetsTolerance(double residual);

  const LinearLoss& loss_;
  const TrainingOptions& options_;
  const StepObserver& observer_;
  TrainingState state_;
  std::deque<double> residuals_;
  std::optional<StopReason> stop_reason_;
  absl::Status release_status_;
  int releases_ = 0;
};

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_DESCENT_H_
