#include "proto/bridge/enum_convert.h"

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"

namespace epsledger::bridge {
namespace {

// The enumerations of accounting/ carry the numbers of their messages (each says so, and
// tests/proto/enum_convert_test.cc compares the names).
template <class To, class From>
absl::StatusOr<To> ByNumber(From value, const google::protobuf::EnumDescriptor* descriptor,
                            const std::string& path) {
  RETURN_IF_ERROR(CheckEnum(value, descriptor, path));
  return static_cast<To>(value);
}

}  // namespace

absl::Status CheckEnum(int number, const google::protobuf::EnumDescriptor* descriptor,
                       const std::string& path) {
  const auto* value = descriptor->FindValueByNumber(number);
  if (value != nullptr && number != 0) return absl::OkStatus();
  std::string names;
  for (int i = 0; i < descriptor->value_count(); ++i) {
    if (descriptor->value(i)->number() == 0) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", descriptor->value(i)->name());
  }
  return accounting::OutOfDomain(path, value != nullptr ? value->name() : absl::StrCat(number),
                                 absl::StrCat("one of ", names));
}

absl::StatusOr<accounting::NeighboringRelation> FromProto(v1::NeighboringRelation::Kind kind,
                                                          const std::string& path) {
  return ByNumber<accounting::NeighboringRelation>(kind, v1::NeighboringRelation::Kind_descriptor(),
                                                   path);
}

absl::StatusOr<accounting::Adjacency> FromProto(v1::Adjacency::Kind kind, const std::string& path) {
  return ByNumber<accounting::Adjacency>(kind, v1::Adjacency::Kind_descriptor(), path);
}

absl::StatusOr<accounting::SensitivityRelation> FromProto(v1::SensitivityRelation::Kind kind,
                                                          const std::string& path) {
  return ByNumber<accounting::SensitivityRelation>(kind, v1::SensitivityRelation::Kind_descriptor(),
                                                   path);
}

absl::StatusOr<accounting::Accountant> FromProto(v1::Accountant::Kind kind,
                                                 const std::string& path) {
  return ByNumber<accounting::Accountant>(kind, v1::Accountant::Kind_descriptor(), path);
}

absl::StatusOr<accounting::Calibrate::Variable> FromProto(v1::CalibrateQuery::Variable variable,
                                                          const std::string& path) {
  return ByNumber<accounting::Calibrate::Variable>(variable,
                                                   v1::CalibrateQuery::Variable_descriptor(), path);
}

v1::NeighboringRelation::Kind ToProto(accounting::NeighboringRelation relation) {
  return static_cast<v1::NeighboringRelation::Kind>(relation);
}

v1::Accountant::Kind ToProto(accounting::Accountant accountant) {
  return static_cast<v1::Accountant::Kind>(accountant);
}

v1::Guarantee::Kind ToProto(accounting::GuaranteeKind kind) {
  return static_cast<v1::Guarantee::Kind>(kind);
}

}  // namespace epsledger::bridge
