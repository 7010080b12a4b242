#ifndef EPSLEDGER_SERVER_CORE_CAP_H_
#define EPSLEDGER_SERVER_CORE_CAP_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/filter/filter.h"

namespace epsledger::core {

// What a cap counts and how much of it there is. Tags are stored: never renumber.
struct PureEpsilonCap {
  static constexpr uint8_t kTag = 1;
  double epsilon = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

struct ApproximateDpCap {
  static constexpr uint8_t kTag = 2;
  double epsilon = 0;
  double delta = 0;
  accounting::ApproximateDpFilter filter = accounting::ApproximateDpFilter::kRenyiOrders;
  // With kRenyiOneOrder; otherwise 0.
  double order = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
    v("delta", s.delta);
    v("filter", s.filter);
    v("order", s.order);
  }
};

struct ZcdpCap {
  static constexpr uint8_t kTag = 3;
  double rho = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("rho", s.rho);
  }
};

struct GaussianDpCap {
  static constexpr uint8_t kTag = 4;
  double mu = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("mu", s.mu);
  }
};

struct RenyiCap {
  static constexpr uint8_t kTag = 5;
  double order = 0;
  double divergence = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("order", s.order);
    v("divergence", s.divergence);
  }
};

// The trade-off curve max f_{epsilon, delta} over the points. One DECLARED plan that is
// (epsilon, delta)-DP at every point meets it.
struct TradeOffCurveCap {
  static constexpr uint8_t kTag = 6;
  struct Point {
    double epsilon = 0;
    double delta = 0;
    template <class S, class V>
    static void Fields(S& s, V&& v) {
      v("epsilon", s.epsilon);
      v("delta", s.delta);
    }
  };
  std::vector<Point> points;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("points", s.points);
  }
};

// No cap and no promise: everything is charged, and the budget's epsilon is infinite.
struct NoGuaranteeCap {
  static constexpr uint8_t kTag = 7;
  template <class S, class V>
  static void Fields(S&, V&&) {}
};

using Cap = std::variant<PureEpsilonCap, ApproximateDpCap, ZcdpCap, GaussianDpCap, RenyiCap,
                         TradeOffCurveCap, NoGuaranteeCap>;

// Returns the filter that keeps `cap`. INVALID_ARGUMENT names the field below `path`
// ("budget.cap.approximateDp.epsilon: got 0, want in (0, inf)"); FAILED_PRECONDITION if the
// filter would leave no room at all.
absl::StatusOr<accounting::Filter> FilterFor(const Cap& cap, const std::string& path);

// The cap that a filter of `rule` keeps: `cap` itself, or one that is larger by the tolerance,
// rounded up.
Cap KeptCap(const Cap& cap, accounting::FilterRule rule);

// Gives `to` the filter of `from`, if both are caps in (epsilon, delta); otherwise false.
bool TakeFilterOf(const Cap& from, Cap* to);

// One line for people: "(1, 1e-05)-DP by renyi orders".
std::string Describe(const Cap& cap);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_CAP_H_
