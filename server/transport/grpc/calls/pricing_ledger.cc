#include "server/transport/grpc/calls/pricing_ledger.h"

#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/core/codec.h"
#include "server/core/pricing.h"
#include "server/core/unavailable.h"

namespace epsledger::transport {
namespace {

using core::Pricing;
using core::ReferenceWanted;
using core::UnitPrice;
using core::UnitPriceWanted;
using core::UnitReference;

// A charge that needs a reference, then a block, then what the block left over, at every cap on the
// way up at once, is done after four; each may come too late for its level once or twice. A batch
// goes down eight levels a round.
constexpr int kMaxRounds = 32;
// Chains that prices were made on lately: a few MB each.
constexpr size_t kMaxChains = 8;
constexpr size_t kMaxReferences = 32;
constexpr size_t kMaxPricesOfChain = 4'096;

// A reply that is called once, also if a stopping pool drops the task that was to call it.
class OneReply {
 public:
  explicit OneReply(core::DurableLedger::Reply reply) : reply_(std::move(reply)) {}
  OneReply(const OneReply&) = delete;
  OneReply& operator=(const OneReply&) = delete;
  ~OneReply() {
    if (reply_ != nullptr)
      Take()(absl::UnavailableError("the server is stopping: nothing was done"));
  }
  core::DurableLedger::Reply Take() { return std::exchange(reply_, nullptr); }

 private:
  core::DurableLedger::Reply reply_;
};

}  // namespace

// What was computed lately. One computation at a time a chain: whoever wants the same price waits
// for it and finds it.
class PricingLedger::Memory {
 public:
  // Whose reference is computed: tenant, budget, session.
  using FilterKey = std::tuple<std::string, std::string, std::string>;
  using Continuation = absl::AnyInvocable<void() &&>;

  // True if the caller is to compute the reference of this filter; otherwise somebody else does,
  // and `continuation` is called when that is done: most often the filter has one then.
  bool Begin(const FilterKey& key, Continuation continuation) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto [it, is_first] = waiting_.try_emplace(key);
    if (!is_first) it->second.push_back(std::move(continuation));
    return is_first;
  }
  // REQUIRES: Begin said true. Calls those who came meanwhile.
  void End(const FilterKey& key) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Continuation> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting = std::move(waiting_.extract(key).mapped());
    }
    for (Continuation& continuation : waiting) std::move(continuation)();
  }

  std::shared_ptr<const Pricing> Compute(const core::PricesWanted& wanted, const Pricing* before) {
    auto pricing =
        before == nullptr ? std::make_shared<Pricing>() : std::make_shared<Pricing>(*before);
    for (const ReferenceWanted& reference : wanted.references) {
      pricing->references.insert_or_assign(
          {reference.budget_id, reference.session_id, reference.carried.get()},
          ReferenceOf(reference));
      if (reference.carried != nullptr) pricing->kept.push_back(reference.carried);
    }
    for (const UnitPriceWanted& price : wanted.prices) {
      const std::string encoding = core::EncodeEvent(price.event);
      pricing->prices.insert_or_assign({price.reference.get(), encoding, price.count, price.level},
                                       ChainOf(price.reference)->PriceOf(price, encoding));
      pricing->kept.push_back(price.reference);
    }
    return pricing;
  }

 private:
  using AnyReference = absl::StatusOr<std::shared_ptr<const UnitReference>>;
  using ReferenceKey =
      std::tuple<accounting::NeighboringRelation, double, double, int64_t, std::string, bool>;

  class Chain {
   public:
    explicit Chain(std::shared_ptr<const UnitReference> reference)
        : reference_(std::move(reference)), pricer_(reference_->reference) {}

    const UnitReference* reference() const { return reference_.get(); }

    absl::StatusOr<UnitPrice> PriceOf(const UnitPriceWanted& wanted, const std::string& encoding)
        ABSL_LOCKS_EXCLUDED(mutex_) {
      absl::MutexLock lock(&mutex_);
      const auto key = std::make_tuple(encoding, wanted.count, wanted.level);
      if (const auto known = prices_.find(key); known != prices_.end()) return known->second;
      const absl::StatusOr<UnitPrice> price = core::AnswerTo(
          wanted, pricer_.PriceOf(wanted.event, reference_->relation, wanted.count, wanted.level));
      if (prices_.size() >= kMaxPricesOfChain) prices_.clear();
      return prices_.emplace(key, price).first->second;
    }

   private:
    const std::shared_ptr<const UnitReference> reference_;
    absl::Mutex mutex_;
    accounting::ResiduePricer pricer_ ABSL_GUARDED_BY(mutex_);
    std::map<std::tuple<std::string, int64_t, int64_t>, absl::StatusOr<UnitPrice>> prices_
        ABSL_GUARDED_BY(mutex_);
  };

  AnyReference ReferenceOf(const ReferenceWanted& wanted) ABSL_LOCKS_EXCLUDED(mutex_) {
    // A successor's is its own.
    if (wanted.carried != nullptr) return core::ComputeReference(wanted);
    const ReferenceKey key{wanted.relation,
                           wanted.epsilon,
                           wanted.delta,
                           wanted.units,
                           core::EncodeEvent(wanted.event),
                           wanted.suggested};
    {
      absl::MutexLock lock(&mutex_);
      if (const auto known = references_.find(key); known != references_.end()) {
        return known->second;
      }
    }
    AnyReference computed = core::ComputeReference(wanted);
    absl::MutexLock lock(&mutex_);
    if (references_.size() >= kMaxReferences) references_.clear();
    return references_.emplace(key, std::move(computed)).first->second;
  }

  std::shared_ptr<Chain> ChainOf(const std::shared_ptr<const UnitReference>& reference)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    for (auto it = chains_.begin(); it != chains_.end(); ++it) {
      if ((*it)->reference() != reference.get()) continue;
      chains_.splice(chains_.begin(), chains_, it);
      return chains_.front();
    }
    chains_.push_front(std::make_shared<Chain>(reference));
    if (chains_.size() > kMaxChains) chains_.pop_back();
    return chains_.front();
  }

  absl::Mutex mutex_;
  std::map<ReferenceKey, AnyReference> references_ ABSL_GUARDED_BY(mutex_);
  std::list<std::shared_ptr<Chain>> chains_ ABSL_GUARDED_BY(mutex_);  // the last used first
  std::map<FilterKey, std::vector<Continuation>> waiting_ ABSL_GUARDED_BY(mutex_);
};

