#ifndef EPSLEDGER_SERVER_CORE_ANNOTATION_H_
#define EPSLEDGER_SERVER_CORE_ANNOTATION_H_

// What people say about a budget or a session: answers to the questions of official forms, and who
// answers for a statement. The ledger keeps the words, and decides nothing by them.

#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace epsledger::core {

// Numbers as in audit.proto.
enum class AnnotationTopic : uint8_t {
  kDeploymentModel = 1,
  kActors = 2,
  kDataDomain = 3,
  kUnprotectedQuantities = 4,
  kContributionBounding = 5,
  kParameterRationale = 6,
  kDataCollection = 7,
  kPreprocessing = 8,
  kPostProcessing = 9,
  kSecurity = 10,
  kSideChannels = 11,
  kIntendedUse = 12,
};

// "DEPLOYMENT_MODEL", ..., as in the API.
const char* Name(AnnotationTopic topic);

// Somebody answers for a signed statement of this server.
struct SignOff {
  std::string signer;  // a person's name
  std::string role;
  std::string comment;             // may be empty
  std::string statement_sha256;    // of the statement's JSON; 32 bytes
  int64_t statement_sequence = 0;  // the newest entry that the statement knew, >= 1
  // What the statement says: +inf if it has no epsilon.
  double epsilon = 0;
  double delta = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("signer", s.signer);
    v("role", s.role);
    v("comment", s.comment);
    v("statement_sha256", s.statement_sha256);
    v("statement_sequence", s.statement_sequence);
    v("epsilon", s.epsilon);
    v("delta", s.delta);
  }
};
bool operator==(const SignOff& a, const SignOff& b);

// "\"Ada Byron\", \"privacy officer\", answers for the statement 5f0a... of entry 12: epsilon 2.5
// at delta 1e-05".
std::string Describe(const SignOff& sign_off);

// The entry that recorded something.
struct Recorded {
  int64_t sequence = 0;
  int64_t time_micros = 0;
  std::string principal;  // of its actor; empty: not recorded
};

struct RecordedAnnotation {
  std::string text;
  Recorded by;
};

struct RecordedSignOff {
  SignOff sign_off;
  Recorded by;
};

// Everything that is said about one budget or session.
struct Annotations {
  std::map<AnnotationTopic, RecordedAnnotation> texts;
  // The newest kMaxShownSignOffs of sign_off_count, oldest first.
  std::deque<RecordedSignOff> sign_offs;
  int64_t sign_off_count = 0;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_ANNOTATION_H_
