#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_LIMITS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_LIMITS_H_

// Every bound of the services, with its reason. The bounds of connections are in
// server/transport/wire/limits.h, the ledger's own in server/core/limits.h.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace epsledger::transport {

// A plan or history of 10,000 sampled events takes about 0.5 MB. Larger requests get
// RESOURCE_EXHAUSTED.
inline constexpr int kMaxRequestBytes = 1 << 20;
// A page of a list ends early at this size: gRPC clients take 4 MiB by default.
inline constexpr size_t kMaxPageBytes = 2 << 20;
// An answer about one charge: a refusal with its details is the longest.
inline constexpr size_t kMaxRowBytes = 8 << 10;
inline constexpr int32_t kDefaultPageSize = 50;
// A token is an id and its check value.
inline constexpr size_t kMaxPageTokenBytes = 256;

// Trailers of one call: gRPC clients take 8 KiB in all. Beyond that they report RESOURCE_EXHAUSTED,
// and a refusal must not look like that. Base64 takes a third of it.
inline constexpr size_t kMaxStatusDetailBytes = 3 << 10;
inline constexpr size_t kMaxStatusMessageBytes = 1 << 10;
// How much of a wrong text an error message repeats.
inline constexpr size_t kMaxShownBytes = 64;

// Open unary calls over all connections, and the bytes of their requests. Beyond either the answer
// is UNAVAILABLE, before anything in the request is read. The ledger's own queue is half as long,
// and most requests have 200 bytes: only large ones, or slow computations, reach this bound.
inline constexpr size_t kMaxOpenCalls = 1 << 15;
inline constexpr size_t kMaxOpenRequestBytes = size_t{256} << 20;

// Calls of one tenant that are refused for now: the burst, about as many as one connection may have
// in flight, and the rate a second. A client that sends more is not read for a while: as long as a
// client that obeys the requested delay would wait.
inline constexpr double kMaxRefusalsAtOnce = 1'000;
inline constexpr double kRefusalsPerSecond = 500;
inline constexpr std::chrono::seconds kMaxPauseForRefusals(1);

// The longest time that any call is held, whatever its deadline, so that a stuck ledger neither
// holds memory nor delays a shutdown for longer.
inline constexpr absl::Duration kMaxCallDuration = absl::Seconds(60);

// Open streams (StreamCharges and watches) over all connections; beyond that UNAVAILABLE. Each
// holds at most its window or one page in memory. One tenant has at most half of them, and half of
// the open calls, their bytes and the queued computations. One caller has at most three quarters of
// its tenant's streams, calls and bytes.
inline constexpr size_t kMaxOpenStreams = 2048;
// The longest life of a stream, after which the client opens another. As with connections, this
// spreads clients over servers.
inline constexpr absl::Duration kMaxStreamAge = absl::Minutes(30);
// A client that takes no message for this time is dropped, and what it holds is released.
inline constexpr absl::Duration kMaxWriteDuration = absl::Seconds(60);
// Requests of one StreamCharges that are read and not yet fully answered: about as many as the
// ledger commits together. At either bound reading stops, and HTTP/2 flow control stops the client.
inline constexpr size_t kMaxStreamWindow = 256;
inline constexpr size_t kMaxStreamWindowBytes = 4 << 20;
// What a watch reads in one step on the ledger's thread, and holds: a usual entry takes
// microseconds, a message of 32 KiB a millisecond.
inline constexpr int64_t kWatchPageEntries = 128;
inline constexpr size_t kWatchPageBytes = 32 << 10;
// Watches that read between two commits. The others wait for their turn, so that at most this many
// pages delay charges, however many clients watch.
inline constexpr int kMaxWatchReads = 4;
// The bytes that opening a stream of stored data counts for in the tenant's read rate: making and
// sending this many bytes takes as long.
inline constexpr size_t kBytesOfAnOpening = 8 << 10;
// How often the caller of an open stream is looked up again.
inline constexpr absl::Duration kReadmissionInterval = absl::Seconds(1);
// How often a watch sends only its position.
inline constexpr absl::Duration kBookmarkInterval = absl::Seconds(1);

// The time for clients, at a stop, to take the last answers.
inline constexpr absl::Duration kLastWordsPatience = absl::Seconds(1);

// How often deadlines and health are checked.
inline constexpr absl::Duration kHousekeepingInterval = absl::Milliseconds(100);
// How long a client should wait after UNAVAILABLE.
inline constexpr absl::Duration kRetryDelay = absl::Milliseconds(200);

// Computations (accountants over a history) that may wait for a free thread; each takes
// milliseconds to seconds. Beyond that UNAVAILABLE.
inline constexpr size_t kMaxQueuedComputations = 256;

// Entries that are read between two commits, for proofs, verification and export: about a
// millisecond. An export holds as many in memory; most have 100 bytes, the largest a megabyte.
inline constexpr int64_t kEntriesPerRead = 100;

// The bytes of a session's encoded events up to which an answer about the session contains them,
// and up to which lists of its charges are written between two commits. Larger lists are written on
// another thread.
inline constexpr int64_t kMaxShownEventBytes = 64 << 10;
inline constexpr size_t kMaxShownLeases = 1'000;
// The bytes of a history that is requested as a whole.
inline constexpr size_t kMaxWholeHistoryBytes = 3 << 20;

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_LIMITS_H_
