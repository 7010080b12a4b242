#include "proto/bridge/guarantee_convert.h"

#include "proto/bridge/enum_convert.h"

namespace epsledger::bridge {
namespace {

// Both messages use the same names for the numbers.
template <class Message>
void Fill(const accounting::Guarantee& guarantee, Message* message) {
  message->set_kind(ToProto(guarantee.kind));
  message->set_accountant(ToProto(guarantee.accountant));
  message->set_theorem(guarantee.theorem);
  message->clear_upper();
  message->clear_lower();
  message->clear_value();
  message->clear_log_upper();
  message->clear_log_lower();
  message->clear_order();
  if (guarantee.upper) message->set_upper(*guarantee.upper);
  if (guarantee.lower) message->set_lower(*guarantee.lower);
  if (guarantee.value) message->set_value(*guarantee.value);
  if (guarantee.log_upper) message->set_log_upper(*guarantee.log_upper);
  if (guarantee.log_lower) message->set_log_lower(*guarantee.log_lower);
  if (guarantee.order) message->set_order(*guarantee.order);
  message->set_contains_unverified_claim(guarantee.contains_unverified_claim);
}

}  // namespace

void ToProto(const accounting::Guarantee& guarantee, v1::Guarantee* message) {
  Fill(guarantee, message);
}

void ToProto(const accounting::Guarantee& guarantee, v1::ComputeResponse* message) {
  Fill(guarantee, message);
  message->clear_regret();
  if (guarantee.regret) message->set_regret(*guarantee.regret);
  message->clear_kl();
  message->clear_kappa2();
  message->clear_kappa3();
  message->clear_kappa3_bar();
  message->clear_mu();
  message->clear_gamma();
  if (!guarantee.central_limit) return;
  message->set_kl(guarantee.central_limit->kl);
  message->set_kappa2(guarantee.central_limit->kappa2);
  message->set_kappa3(guarantee.central_limit->kappa3);
  message->set_kappa3_bar(guarantee.central_limit->kappa3_bar);
  message->set_mu(guarantee.central_limit->mu);
  message->set_gamma(guarantee.central_limit->gamma);
}

}  // namespace epsledger::bridge
