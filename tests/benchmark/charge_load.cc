#include "tests/benchmark/charge_load.h"

#include <cstdio>
#include <cstdlib>

namespace epsledger {

using Clock = std::chrono::steady_clock;

struct ChargeLoad::Call {
  Connection* connection;
  std::string attempt;
  grpc::ClientContext context;
  v1::ChargeRequest request;
  v1::Charge reply;
  v1::BatchChargeRequest batch;
  v1::BatchChargeResponse batch_reply;
};

ChargeLoad::ChargeLoad(const std::vector<std::string>& addresses) {
  for (int i = 0; i < kConnections; ++i) {
    grpc::ChannelArguments arguments;
    // Not one connection for all channels to the same address.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    std::shared_ptr<grpc::Channel> channel = grpc::CreateCustomChannel(
        addresses[i % addresses.size()], grpc::InsecureChannelCredentials(), arguments);
    auto stub = v1::ChargeService::NewStub(channel);
    connections_.push_back({std::move(channel), std::move(stub), {}});
  }
}

double ChargeLoad::Run(const Shape& shape, const std::vector<std::vector<std::string>>& attempts,
                       std::chrono::milliseconds duration) {
  shape_ = shape;
  running_ = shape.calls_in_flight;
  charged_ = 0;
  for (int i = 0; i < kConnections; ++i) {
    connections_[i].free_attempts.assign(attempts[i].begin(), attempts[i].end());
  }
  const Clock::time_point start = Clock::now();
  end_ = start + duration;
  for (int i = 0; i < shape.calls_in_flight; ++i) Next(connections_[i % kConnections]);
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  return static_cast<double>(charged_) /
         std::chrono::duration<double>(Clock::now() - start).count();
}

void ChargeLoad::Next(Connection& connection) {
  auto call = std::make_shared<Call>();
  call->connection = &connection;
  int64_t id = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    call->attempt = std::move(connection.free_attempts.front());
    connection.free_attempts.pop_front();
    id = next_id_;
    next_id_ += shape_.charges_a_call;
  }
  if (shape_.charges_a_call == 1) {
    call->request.set_attempt(call->attempt);
    call->request.set_charge_id(std::to_string(id));
    call->request.set_count(1);
    call->request.mutable_event()->mutable_gaussian()->set_noise_multiplier(1000);
    connection.stub->async()->Charge(
        &call->context, &call->request, &call->reply, [this, call](const grpc::Status& status) {
          Done(*call, status, call->reply.decision() == v1::Charge::ACCEPTED);
        });
    return;
  }
  call->batch.set_attempt(call->attempt);
  call->batch.set_mode(v1::BatchChargeRequest::ALL_OR_NOTHING);
  for (int i = 0; i < shape_.charges_a_call; ++i) {
    v1::BatchChargeItem* item = call->batch.add_items();
    item->set_charge_id(std::to_string(id + i));
    item->set_count(1);
    item->mutable_event()->mutable_gaussian()->set_noise_multiplier(1000);
  }
  connection.stub->async()->BatchCharge(
      &call->context, &call->batch, &call->batch_reply, [this, call](const grpc::Status& status) {
        Done(*call, status, status.ok() && call->batch_reply.results(0).has_accepted());
      });
}

void ChargeLoad::Done(const Call& call, const grpc::Status& status, bool accepted) {
  if (!status.ok() || !accepted) {
    std::fprintf(stderr, "a charge failed: %s\n", status.error_message().c_str());
    std::exit(1);
  }
  const bool again = Clock::now() < end_;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    charged_ += shape_.charges_a_call;
    call.connection->free_attempts.push_back(call.attempt);
    if (!again && --running_ == 0) done_.notify_all();
  }
  if (again) Next(*call.connection);
}

}  // namespace epsledger
