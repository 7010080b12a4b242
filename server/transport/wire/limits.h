#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_LIMITS_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_LIMITS_H_

// Every bound of gRPC's wire, with its reason.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace epsledger::transport::wire {

// Headers of one call, each counted with 32 bytes more, as in HTTP/2. A bearer token and a trace
// context fit many times.
inline constexpr size_t kMaxHeaderBytes = 16 << 10;
// The User-Agent of a client: a library, its version and the library below it.
inline constexpr size_t kMaxClientBytes = 128;
inline constexpr size_t kMaxRequestIdBytes = 128;
// The request of a method that is open to strangers: the name of a service.
inline constexpr size_t kMaxOpenRequestBytes = 4 << 10;
// Bytes that a stream, or a connection, may send before they are taken.
inline constexpr int32_t kStreamWindow = 64 << 10;
inline constexpr int32_t kConnectionWindow = 1 << 20;
// Calls in flight on one connection: four times the largest measured load.
inline constexpr uint32_t kMaxStreams = 1024;
// Untaken answers of a stranger, which is a connection without an admitted call yet. A stranger is
// answered immediately, so it exceeds this only if it does not read.
inline constexpr size_t kMaxUntakenStreamsOfStranger = 100;
// Streams of methods that are open to strangers (health, reflection), on one connection and on all:
// each may stay open as long as its connection.
inline constexpr size_t kMaxOpenMethodStreamsOfConnection = 8;
inline constexpr size_t kMaxOpenMethodCalls = 128;
// Incomplete requests, of one connection and of all.
inline constexpr size_t kMaxUnfinishedBytesOfConnection = 16 << 20;
inline constexpr size_t kMaxUnfinishedBytes = 64 << 20;
// What a connection may always hold of requests and of answers, however much others hold: no call
// waits for a client that hoards.
inline constexpr size_t kBytesOfAnybody = 64 << 10;
// Answers that a client has not taken and answers that are being made for it, of one connection and
// of all. Beyond this the next call of the connection waits.
inline constexpr size_t kMaxUntakenBytesOfConnection = 32 << 20;
inline constexpr size_t kMaxUntakenBytes = 256 << 20;

// Answers of one stream that may wait to be sent before the next one is made: they share the cost
// of sending.
inline constexpr size_t kUntakenBytesOfStream = 16 << 10;

// Streams that fail: a stranger resets them, or they end by an error of any client. The burst, and
// the rate a second. Known clients may reset any number, as clients with short deadlines do; the
// bound for them are the calls that the services have not ended yet.
inline constexpr double kMaxResets = 1000;
inline constexpr double kResetsPerSecond = 33;
inline constexpr size_t kMaxCalls = 2 * kMaxStreams;
// Calls that are handed over before the next check whether their caller must be slowed down.
inline constexpr size_t kCallsPerBatch = 32;
// Further frames after the first frame of a call's headers.
inline constexpr size_t kMaxContinuations = 8;
// Frames that wait to be sent: a few for each stream. A client that does not read and asks for more
// is dropped.
inline constexpr size_t kMaxQueuedFrames = 8 * kMaxStreams;
// Bytes that are read from one connection before the next one's turn. A stranger and a connection
// that was slowed down recently get the small turn.
inline constexpr size_t kBytesPerTurn = 64 << 10;
inline constexpr size_t kBytesPerSmallTurn = 8 << 10;
// All bytes that a stranger may send: one largest request, and as many first calls of usual size as
// there may be streams.
inline constexpr size_t kMaxBytesOfStranger = 2 << 20;
// Bytes that are made ready for a connection that does not take them.
inline constexpr size_t kMaxReadyBytes = 64 << 10;

using Clock = std::chrono::steady_clock;
// The time for TLS and the client's preface, and for its acknowledgement of the server's settings.
inline constexpr std::chrono::seconds kHandshakeTimeout(5);
inline constexpr std::chrono::seconds kSettingsTimeout(10);
// The life of a connection without an admitted call. A client that waits longer before its first
// call connects again.
inline constexpr std::chrono::seconds kStrangerAge(60);
// The life of a connection, which spreads clients over added servers. Each connection has up to a
// tenth less, so that not all reconnect at the same time.
inline constexpr std::chrono::minutes kConnectionAge(30);
inline constexpr std::chrono::seconds kConnectionAgeGrace(30);
// The time for a request to become complete.
inline constexpr std::chrono::seconds kRequestTimeout(15);
// A connection that takes nothing for this time is dropped, and so is a call whose answer is not
// taken.
inline constexpr std::chrono::seconds kWriteTimeout(60);
// Finds peers that vanished without closing the connection.
inline constexpr std::chrono::seconds kKeepaliveInterval(60);
inline constexpr std::chrono::seconds kKeepaliveTimeout(20);
// The time for a client to take the last answers and to close its end.
inline constexpr std::chrono::seconds kFinishTimeout(1);
// The time for this server to answer its own probe.
inline constexpr std::chrono::seconds kProbeTimeout(2);
// How often these times are checked.
inline constexpr std::chrono::milliseconds kHousekeepingInterval(250);
// Covers the time in which a client that obeys the requested delay does not return in numbers.
inline constexpr std::chrono::seconds kSmallTurnsAfterPause(10);
// The wait before accepting the next connection, if the process has no file descriptor for one.
inline constexpr std::chrono::milliseconds kPauseWithoutDescriptors(100);

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_LIMITS_H_
