// noisy-sum SERVER BUDGET SESSION STEPS: prints STEPS noisy sums of numbers in [0, 1], one a line.
// Each is charged before its noise is drawn. The exit code is 0 if all were released, 3 if the
// ledger refused one.

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "epsledger/client.h"
#include "epsledger/noise.h"
#include "epsledger/refusal.h"

namespace {

constexpr double kContribution = 1;  // no number is larger
constexpr double kNoiseMultiplier = 10;

int Fail(const absl::Status& status) {
  std::cerr << absl::StatusCodeToString(status.code()) << ": " << status.message() << "\n";
  return epsledger::RefusalOf(status).has_value() ? 3 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: noisy-sum SERVER BUDGET SESSION STEPS\n";
    return 2;
  }
  absl::StatusOr<epsledger::Client> client = epsledger::Client::Connect({.address = argv[1]});
  if (!client.ok()) return Fail(client.status());
  absl::StatusOr<epsledger::Session> session = client->OpenSession(
      {.budget = argv[2],
       .session = argv[3],
       .create = epsledger::NewSession{
           .neighboring_relation = epsledger::NeighboringRelation::kAddOrRemoveOne,
           .no_own_cap = true}});
  if (!session.ok()) return Fail(session.status());

  const std::vector<double> private_numbers = {0.25, 1, 0.5, 0.75, 0};
  for (int step = 0; step < std::atoi(argv[4]); ++step) {
    absl::StatusOr<epsledger::Permit> permit =
        session->Charge(epsledger::Mechanism::Gaussian(kNoiseMultiplier));
    if (!permit.ok()) return Fail(permit.status());
    std::vector<double> sum = {0};
    for (const double number : private_numbers) sum[0] += number;
    const absl::Status noised = epsledger::AddGaussianNoise(*std::move(permit), kContribution, sum);
    if (!noised.ok()) return Fail(noised);
    std::cout << sum[0] << "\n";
  }
  return 0;
}
