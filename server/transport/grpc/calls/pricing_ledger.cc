#include "server/transport/grpc/calls/pricing_ledger.h"

#include <ctime>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "server/core/codec.h"
#include "server/core/pricing.h"
#include "server/core/unavailable.h"

namespace epsledger::transport {
namespace {

using core::Pricing;
using core::ProvedUnitPrice;
using core::ReferenceWanted;
using core::UnitPriceWanted;
using core::UnitReference;

// A charge may need a reference, then a block, then what the block left over, at all caps on the
// way up together: it is done after four rounds, and each may come too late for its level once or
// twice. A batch goes down eight levels a round.
constexpr int kMaxRounds = 32;
// Chains on which prices were computed recently: a few MB each.
constexpr size_t kMaxChains = 8;
// Masses of the events that are prepared for one chain: 8 MB.
constexpr size_t kMaxPreparedMasses = size_t{1} << 20;
constexpr size_t kMaxReferences = 32;
constexpr size_t kMaxPricesOfChain = 4'096;
// Costs of some sixteen cells each: 10 MB.
constexpr size_t kMaxCosts = 10'000;

bool IsAbandoned(const core::Command& command) {
  return command.abandoned != nullptr && command.abandoned();
}

absl::Status NobodyWaits() {
  return absl::CancelledError("nobody waits for the answer any more: nothing was done");
}

// The processor time of this thread. A machine that is busy with other work makes no event dearer.
absl::Duration ComputingTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

absl::Status TakesTooLong(absl::Duration limit) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "event: to price what the charge asks for takes more than %d seconds of computing: compose "
      "fewer kinds of mechanisms in one event, or name fewer new events in one batch",
      absl::ToInt64Seconds(limit)));
}

}  // namespace

// Remembers recent results. For one tenant, each cost and each filter's reference is computed once
// at a time: whoever wants the same result waits for it.
class PricingLedger::Memory {
 public:
  // The owner of the reference: budget and session.
  using FilterKey = std::pair<std::string, std::string>;
  // The first element is the tenant, so that nobody waits for a task in the queue of another
  // tenant.
  using Key = std::pair<std::string, std::variant<core::CostKey, FilterKey>>;
  using Continuation = absl::AnyInvocable<void() &&>;

  explicit Memory(absl::Duration max_pricing) : max_pricing_(max_pricing) {}

  // The right to compute what others wait for. When it ends, their continuations are called.
  class Turn {
   public:
    Turn(Memory& memory, Key key) : memory_(memory), key_(std::move(key)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { memory_.End(key_); }

   private:
    Memory& memory_;
    const Key key_;
  };

  // Returns a turn if nobody has the turn of that key. Otherwise calls `continuation` when that
  // turn ends; most often the memory or the ledger then has the wanted result. REQUIRES: the memory
  // outlives the turn.
  std::unique_ptr<Turn> Begin(const Key& key, Continuation continuation)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto [it, is_first] = waiting_.try_emplace(key);
    if (is_first) return std::make_unique<Turn>(*this, key);
    it->second.push_back(std::move(continuation));
    return nullptr;
  }

