#ifndef EPSLEDGER_SERVER_CORE_ACTOR_H_
#define EPSLEDGER_SERVER_CORE_ACTOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace epsledger::core {

// How a change reached the ledger.
enum class Door : uint8_t {
  kGrpc = 1,
  kHttp = 2,
  // A program that works on the ledger's files, like `epsledgerd token create`.
  kOffline = 3,
  // The server itself: denials that it counted, a quarantine that it began.
  kServer = 4,
};

// Who asked for a change. The actor is part of the entry and hashed with it. It does not name the
// tenant, because a ledger belongs to one tenant.
struct Actor {
  // "tokens/{token}", the name of a certificate, or a text that says that no credential was
  // required. Empty for the server itself.
  std::string principal;
  Door door = Door::kServer;
  // The client's own description (User-Agent); a claim. At most kMaxActorClientBytes.
  std::string client;

  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("principal", s.principal);
    v("door", s.door);
    v("client", s.client);
  }
};

inline constexpr size_t kMaxActorClientBytes = 128;

inline constexpr char kUnknownMaker[] = "";

// Somebody who proposes, approves or rejects, with the data that shows whether two of them may be
// one person.
struct Person {
  std::string principal;
  // The maker of the principal's token, the maker of that maker's token, and so on. Ends with
  // kUnknownMaker if the next maker is no longer known, or after kMaxMakers.
  std::vector<std::string> makers;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("principal", s.principal);
    v("makers", s.makers);
  }
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_ACTOR_H_
