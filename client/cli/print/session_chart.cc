#include "client/cli/print/session_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cli/print/chart.h"
#include "epsledger/rounded_number.h"

namespace epsledger::cli {
namespace {

constexpr int kPoints = 40;

std::vector<double> Epsilons(const google::protobuf::RepeatedPtrField<v1::SeriesPoint>& points) {
  std::vector<double> epsilons;
  for (const v1::SeriesPoint& point : points) {
    epsilons.push_back(point.epsilon().has_upper() ? point.epsilon().upper()
                                                   : std::numeric_limits<double>::infinity());
  }
  return epsilons;
}

std::string DrawSeries(const v1::GetSessionSeriesResponse& series, double delta, bool unicode) {
  const std::vector<double> spent = Epsilons(series.points());
  const std::vector<double> ahead = Epsilons(series.ahead());
  double top = series.epsilon_cap();
  for (const std::vector<double>* epsilons : {&spent, &ahead}) {
    for (const double epsilon : *epsilons) {
      if (std::isfinite(epsilon)) top = std::max(top, epsilon);
    }
  }
  if (!(top > 0)) top = 1;
  std::string chart = absl::StrCat("epsilon  ", Sparkline(spent, top, unicode));
  if (!ahead.empty()) absl::StrAppend(&chart, "|", Sparkline(ahead, top, unicode));
  absl::StrAppend(&chart, "  ", RoundedNumber(spent.back(), Rounding::kUp), " at delta ",
                  ExactNumber(delta), " after ", series.steps(), " steps");
  if (!ahead.empty()) {
    absl::StrAppend(&chart, ", | ahead to ", RoundedNumber(ahead.back(), Rounding::kUp), " after ",
                    series.ahead(series.ahead_size() - 1).steps());
  }
  if (series.has_epsilon_cap()) {
    absl::StrAppend(&chart, "; cap ", RoundedNumber(series.epsilon_cap(), Rounding::kDown), " of ",
                    series.epsilon_cap_resource());
  }
  return chart;
}

}  // namespace

std::string SessionChart(Invocation& invocation, const v1::Session& session,
                         std::optional<double> delta) {
  if (session.step_count() == 0) return "";
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return absl::StrCat("no chart: ", connection.status().message());
  if (!delta.has_value()) {
    const absl::StatusOr<std::optional<double>> own = DeltaOfSession(**connection, session);
    if (!own.ok()) return absl::StrCat("no chart: ", own.status().message());
    if (!own->has_value()) return "";
    delta = *own;
  }
  v1::GetSessionSeriesRequest request;
  request.set_name(session.name());
  request.set_delta(*delta);
  request.set_point_count(kPoints);
  const absl::StatusOr<v1::GetSessionSeriesResponse> series =
      (*connection)
          ->Call((*connection)->sessions(), &v1::SessionService::StubInterface::GetSessionSeries,
                 request);
  if (!series.ok()) return absl::StrCat("no chart: ", series.status().message());
  if (series->points().empty()) return "";
  return DrawSeries(*series, *delta, invocation.terminal().unicode);
}

}  // namespace epsledger::cli