  // Returns everything that is wanted, if that is only known costs; otherwise nullptr.
  std::shared_ptr<const Pricing> Recall(const core::PricesWanted& wanted)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    if (!wanted.references.empty() || !wanted.prices.empty()) return nullptr;
    std::shared_ptr<Pricing> pricing = Before(wanted);
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, event] : wanted.costs) {
      const auto known = costs_.find(key);
      if (known == costs_.end()) return nullptr;
      pricing->costs.insert_or_assign(key, known->second);
    }
    return pricing;
  }

  // Returns an error if nobody waits for the result any more, or if it takes too long.
  absl::StatusOr<std::shared_ptr<const Pricing>> Compute(const core::PricesWanted& wanted) {
    const core::Command& command = *wanted.command;
    std::shared_ptr<Pricing> pricing = Before(wanted);
    const bool is_bounded = std::holds_alternative<core::Charge>(command.body) ||
                            std::holds_alternative<core::ChargePreview>(command.body);
    const absl::Duration limit =
        is_bounded ? ComputingTime() + max_pricing_ : absl::InfiniteDuration();
    const auto abandoned = [&] {
      // Yield, so that a charge that wakes now need not wait for the end of the scheduler's slice.
      std::this_thread::yield();
      return IsAbandoned(command) || ComputingTime() > limit;
    };
    const auto cut_off = [&] {
      return IsAbandoned(command) ? NobodyWaits() : TakesTooLong(max_pricing_);
    };
    for (const auto& [key, event] : wanted.costs) {
      absl::StatusOr<std::vector<core::Cost>> costs = CostsOf(key, event, abandoned);
      if (!costs.ok()) return cut_off();
      pricing->costs.insert_or_assign(key, *std::move(costs));
    }
    for (const ReferenceWanted& reference : wanted.references) {
      AnyReference computed = ReferenceOf(reference, abandoned);
      if (absl::IsCancelled(computed.status())) return cut_off();
      pricing->references.insert_or_assign(
          {reference.budget_id, reference.session_id, reference.carried.get()},
          std::move(computed));
      if (reference.carried != nullptr) pricing->kept.push_back(reference.carried);
    }
    for (const UnitPriceWanted& price : wanted.prices) {
      const std::string encoding = core::EncodeEvent(price.event);
      absl::StatusOr<ProvedUnitPrice> computed =
          ChainOf(price.reference)->PriceOf(price, encoding, abandoned);
      if (absl::IsCancelled(computed.status())) return cut_off();
      pricing->prices.insert_or_assign({price.reference.get(), encoding, price.count, price.level},
                                       std::move(computed));
      pricing->kept.push_back(price.reference);
    }
    return std::shared_ptr<const Pricing>(std::move(pricing));
  }

 private:
  // Returns what was computed for the command in earlier rounds.
  static std::shared_ptr<Pricing> Before(const core::PricesWanted& wanted) {
    const std::shared_ptr<const Pricing>& before = wanted.command->pricing;
    return before == nullptr ? std::make_shared<Pricing>() : std::make_shared<Pricing>(*before);
  }

  // Calls the continuations that came meanwhile.
  void End(const Key& key) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Continuation> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting = std::move(waiting_.extract(key).mapped());
    }
    for (Continuation& continuation : waiting) std::move(continuation)();
  }

  using AnyReference = absl::StatusOr<std::shared_ptr<const UnitReference>>;
  using ReferenceKey =
      std::tuple<accounting::NeighboringRelation, double, double, int64_t, std::string, bool>;

  class Chain {
   public:
    explicit Chain(std::shared_ptr<const UnitReference> reference)
        : reference_(std::move(reference)), pricer_(reference_->reference) {}

    const UnitReference* reference() const { return reference_.get(); }

    absl::StatusOr<ProvedUnitPrice> PriceOf(const UnitPriceWanted& wanted,
                                            const std::string& encoding,
                                            absl::FunctionRef<bool()> abandoned)
        ABSL_LOCKS_EXCLUDED(mutex_) {
      const auto key = std::make_tuple(encoding, wanted.count, wanted.level);
      {
        absl::MutexLock lock(&mutex_);
        if (const auto known = prices_.find(key); known != prices_.end()) return known->second;
      }
      const absl::StatusOr<ProvedUnitPrice> price =
          core::AnswerTo(wanted, Compute(wanted, encoding, abandoned));
      if (absl::IsCancelled(price.status())) return price;
      absl::MutexLock lock(&mutex_);
      if (prices_.size() >= kMaxPricesOfChain) prices_.clear();
      return prices_.emplace(key, price).first->second;
    }

   private:
    using Prepared = std::shared_ptr<const accounting::PreparedEvent>;

    absl::StatusOr<accounting::UnitPrice> Compute(const UnitPriceWanted& wanted,
                                                  const std::string& encoding,
                                                  absl::FunctionRef<bool()> abandoned)
        ABSL_LOCKS_EXCLUDED(mutex_) {
      ASSIGN_OR_RETURN(const Prepared event, Prepare(wanted, encoding, abandoned));
      return pricer_.PriceOf(*event, wanted.count, wanted.level, abandoned);
    }

    absl::StatusOr<Prepared> Prepare(const UnitPriceWanted& wanted, const std::string& encoding,
                                     absl::FunctionRef<bool()> abandoned)
        ABSL_LOCKS_EXCLUDED(mutex_) {
      {
        absl::MutexLock lock(&mutex_);
        if (const auto known = prepared_.find(encoding); known != prepared_.end()) {
          return known->second;
        }
      }
      absl::StatusOr<Prepared> event =
          pricer_.Prepare(wanted.event, reference_->relation, abandoned);
      if (!event.ok()) return event;
      const size_t masses = accounting::MassesOf(**event);
      if (masses > kMaxPreparedMasses) return event;
      absl::MutexLock lock(&mutex_);
      if (prepared_masses_ + masses > kMaxPreparedMasses) {
        prepared_.clear();
        prepared_masses_ = 0;
      }
      if (prepared_.emplace(encoding, *event).second) prepared_masses_ += masses;
      return event;
    }

    const std::shared_ptr<const UnitReference> reference_;
    const accounting::ResiduePricer pricer_;
    absl::Mutex mutex_;
    std::map<std::string, Prepared> prepared_ ABSL_GUARDED_BY(mutex_);
    size_t prepared_masses_ ABSL_GUARDED_BY(mutex_) = 0;
    std::map<std::tuple<std::string, int64_t, int64_t>, absl::StatusOr<ProvedUnitPrice>> prices_
        ABSL_GUARDED_BY(mutex_);
  };

  absl::StatusOr<std::vector<core::Cost>> CostsOf(const core::CostKey& key,
                                                  const accounting::MechanismEvent& event,
                                                  absl::FunctionRef<bool()> abandoned)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      absl::MutexLock lock(&mutex_);
      if (const auto known = costs_.find(key); known != costs_.end()) return known->second;
    }
    absl::StatusOr<std::vector<core::Cost>> computed = core::ComputeCosts(key, event, abandoned);
    if (!computed.ok()) return computed;
    absl::MutexLock lock(&mutex_);
    if (costs_.size() >= kMaxCosts) costs_.clear();
    return costs_.insert_or_assign(key, *std::move(computed)).first->second;
  }

  AnyReference ReferenceOf(const ReferenceWanted& wanted, absl::FunctionRef<bool()> abandoned)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    // The reference of a successor is not shared.
    if (wanted.carried != nullptr) return core::ComputeReference(wanted, abandoned);
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
    AnyReference computed = core::ComputeReference(wanted, abandoned);
    if (absl::IsCancelled(computed.status())) return computed;
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

  const absl::Duration max_pricing_;
  absl::Mutex mutex_;
  std::map<core::CostKey, std::vector<core::Cost>> costs_ ABSL_GUARDED_BY(mutex_);
  std::map<ReferenceKey, AnyReference> references_ ABSL_GUARDED_BY(mutex_);
  std::list<std::shared_ptr<Chain>> chains_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  std::map<Key, std::vector<Continuation>> waiting_ ABSL_GUARDED_BY(mutex_);
};

