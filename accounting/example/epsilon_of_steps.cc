// epsilon-of-steps NOISE_MULTIPLIER SAMPLING_PROBABILITY COUNT DELTA: prints an epsilon for which
// COUNT steps of DP-SGD are (epsilon, delta)-DP under add-or-remove-one, and the theorem that
// proves it.

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <limits>

#include "accounting/answer.h"

namespace accounting = epsledger::accounting;

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: epsilon-of-steps NOISE_MULTIPLIER SAMPLING_PROBABILITY COUNT DELTA\n";
    return 2;
  }
  const accounting::MechanismEvent step(accounting::PoissonSampled{
      .sampling_probability = std::strtod(argv[2], nullptr),
      .event = accounting::MechanismEvent(
          accounting::Gaussian{.noise_multiplier = std::strtod(argv[1], nullptr)})});
  accounting::Question question;
  question.events = {{.event = step, .count = std::strtoll(argv[3], nullptr, 10)}};
  question.query = accounting::EpsilonAtDelta::FromDelta(std::strtod(argv[4], nullptr));

  const absl::StatusOr<accounting::Guarantee> answer = accounting::Answer(question);
  if (!answer.ok()) {
    std::cerr << answer.status().message() << "\n";
    return 1;
  }
  // Prints all digits: fewer digits could round an upper bound down.
  std::cout << std::setprecision(std::numeric_limits<double>::max_digits10) << answer->upper.value()
            << "\n"
            << answer->theorem << "\n";
  return 0;
}
