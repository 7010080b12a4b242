#include "server/core/codec.h"

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "accounting/event/validation.h"
#include "server/core/sha256.h"

namespace epsledger::core {
namespace {

using accounting::MechanismEvent;
using accounting::NestedEvent;

constexpr uint8_t kWithoutActor = 1;
constexpr uint8_t kWithActor = 2;

// Stands where 0 or 1 says whether a value follows: fields of a later release do, in front of it.
// It is written only if one of them is set, so entries of earlier releases keep their bytes.
constexpr uint8_t kWithLaterFields = 2;

// Events nest below the entry that holds them.
constexpr int kMaxDepth = accounting::kMaxEventDepth + 1;

// Stored enumerations have the values 1 to this one. Any other value is damage.
template <class E>
constexpr uint8_t kLast = 0;
template <>
constexpr uint8_t kLast<accounting::CellQuantity> = 10;
template <>
constexpr uint8_t kLast<accounting::FilterRule> = 3;
template <>
constexpr uint8_t kLast<accounting::ApproximateDpFilter> = 7;
template <>
constexpr uint8_t kLast<accounting::NeighboringRelation> = 3;
template <>
constexpr uint8_t kLast<SessionMode> = 2;
template <>
constexpr uint8_t kLast<RefusalReason> = 9;
template <>
constexpr uint8_t kLast<ChargeDecision> = 2;
template <>
constexpr uint8_t kLast<BudgetPhase> = 4;
template <>
constexpr uint8_t kLast<Sampler> = 7;
template <>
constexpr uint8_t kLast<Normalizer> = 4;
template <>
constexpr uint8_t kLast<ClaimStatus> = 3;
template <>
constexpr uint8_t kLast<accounting::Noise> = 4;
template <>
constexpr uint8_t kLast<accounting::MatrixStrategy> = 6;
template <>
constexpr uint8_t kLast<accounting::AuditMethod> = 4;
template <>
constexpr uint8_t kLast<accounting::AuditHypothesis> = 2;
template <>
constexpr uint8_t kLast<AnnotationTopic> = 12;
template <>
constexpr uint8_t kLast<Role> = 3;
template <>
constexpr uint8_t kLast<Door> = 4;
template <>
constexpr uint8_t kLast<GuardedChange> = 4;

class Encoder {
 public:
  explicit Encoder(std::string* out) : out_(out) {}

  // Field visitor; the name is not encoded.
  template <class T>
  void operator()(const char*, const T& value) {
    Put(value);
  }

  void Put(uint8_t value) { out_->push_back(static_cast<char>(value)); }
  void Put(bool value) { Put(static_cast<uint8_t>(value)); }
  void Put(int64_t value) { PutBytes(static_cast<uint64_t>(value), 8); }
  // -0.0 is encoded as 0.0: one value, one encoding.
  void Put(double value) { PutBytes(std::bit_cast<uint64_t>(value == 0 ? 0.0 : value), 8); }
  void Put(Cost value) {
    PutBytes(static_cast<uint64_t>(value.units() >> 64), 8);
    PutBytes(static_cast<uint64_t>(value.units()), 8);
  }
  void Put(const std::string& value) {
    PutBytes(value.size(), 4);
    out_->append(value);
  }
  template <class E>
  requires std::is_enum_v<E>
  void Put(E value) { Put(static_cast<uint8_t>(value)); }
  template <class T>
  void Put(const std::vector<T>& values) {
    PutBytes(values.size(), 4);
    for (const T& value : values) Put(value);
  }
  template <class T>
  void Put(const std::optional<T>& value) {
    Put(static_cast<uint8_t>(value.has_value()));
    if (value.has_value()) Put(*value);
  }
  template <class... T>
  void Put(const std::variant<T...>& value) {
    std::visit(
        [&](const auto& alternative) {
          Put(std::decay_t<decltype(alternative)>::kTag);
          Put(alternative);
        },
        value);
  }
  void Put(const NestedEvent& event) { Put(event->kind()); }
  void Put(const std::optional<Policy>& policy) {
    if (!policy.has_value() || !policy->HasLaterFields()) {
      return Put<Policy>(policy);
    }
    Put(kWithLaterFields);
    Policy::LaterFields(*policy, *this);
    Policy::Fields(*policy, *this);
  }
  void Put(const Provenance& provenance) {
    if (provenance.normalizer.has_value()) {
      Put(kWithLaterFields);
      Put(*provenance.normalizer);
    }
    Provenance::Fields(provenance, *this);
  }
  template <class T>
  requires requires(const T& t, Encoder& e) { T::Fields(t, e); }
  void Put(const T& value) { T::Fields(value, *this); }

 private:
  void PutBytes(uint64_t value, int count) {
    std::array<char, 8> bytes;
    for (int i = count - 1; i >= 0; --i, value >>= 8) bytes[i] = static_cast<char>(value);
    out_->append(bytes.data(), count);
  }
  std::string* out_;
};

// Reads only what Encoder wrote: Encoder reproduces every accepted input byte for byte. After a
// failure every value is a default and failed() is true.
class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}

  bool failed() const { return failed_; }
  bool AtEnd() const { return in_.empty(); }

  template <class T>
  void operator()(const char*, T& value) {
    Get(value);
  }

