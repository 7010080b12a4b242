#ifndef EPSLEDGER_SERVER_CORE_CAP_H_
#define EPSLEDGER_SERVER_CORE_CAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/filter/filter.h"

namespace epsledger::core {

// What a cap counts, and how much of it the cap allows. Tags are stored: never renumber.
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

// The trade-off curve max f_{epsilon, delta} over the points. The cap admits one DECLARED plan that
// is (epsilon, delta)-DP at every point.
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

// No cap and no promise: every charge is accepted, and the budget's epsilon is infinite.
struct NoGuaranteeCap {
  static constexpr uint8_t kTag = 7;
  template <class S, class V>
  static void Fields(S&, V&&) {}
};

// `count` units of a reference event. The guarantee is a curve, slightly above that of `count` uses
// of the event (accounting::Reference).
struct UnitsCap {
  static constexpr uint8_t kTag = 8;
  accounting::NestedEvent reference;
  int64_t count = 0;
  // The smallest delta of the curve.
  double delta = 0;
  // Points of the curve at `delta` and at larger deltas, computed once when the budget is created.
  // Epsilons rise and deltas fall.
  std::vector<TradeOffCurveCap::Point> guarantee;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("reference", s.reference);
    v("count", s.count);
    v("delta", s.delta);
    v("guarantee", s.guarantee);
  }
};

using Cap = std::variant<PureEpsilonCap, ApproximateDpCap, ZcdpCap, GaussianDpCap, RenyiCap,
                         TradeOffCurveCap, NoGuaranteeCap, UnitsCap>;

// Returns the filter that keeps `cap`. INVALID_ARGUMENT names the field below `path`
// ("budget.cap.approximateDp.epsilon: got 0, want in (0, inf)"); FAILED_PRECONDITION if the
// filter would leave no room at all.
absl::StatusOr<accounting::Filter> FilterFor(const Cap& cap, const std::string& path);

// Returns the cap that a filter of `rule` keeps: `cap` itself, or a cap that is larger by the
// tolerance, rounded up.
Cap KeptCap(const Cap& cap, accounting::FilterRule rule);

// Returns the points of a cap whose promise is a curve; nullptr for other caps.
const std::vector<TradeOffCurveCap::Point>* CurveOf(const Cap& cap);

// Returns the (epsilon, delta) that a cap in units or a trade-off curve promises by itself at
// `delta` or below it: the first point of its curve there. Returns nothing for other caps, and
// below the curve.
std::optional<TradeOffCurveCap::Point> PointOf(const Cap& cap, double delta);

// Gives `to` the curve of `from` if both are caps in the same units; otherwise returns false.
bool TakeGuaranteeOf(const Cap& from, Cap* to);

// Gives `to` the filter of `from` if both are caps in (epsilon, delta); otherwise returns false.
bool TakeFilterOf(const Cap& from, Cap* to);

// Returns one line for people: "(1, 1e-05)-DP by renyi orders".
std::string Describe(const Cap& cap);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_CAP_H_
