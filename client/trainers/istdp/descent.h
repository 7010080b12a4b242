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

// What all modes share: the state of training, the stopping rule and the reports. A mode is a loop
//
//   while (descent.Continues()) {
//     gradient = descent.ReleaseGradient(release);   // nullopt: training has ended
//     ... a step size ...
//     descent.MoveTo(point);
//   }
//
// Invariant: the state is a function of the options, of what ReleaseGradient returned and of the
// arguments of MoveTo. Only ReleaseGradient and DrawBatch read the records.
class Descent {
 public:
  // REQUIRES: ValidateTraining(options, loss.feature_count()).ok(). All three must outlive this
  // object.
  Descent(const LinearLoss& loss, const TrainingOptions& options, const StepObserver& observer);

  // Returns true if training has neither stopped nor reached the step limit.
  bool Continues() const;

  const Eigen::VectorXd& theta() const { return state_.theta; }
  const TrainingState& state() const { return state_; }

  // Returns the records of the next sum: a fresh Poisson batch, or nullopt for all records.
  absl::StatusOr<std::optional<Batch>> DrawBatch() const;

  // Returns the private gradient at theta() divided by the public expected count, or nullopt after
  // a refusal or a failure, which ends training.
  std::optional<Eigen::VectorXd> ReleaseGradient(GradientRelease& release);

  // Releases `exact_sum`, counted as one more release; nullopt if that ended training.
  std::optional<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double contribution,
                                         GradientRelease& release);

  // Returns the step of options.steps for this released gradient: `first`, or the Barzilai-Borwein
  // step of the last two iterates and the last two released gradients.
  double StepSize(const Eigen::VectorXd& gradient) const;

  // Returns the proximal step from theta().
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

  // The public number that sums are divided by.
  double expected_count() const;

  TrainingResult Result() const;

 private:
  // Returns how far the average moves toward the iterate of this step, in (0, 1].
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
