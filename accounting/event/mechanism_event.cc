#include "accounting/event/mechanism_event.h"

#include <cstddef>
#include <utility>

#include "accounting/event/domain.h"
#include "accounting/event/printable.h"

namespace epsledger::accounting {

MechanismEvent::MechanismEvent(Kind kind) : kind_(std::move(kind)) {}
MechanismEvent::MechanismEvent(const MechanismEvent&) = default;
MechanismEvent::MechanismEvent(MechanismEvent&&) noexcept = default;
MechanismEvent& MechanismEvent::operator=(const MechanismEvent&) = default;
MechanismEvent& MechanismEvent::operator=(MechanismEvent&&) noexcept = default;
MechanismEvent::~MechanismEvent() = default;
namespace {

bool Equal(double a, double b) { return a == b; }
bool Equal(int64_t a, int64_t b) { return a == b; }
bool Equal(const std::string& a, const std::string& b) { return a == b; }
bool Equal(bool a, bool b) { return a == b; }
bool Equal(Noise a, Noise b) { return a == b; }
bool Equal(MatrixStrategy a, MatrixStrategy b) { return a == b; }
bool Equal(const NestedEvent& a, const NestedEvent& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  return *a == *b;
}
bool Equal(const CountedEvent& a, const CountedEvent& b) {
  return a.count == b.count && Equal(a.event, b.event);
}
template <class T>
bool Equal(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Equal(a[i], b[i])) return false;
  }
  return true;
}

// Compares field by field over Fields: the first pass stores the addresses of a's fields, the
// second pass visits b's fields, which have the same types, in the same order.
template <class Event>
bool EqualFields(const Event& a, const Event& b) {
  std::vector<const void*> fields_of_a;
  Event::Fields(a, [&](const char*, const auto& field) { fields_of_a.push_back(&field); });
  bool equal = true;
  size_t next = 0;
  Event::Fields(b, [&](const char*, const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    equal = equal && Equal(*static_cast<const Field*>(fields_of_a[next++]), field);
  });
  return equal;
}

void Append(std::string& out, double x) { out += FormatDouble(x); }
void Append(std::string& out, int64_t x) { out += std::to_string(x); }
void Append(std::string& out, bool x) { out += x ? "true" : "false"; }
void Append(std::string& out, Noise noise) { out += NoiseName(noise); }
void Append(std::string& out, MatrixStrategy strategy) { out += MatrixStrategyName(strategy); }
void Append(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : Printable(text)) {  // one line, whatever the caller sent
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}
void Append(std::string& out, const MechanismEvent& event);
void Append(std::string& out, const NestedEvent& event) {
  if (event.has_value()) {
    Append(out, *event);
  } else {
    out += "null";
  }
}

template <class S>
void AppendFields(std::string& out, const S& s);
void Append(std::string& out, const CountedEvent& event) { AppendFields(out, event); }
template <class T>
void Append(std::string& out, const std::vector<T>& items) {
  out += '[';
  bool first = true;
  for (const T& item : items) {
    if (!first) out += ", ";
    first = false;
    Append(out, item);
  }
  out += ']';
}
template <class S>
void AppendFields(std::string& out, const S& s) {
  out += '{';
  bool first = true;
  S::Fields(s, [&](const char* name, const auto& field) {
    if (!first) out += ", ";
    first = false;
    out += JsonName(name);
    out += ": ";
    Append(out, field);
  });
  out += '}';
}
void Append(std::string& out, const MechanismEvent& event) {
  std::visit(
      [&](const auto& kind) {
        out += JsonName(std::decay_t<decltype(kind)>::kName);
        AppendFields(out, kind);
      },
      event.kind());
}

}  // namespace

bool operator==(const MechanismEvent& a, const MechanismEvent& b) {
  return std::visit(
      [&](const auto& kind) {
        const auto* other = std::get_if<std::decay_t<decltype(kind)>>(&b.kind());
        return other != nullptr && EqualFields(kind, *other);
      },
      a.kind());
}

std::string Describe(const MechanismEvent& event) {
  std::string out;
  Append(out, event);
  return out;
}

std::string NoiseName(Noise noise) {
  switch (noise) {
    case Noise::kLaplace:
      return "LAPLACE";
    case Noise::kExponential:
      return "EXPONENTIAL";
    case Noise::kGumbel:
      return "GUMBEL";
    case Noise::kGaussian:
      return "GAUSSIAN";
  }
  const int number = static_cast<int>(noise);
  return number == 0 ? "KIND_UNSPECIFIED" : std::to_string(number);
}

std::string MatrixStrategyName(MatrixStrategy strategy) {
  switch (strategy) {
    case MatrixStrategy::kMatrix:
      return "MATRIX";
    case MatrixStrategy::kToeplitz:
      return "TOEPLITZ";
    case MatrixStrategy::kBufferedToeplitz:
      return "BUFFERED_TOEPLITZ";
    case MatrixStrategy::kSquareRoot:
      return "SQUARE_ROOT";
    case MatrixStrategy::kBinaryTree:
      return "BINARY_TREE";
    case MatrixStrategy::kIdentity:
      return "IDENTITY";
  }
  const int number = static_cast<int>(strategy);
  return number == 0 ? "KIND_UNSPECIFIED" : std::to_string(number);
}

std::string JsonName(const char* snake_case) {
  std::string out;
  bool upper = false;
  for (const char* c = snake_case; *c != '\0'; ++c) {
    if (*c == '_') {
      upper = true;
      continue;
    }
    out += upper && *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 'a' + 'A') : *c;
    upper = false;
  }
  return out;
}

}  // namespace epsledger::accounting