// One command, from its first submission to its reply.
class PricingLedger::Passage : public std::enable_shared_from_this<Passage> {
 public:
  Passage(core::DurableLedger& ledger, std::weak_ptr<ComputationPool> computations,
          std::shared_ptr<Memory> memory, core::Tenant tenant, Reply reply)
      : ledger_(ledger),
        computations_(std::move(computations)),
        memory_(std::move(memory)),
        tenant_(std::move(tenant)),
        reply_(std::move(reply)) {}
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
  // A stopping pool drops the task that should reply. If the ledger drops the command, the outcome
  // is unknown.
  ~Passage() {
    if (reply_ != nullptr && !is_submitted_) {
      End(absl::UnavailableError("the server is stopping: nothing was done"));
    }
  }

  void Submit(core::Command command) {
    is_submitted_ = true;
    ledger_.Submit(tenant_, std::move(command),
                   [self = shared_from_this()](absl::StatusOr<core::Outcome> outcome) {
                     self->Take(std::move(outcome));
                   });
  }

 private:
  void End(absl::StatusOr<core::Outcome> outcome) {
    std::exchange(reply_, nullptr)(std::move(outcome));
  }

  void Take(absl::StatusOr<core::Outcome> outcome) {
    is_submitted_ = false;
    auto* wanted = outcome.ok() ? std::get_if<core::PricesWanted>(&*outcome) : nullptr;
    if (wanted == nullptr) return End(std::move(outcome));
    if (++rounds_ > kMaxRounds) {
      return End(absl::UnavailableError(
          "other charges took the units that this one was priced at, again and again: nothing was "
          "done, try again"));
    }
    if (IsAbandoned(*wanted->command)) return End(NobodyWaits());
    if (std::shared_ptr<const Pricing> known = memory_->Recall(*wanted)) {
      return SubmitAgain(*wanted->command, std::move(known));
    }
    std::unique_ptr<Memory::Turn> turn;
    if (const std::optional<Memory::Key> key = KeyOf(*wanted)) {
      turn = memory_->Begin(
          *key, [self = shared_from_this(), command = wanted->command] { self->Submit(*command); });
      if (turn == nullptr) return;
    }
    Compute(*std::move(wanted), std::move(turn));
  }

