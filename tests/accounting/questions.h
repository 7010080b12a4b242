#ifndef EPSLEDGER_TESTS_ACCOUNTING_QUESTIONS_H_
#define EPSLEDGER_TESTS_ACCOUNTING_QUESTIONS_H_

// Short forms of questions for the tests of Answer.

#include <utility>
#include <vector>

#include "accounting/question.h"

namespace epsledger::accounting {

inline MechanismEvent SampledGaussianEvent(double sampling_probability, double noise_multiplier) {
  return PoissonSampled{sampling_probability, MechanismEvent(Gaussian{noise_multiplier})};
}

inline Question Ask(Accountant accountant, std::vector<CountedEvent> events, Query query) {
  Question question;
  question.accountant = accountant;
  question.events = std::move(events);
  question.query = std::move(query);
  return question;
}

inline Question AskEpsilon(Accountant accountant, MechanismEvent event, int64_t count,
                           double delta) {
  return Ask(accountant, {{std::move(event), count}}, EpsilonAtDelta::FromDelta(delta));
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_QUESTIONS_H_
