#include "client/cli/flags/event_flags.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cpp/charging.h"
#include "client/cpp/mechanism_message.h"
#include "epsledger/mechanism.h"
#include "epsledger/rounded_number.h"
#include "proto/bridge/mechanism_convert.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::cli {

void EventFlags::AddTo(CLI::App& command) {
  const char* group = "Event (exactly one of --gaussian, --laplace, --pure-dp, --event)";
  AddEventTo(command, group);
  command.add_option("--count", count, "how many uses, in sequence")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
}

void EventFlags::AddEventTo(CLI::App& command, const std::string& group) {
  command.add_option("--gaussian", gaussian, "Gaussian noise of this noise multiplier")
      ->type_name("Z")
      ->group(group);
  command.add_option("--laplace", laplace, "Laplace noise of this noise multiplier")
      ->type_name("Z")
      ->group(group);
  command.add_option("--pure-dp", pure_dp, "any mechanism of this pure epsilon")
      ->type_name("EPSILON")
      ->group(group);
  command
      .add_option("--sampling-probability", sampling_probability,
                  "the event on a Poisson sample of the records")
      ->type_name("P")
      ->group(group);
  command
      .add_option("--event", json, "any event, as the proto3 JSON of epsledger.v1.MechanismEvent")
      ->type_name("JSON")
      ->group(group);
}

absl::StatusOr<v1::CountedEvent> EventFlags::ToMessage() const {
  const int given = int{gaussian.has_value()} + int{laplace.has_value()} +
                    int{pure_dp.has_value()} + int{!json.empty()};
  if (given != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("event: got ", given,
                     " of --gaussian, --laplace, --pure-dp and --event, want exactly one"));
  }
  std::optional<Mechanism> mechanism;
  if (gaussian.has_value()) mechanism = Mechanism::Gaussian(*gaussian);
  if (laplace.has_value()) mechanism = Mechanism::Laplace(*laplace);
  if (pure_dp.has_value()) mechanism = Mechanism::PureDp(*pure_dp);
  if (!json.empty()) {
    ASSIGN_OR_RETURN(Mechanism parsed, ReadEvent("--event", json));
    mechanism = std::move(parsed);
  }
  if (sampling_probability.has_value()) {
    mechanism = Mechanism::PoissonSampled(*sampling_probability, *mechanism);
  }
  v1::CountedEvent event;
  *event.mutable_event() = MechanismMessage::Of(*mechanism);
  event.set_count(count);
  return event;
}

absl::StatusOr<v1::CountedEvent> EventFlags::ToCheckedMessage() const {
  ASSIGN_OR_RETURN(v1::CountedEvent message, ToMessage());
  RETURN_IF_ERROR(bridge::FromProto(message.event(), "event").status());
  RETURN_IF_ERROR(ValidateCount(message.count()));
  return message;
}

absl::StatusOr<Mechanism> ReadEvent(absl::string_view flag, absl::string_view json) {
  const std::string text(json);
  absl::Status syntax = json_syntax::CheckObject(text, nullptr);
  if (!syntax.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": ", syntax.message()));
  }
  return Mechanism::FromJson(text);
}

std::string DescribeEvent(const v1::MechanismEvent& event) {
  if (event.has_gaussian()) {
    return absl::StrCat("gaussian ", ExactNumber(event.gaussian().noise_multiplier()));
  }
  if (event.has_laplace()) {
    return absl::StrCat("laplace ", ExactNumber(event.laplace().noise_multiplier()));
  }
  if (event.has_pure_dp()) {
    return absl::StrCat("pureDp ", ExactNumber(event.pure_dp().epsilon()));
  }
  if (event.has_poisson_sampled()) {
    return absl::StrCat("poissonSampled ",
                        ExactNumber(event.poisson_sampled().sampling_probability()), " of ",
                        DescribeEvent(event.poisson_sampled().event()));
  }
  return MechanismMessage::Wrap(event).ToJson();
}

std::string DescribeEvent(const v1::Charge& charge) {
  return charge.has_event() || charge.event_description().empty() ? DescribeEvent(charge.event())
                                                                  : charge.event_description();
}

}  // namespace epsledger::cli
