#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_SPECIAL_VALUES_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_SPECIAL_VALUES_H_

#include <limits>

#include <rapidcheck.h>

namespace epsledger::trainers::istdp {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A whole number of thousandths in [smallest, largest].
inline rc::Gen<double> Thousandths(int smallest, int largest) {
  return rc::gen::map(rc::gen::inRange(smallest, largest + 1),
                      [](int value) { return value / 1000.0; });
}

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_SPECIAL_VALUES_H_