  // Returns the key of a result that others may want too.
  std::optional<Memory::Key> KeyOf(const core::PricesWanted& wanted) const {
    if (!wanted.references.empty()) {
      const ReferenceWanted& first = wanted.references.front();
      return Memory::Key(tenant_.name, Memory::FilterKey(first.budget_id, first.session_id));
    }
    if (!wanted.costs.empty()) return Memory::Key(tenant_.name, wanted.costs.begin()->first);
    return std::nullopt;
  }

  void Compute(core::PricesWanted wanted, std::unique_ptr<Memory::Turn> turn) {
    const std::shared_ptr<ComputationPool> pool = computations_.lock();
    if (pool == nullptr) return;
    const absl::Status accepted = pool->Submit(
        tenant_,
        [self = shared_from_this(), wanted = std::move(wanted), turn = std::move(turn)]() mutable {
          absl::StatusOr<std::shared_ptr<const Pricing>> pricing = NobodyWaits();
          if (!IsAbandoned(*wanted.command)) pricing = self->memory_->Compute(wanted);
          if (pricing.ok()) {
            self->SubmitAgain(*wanted.command, *std::move(pricing));
          } else {
            self->End(pricing.status());
          }
          // Only after the command is submitted, so that waiting commands are decided after it.
          turn.reset();
        });
    if (!accepted.ok()) End(accepted);
  }

  void SubmitAgain(core::Command command, std::shared_ptr<const Pricing> pricing) {
    command.pricing = std::move(pricing);
    Submit(std::move(command));
  }

  core::DurableLedger& ledger_;
  const std::weak_ptr<ComputationPool> computations_;
  const std::shared_ptr<Memory> memory_;
  const core::Tenant tenant_;
  Reply reply_;                // nullptr after the call
  bool is_submitted_ = false;  // the ledger has it
  int rounds_ = 0;
};

PricingLedger::PricingLedger(core::DurableLedger& ledger,
                             std::shared_ptr<ComputationPool> computations,
                             absl::Duration max_pricing)
    : ForwardingLedger(ledger),
      computations_(std::move(computations)),
      memory_(std::make_shared<Memory>(max_pricing)) {}

void PricingLedger::Submit(core::Tenant tenant, core::Command command, Reply reply) {
  std::make_shared<Passage>(ledger(), computations_, memory_, std::move(tenant), std::move(reply))
      ->Submit(std::move(command));
}

}  // namespace epsledger::transport
