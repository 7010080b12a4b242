#include "client/cli/commands/cap_calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/print/progress.h"
#include "client/cpp/refusal_message.h"
#include "epsledger/refusal.h"

namespace epsledger::cli {
namespace {

// The answer is at most this share away from the edge.
constexpr double kWidth = 5e-4;

// Returns how many single charges fit at x, more for a larger x; nullopt if the call failed.
using StepsAt = absl::FunctionRef<std::optional<int64_t>(double x)>;

// Returns the smallest x found in [low, high] with steps_at(x) >= count. `high` must be known to
// fit. Interpolates between the logarithms, and halves every third time.
std::optional<double> SmallestThatFits(int64_t count, double low, int64_t steps_at_low, double high,
                                       int64_t steps_at_high, StepsAt steps_at) {
  const auto height = [count](int64_t steps) {
    return std::log((static_cast<double>(steps) + 0.5) / static_cast<double>(count));
  };
  double below = height(steps_at_low);
  double above = height(steps_at_high);
  for (int round = 0; high > low * (1 + kWidth); ++round) {
    const double width = std::log(high / low);
    double share = round % 3 == 2 || !(above > below) ? 0.5 : -below / (above - below);
    // Aims beside the edge, on the side that fits, so that both ends come nearer.
    share = std::clamp(share + 0.3 * kWidth / width, 0.02, 0.98);
    const double x = low * std::exp(share * width);
    const std::optional<int64_t> steps = steps_at(x);
    if (!steps.has_value()) return std::nullopt;
    if (*steps >= count) {
      high = x;
      above = height(*steps);
    } else {
      low = x;
      below = height(*steps);
    }
  }
  return high;
}

// Doubles or halves x from `start` to both sides of the edge, and then searches between them.
std::optional<double> Search(int64_t count, double start, double least, double most,
                             StepsAt steps_at, absl::FunctionRef<void()> none_fits) {
  double x = start;
  std::optional<int64_t> steps = steps_at(x);
  if (!steps.has_value()) return std::nullopt;
  const bool fits = *steps >= count;
  while (true) {
    const double next = fits ? std::max(least, x / 2) : std::min(most, x * 2);
    if (next == x) {
      if (fits) return x;
      none_fits();
      return std::nullopt;
    }
    const std::optional<int64_t> steps_at_next = steps_at(next);
    if (!steps_at_next.has_value()) return std::nullopt;
    if ((*steps_at_next >= count) != fits) {
      return fits ? SmallestThatFits(count, next, *steps_at_next, x, *steps, steps_at)
                  : SmallestThatFits(count, x, *steps, next, *steps_at_next, steps_at);
    }
    x = next;
    steps = steps_at_next;
  }
}

}  // namespace

void CalibrateAgainstCap(Invocation& invocation, const std::string& budget,
                         const std::string& session, const EventFlags& flags, Sought sought) {
  if (!flags.json.empty() || flags.pure_dp.has_value()) {
    return invocation.FailOffline(absl::InvalidArgumentError(
        "calibrate: with --budget or --session the event is --gaussian or --laplace, sampled or "
        "not"));
  }
  if (sought == Sought::kSamplingProbability && !flags.sampling_probability.has_value()) {
    return invocation.FailOffline(
        absl::InternalError("calibrate: the sampling probability is not sought"));
  }
  v1::PreviewChargeRequest request;
  request.set_budget(budget);
  request.set_session(session);
  request.set_expects_event(!budget.empty());
  request.set_count(flags.count);
  std::unique_ptr<v1::PreviewChargeResponse> preview;
  const auto ask = [&](const EventFlags& event) -> std::optional<int64_t> {
    const absl::StatusOr<v1::CountedEvent> message = event.ToMessage();
    if (!message.ok()) {
      invocation.Fail(message.status(), CallKind::kRead);
      return std::nullopt;
    }
    *request.mutable_event() = message->event();
    preview =
        invocation.Call(&Connection::charges, &v1::ChargeService::StubInterface::PreviewCharge,
                        request, CallKind::kRead);
    if (preview == nullptr) return std::nullopt;
    switch (preview->refusal().reason()) {
      case v1::Refusal::BUDGET_FROZEN:
      case v1::Refusal::CLOSED:
      case v1::Refusal::POLICY_VIOLATION:
      case v1::Refusal::BUDGET_SUPERSEDED:
        invocation.set_exit_code(ExitCode::kRefused);
        invocation.Tell(
            absl::StrCat("would be ", RefusalText(FromMessage(preview->refusal(), ""))));
        return std::nullopt;
      default:
        return preview->steps_that_fit();
    }
  };
  const auto none_fits = [&] {
    invocation.set_exit_code(ExitCode::kRefused);
    std::string text =
        absl::StrCat(flags.count, " steps do not fit, however little each spends: only ",
                     preview->steps_that_fit(), " fit.");
    if (preview->has_refusal()) {
      absl::StrAppend(&text, " ", RefusalText(FromMessage(preview->refusal(), "")));
    } else {
      absl::StrAppend(&text, " A step that is charged alone costs at least one unit.");
    }
    invocation.Tell(text);
  };
  EventFlags event = flags;
  std::optional<double> answer;
  {
    const Progress progress(invocation.terminal(), "searching for what fits the caps");
    switch (sought) {
      case Sought::kCount: {
        const std::optional<int64_t> steps = ask(event);
        if (steps.has_value()) answer = static_cast<double>(*steps);
        break;
      }
      case Sought::kNoiseMultiplier:
        answer = Search(
            flags.count, 1, 0x1p-10, 0x1p20,
            [&](double noise) {
              (event.laplace.has_value() ? event.laplace : event.gaussian) = noise;
              return ask(event);
            },
            none_fits);
        break;
      case Sought::kSamplingProbability:
        answer = Search(
            flags.count, 64, 1, 0x1p40,
            [&](double inverse) {
              event.sampling_probability = 1 / inverse;
              return ask(event);
            },
            none_fits);
        if (answer.has_value()) answer = 1 / *answer;
        break;
    }
  }
  if (!answer.has_value()) return;
  if (sought == Sought::kCount) {
    Table table({"count", "of"});
    table.AddRow({static_cast<int64_t>(*answer), budget.empty() ? session : budget});
    return invocation.Print({.table = std::move(table)});
  }
  Table table({sought == Sought::kNoiseMultiplier ? "noise multiplier" : "sampling probability",
               "steps", "of"});
  table.AddRow(
      {TableCell(*answer, sought == Sought::kNoiseMultiplier ? Rounding::kUp : Rounding::kDown),
       flags.count, budget.empty() ? session : budget});
  invocation.Print({.table = std::move(table)});
}

}  // namespace epsledger::cli