PricingLedger::PricingLedger(core::DurableLedger& ledger,
                             std::shared_ptr<ComputationPool> computations)
    : ForwardingLedger(ledger),
      computations_(std::move(computations)),
      memory_(std::make_shared<Memory>()) {}

void PricingLedger::Submit(core::Tenant tenant, core::Command command, Reply reply) {
  SubmitPriced(ledger(), computations_, memory_, std::move(tenant), std::move(command), 0,
               std::move(reply));
}

void PricingLedger::SubmitPriced(core::DurableLedger& ledger,
                                 std::weak_ptr<ComputationPool> computations,
                                 std::shared_ptr<Memory> memory, core::Tenant tenant,
                                 core::Command command, int round, Reply reply) {
  core::Tenant same_tenant = tenant;
  ledger.Submit(
      std::move(tenant), std::move(command),
      [&ledger, computations = std::move(computations), memory = std::move(memory),
       tenant = std::move(same_tenant), round,
       reply = std::move(reply)](absl::StatusOr<core::Outcome> outcome) mutable {
        auto* wanted = outcome.ok() ? std::get_if<core::PricesWanted>(&*outcome) : nullptr;
        if (wanted == nullptr) return std::move(reply)(std::move(outcome));
        if (round == kMaxRounds) {
          return std::move(reply)(absl::UnavailableError(
              "other charges took the units that this one was priced at, again and again: nothing "
              "was done, try again"));
        }
        auto one_reply = std::make_shared<OneReply>(std::move(reply));
        const std::shared_ptr<ComputationPool> pool = computations.lock();
        if (pool == nullptr) return;
        const core::Tenant asking = tenant;
        const absl::Status accepted = pool->Submit(
            asking, [&ledger, computations, memory = std::move(memory), tenant = std::move(tenant),
                     round, wanted = *std::move(wanted), one_reply]() mutable {
              std::optional<Memory::FilterKey> key;
              if (!wanted.references.empty()) {
                const ReferenceWanted& first = wanted.references.front();
                key.emplace(tenant.name, first.budget_id, first.session_id);
                const bool mine = memory->Begin(*key, [&ledger, computations, memory, tenant, round,
                                                       command = wanted.command, one_reply] {
                  SubmitPriced(ledger, computations, memory, tenant, *command, round + 1,
                               one_reply->Take());
                });
                if (!mine) return;
              }
              core::Command again = *wanted.command;
              again.pricing = memory->Compute(wanted, wanted.command->pricing.get());
              SubmitPriced(ledger, std::move(computations), memory, std::move(tenant),
                           std::move(again), round + 1, one_reply->Take());
              // After it was submitted: whoever waited is decided after it.
              if (key.has_value()) memory->End(*key);
            });
        if (!accepted.ok()) one_reply->Take()(accepted);
      });
}

}  // namespace epsledger::transport