  void Get(uint8_t& value) { value = static_cast<uint8_t>(GetBytes(1)); }
  void Get(bool& value) {
    const uint64_t number = GetBytes(1);
    if (number > 1) return Fail();
    value = number == 1;
  }
  void Get(int64_t& value) { value = static_cast<int64_t>(GetBytes(8)); }
  void Get(double& value) {
    value = std::bit_cast<double>(GetBytes(8));
    if (value == 0 && std::signbit(value)) Fail();  // has another encoding
  }
  void Get(Cost& value) {
    const Cost::Units high = GetBytes(8);
    const Cost::Units low = GetBytes(8);
    value = Cost::FromUnits(high << 64 | low);
  }
  void Get(std::string& value) {
    const uint64_t size = GetBytes(4);
    if (size > in_.size()) return Fail();
    value.assign(in_.substr(0, size));
    in_.remove_prefix(size);
  }
  template <class E>
  requires std::is_enum_v<E>
  void Get(E& value) {
    uint8_t number = 0;
    Get(number);
    static_assert(kLast<E> > 0);
    if (number < 1 || number > kLast<E>) return Fail();
    value = static_cast<E>(number);
  }
  template <class T>
  void Get(std::vector<T>& values) {
    const uint64_t count = GetBytes(4);
    if (count > in_.size()) return Fail();  // every element has at least one byte
    values.clear();
    for (uint64_t i = 0; i < count && !failed_; ++i) Get(values.emplace_back());
  }
  template <class T>
  void Get(std::optional<T>& value) {
    const uint64_t present = GetBytes(1);
    if (present > 1) return Fail();
    value.reset();
    if (present == 1) Get(value.emplace());
  }
  template <class... T>
  void Get(std::variant<T...>& value) {
    const uint8_t tag = static_cast<uint8_t>(GetBytes(1));
    const bool known = ((tag == T::kTag && (Get(value.template emplace<T>()), true)) || ...);
    if (!known) Fail();
  }
  void Get(NestedEvent& event) {
    if (++depth_ > kMaxDepth) return Fail();
    MechanismEvent::Kind kind;
    Get(kind);
    --depth_;
    if (!failed_) event = NestedEvent(MechanismEvent(std::move(kind)));
  }
  void Get(std::optional<Policy>& policy) {
    if (!TakeLaterMark()) return Get<Policy>(policy);
    Policy::LaterFields(policy.emplace(), *this);
    Policy::Fields(*policy, *this);
    if (!policy->HasLaterFields()) Fail();  // has another encoding
  }
  void Get(Provenance& provenance) {
    provenance.normalizer.reset();
    if (TakeLaterMark()) Get(provenance.normalizer.emplace());
    Provenance::Fields(provenance, *this);
  }
  template <class T>
  requires requires(T& t, Decoder& d) { T::Fields(t, d); }
  void Get(T& value) { T::Fields(value, *this); }

 private:
  // Takes kWithLaterFields, and returns true, if it is next.
  bool TakeLaterMark() {
    if (in_.empty() || static_cast<uint8_t>(in_[0]) != kWithLaterFields) return false;
    in_.remove_prefix(1);
    return true;
  }
  uint64_t GetBytes(size_t count) {
    if (in_.size() < count) {
      Fail();
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i) value = value << 8 | static_cast<uint8_t>(in_[i]);
    in_.remove_prefix(count);
    return value;
  }
  void Fail() {
    failed_ = true;
    in_ = {};
  }

  std::string_view in_;
  int depth_ = 0;
  bool failed_ = false;
};

// Collects (field name, encoding) pairs.
struct FieldEncodings {
  std::vector<std::pair<std::string, std::string>> fields;
  template <class T>
  void operator()(const char* name, const T& value) {
    std::string bytes;
    Encoder(&bytes).Put(value);
    fields.emplace_back(accounting::JsonName(name), std::move(bytes));
  }
};

template <class Spec>
std::string FirstDifferenceOf(const Spec& a, const Spec& b) {
  FieldEncodings of_a, of_b;
  Spec::Fields(a, of_a);
  Spec::Fields(b, of_b);
  for (size_t i = 0; i < of_a.fields.size(); ++i) {
    if (of_a.fields[i].second != of_b.fields[i].second) return of_a.fields[i].first;
  }
  return "";
}

}  // namespace

std::string EncodeContent(int64_t sequence, int64_t time_micros, const EntryBody& body,
                          const std::optional<Actor>& actor) {
  std::string content;
  content.reserve(256);  // most entries are charges, which fit
  Encoder encoder(&content);
  encoder.Put(actor ? kWithActor : kWithoutActor);
  encoder.Put(sequence);
  encoder.Put(time_micros);
  if (actor) encoder.Put(*actor);
  encoder.Put(body);
  return content;
}

absl::StatusOr<Entry> DecodeEntry(std::string content, const Hash& hash) {
  Entry entry;
  Decoder decoder(content);
  uint8_t version = 0;
  decoder.Get(version);
  if (version != kWithActor && version != kWithoutActor) {
    return absl::DataLossError("ledger entry: unknown version of the encoding, or damaged");
  }
  decoder.Get(entry.sequence);
  decoder.Get(entry.time_micros);
  if (version == kWithActor) decoder.Get(entry.actor.emplace());
  decoder.Get(entry.body);
  if (decoder.failed() || !decoder.AtEnd()) {
    return absl::DataLossError("ledger entry: damaged, the content does not decode");
  }
  entry.content = std::move(content);
  entry.hash = hash;
  return entry;
}

Hash ChainHash(const Hash& previous, std::string_view content) {
  return Sha256({BytesOf(previous), content});
}

std::string EncodeEvent(const MechanismEvent& event) {
  std::string bytes;
  Encoder(&bytes).Put(event.kind());
  return bytes;
}

std::string EncodeChange(const ProposedChange& change) {
  std::string bytes;
  Encoder(&bytes).Put(change);
  return bytes;
}

std::string FirstDifference(const BudgetSpec& a, const BudgetSpec& b) {
  return FirstDifferenceOf(a, b);
}

std::string FirstDifference(const SessionSpec& a, const SessionSpec& b) {
  return FirstDifferenceOf(a, b);
}

}  // namespace epsledger::core
