#ifndef EPSLEDGER_PROTO_BRIDGE_ENUM_CONVERT_H_
#define EPSLEDGER_PROTO_BRIDGE_ENUM_CONVERT_H_

// Converts enumerations from and to their messages. proto3 lets unknown numbers pass; these
// functions refuse them.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/guarantee.h"
#include "accounting/question.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/guarantee.pb.h"
#include "epsledger/v1/mechanism.pb.h"
#include "google/protobuf/descriptor.h"

namespace epsledger::bridge {

// OK if `number` is a value of the enumeration other than 0. Otherwise INVALID_ARGUMENT
// "accountant: got 99, want one of BASIC, ADVANCED, ...".
absl::Status CheckEnum(int number, const google::protobuf::EnumDescriptor* descriptor,
                       const std::string& path);

// Each returns the value of the same name. INVALID_ARGUMENT for an unknown number and for
// KIND_UNSPECIFIED: a caller that has a default tests for it first.
absl::StatusOr<accounting::NeighboringRelation> FromProto(v1::NeighboringRelation::Kind kind,
                                                          const std::string& path);
absl::StatusOr<accounting::Adjacency> FromProto(v1::Adjacency::Kind kind, const std::string& path);
absl::StatusOr<accounting::SensitivityRelation> FromProto(v1::SensitivityRelation::Kind kind,
                                                          const std::string& path);
absl::StatusOr<accounting::Accountant> FromProto(v1::Accountant::Kind kind,
                                                 const std::string& path);
absl::StatusOr<accounting::Calibrate::Variable> FromProto(v1::CalibrateQuery::Variable variable,
                                                          const std::string& path);

v1::NeighboringRelation::Kind ToProto(accounting::NeighboringRelation relation);
v1::Accountant::Kind ToProto(accounting::Accountant accountant);
v1::Guarantee::Kind ToProto(accounting::GuaranteeKind kind);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_ENUM_CONVERT_H_
