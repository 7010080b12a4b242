#include "epsledger/mechanism.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/mechanism_message.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger {

Mechanism MechanismMessage::Wrap(v1::MechanismEvent event) {
  auto message = std::make_shared<MechanismMessage>();
  message->event = std::move(event);
  return Mechanism(std::move(message));
}

const v1::MechanismEvent& MechanismMessage::Of(const Mechanism& mechanism) {
  return mechanism.message_->event;
}

Mechanism::Mechanism(std::shared_ptr<const MechanismMessage> message)
    : message_(std::move(message)) {}

Mechanism Mechanism::Gaussian(double noise_multiplier) {
  v1::MechanismEvent event;
  event.mutable_gaussian()->set_noise_multiplier(noise_multiplier);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::Laplace(double noise_multiplier) {
  v1::MechanismEvent event;
  event.mutable_laplace()->set_noise_multiplier(noise_multiplier);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::PoissonSampled(double sampling_probability, const Mechanism& mechanism) {
  v1::MechanismEvent event;
  event.mutable_poisson_sampled()->set_sampling_probability(sampling_probability);
  *event.mutable_poisson_sampled()->mutable_event() = MechanismMessage::Of(mechanism);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::PureDp(double epsilon) {
  v1::MechanismEvent event;
  event.mutable_pure_dp()->set_epsilon(epsilon);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::ApproximateDp(double epsilon, double delta) {
  v1::MechanismEvent event;
  event.mutable_approximate_dp()->set_epsilon(epsilon);
  event.mutable_approximate_dp()->set_delta(delta);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::Zcdp(double rho) {
  v1::MechanismEvent event;
  event.mutable_zcdp()->set_rho(rho);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::GaussianDp(double mu) {
  v1::MechanismEvent event;
  event.mutable_gaussian_dp()->set_mu(mu);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::DominatingPair(const PairOfLaws& laws) {
  v1::MechanismEvent event;
  v1::DominatingPair* pair = event.mutable_dominating_pair();
  for (const double p : laws.first) pair->add_first_probabilities(p);
  for (const double q : laws.second) pair->add_second_probabilities(q);
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::NonPrivate(std::string_view reason) {
  v1::MechanismEvent event;
  event.mutable_non_private()->set_reason(std::string(reason));
  return MechanismMessage::Wrap(std::move(event));
}

Mechanism Mechanism::Composed(const std::vector<CountedMechanism>& parts) {
  v1::MechanismEvent event;
  v1::Composed* composed = event.mutable_composed();
  for (const CountedMechanism& part : parts) {
    v1::CountedEvent* counted = composed->add_events();
    *counted->mutable_event() = MechanismMessage::Of(part.mechanism);
    counted->set_count(part.count);
  }
  return MechanismMessage::Wrap(std::move(event));
}

absl::StatusOr<Mechanism> Mechanism::FromJson(std::string_view json) {
  // The reader of protobuf takes the last of two values, and accepts text that is not JSON.
  if (absl::Status syntax = json_syntax::CheckObject(json, nullptr); !syntax.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("event: ", std::string(syntax.message())));
  }
  v1::MechanismEvent event;
  const auto parsed = google::protobuf::util::JsonStringToMessage(std::string(json), &event);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("event: want the proto3 JSON of a MechanismEvent, such as "
                     "{\"gaussian\": {\"noiseMultiplier\": 1.1}}: ",
                     std::string(parsed.message())));
  }
  if (event.kind_case() == v1::MechanismEvent::KIND_NOT_SET) {
    return absl::InvalidArgumentError(
        "event: got {}, want exactly one event, such as {\"gaussian\": {\"noiseMultiplier\": "
        "1.1}}");
  }
  return MechanismMessage::Wrap(std::move(event));
}

std::string Mechanism::ToJson() const {
  std::string json;
  // Cannot fail: the message has no Any and no invalid UTF-8 that JSON would refuse.
  const auto printed = google::protobuf::util::MessageToJsonString(message_->event, &json);
  return printed.ok() ? json : "{}";
}

std::optional<double> Mechanism::gaussian_noise_multiplier() const {
  const v1::MechanismEvent& event = message_->event;
  if (event.has_gaussian()) return event.gaussian().noise_multiplier();
  if (event.has_poisson_sampled() && event.poisson_sampled().event().has_gaussian()) {
    return event.poisson_sampled().event().gaussian().noise_multiplier();
  }
  return std::nullopt;
}

bool operator==(const Mechanism& left, const Mechanism& right) {
  return google::protobuf::util::MessageDifferencer::Equals(left.message_->event,
                                                            right.message_->event);
}

}  // namespace epsledger
