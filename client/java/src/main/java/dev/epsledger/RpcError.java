package dev.epsledger;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The error of one try. */
record RpcError(Status.Code code, String message, List<Any> details) {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
  private static final Duration MOST_RETRY_DELAY = Duration.ofHours(1);

  static RpcError of(RuntimeException thrown) {
    Status status = Status.fromThrowable(thrown); // UNKNOWN for what is no gRPC error
    return new RpcError(
        status.getCode(), message(status), details(Status.trailersFromThrowable(thrown)));
  }

  /** True for codes after which a repetition with the same key can find out. */
  boolean isWorthRetrying() {
    return switch (code) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, UNKNOWN -> true;
      default -> false;
    };
  }

  /** True for all codes but those that the server returns before it writes. */
  boolean mayHaveCommitted() {
    return switch (code) {
      case INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, UNAUTHENTICATED,
          FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED -> false;
      default -> true;
    };
  }

  /** How long the server asks to wait, in [0, 1 h]; more is not believed. */
  Duration retryDelay() {
    for (RetryInfo info : detailsOf(RetryInfo.class)) {
      Duration delay = delayOf(info);
      if (!delay.isNegative() && delay.compareTo(MOST_RETRY_DELAY) <= 0) {
        return delay;
      }
    }
    return Duration.ZERO;
  }

  /** The details of that type. What cannot be read is no detail. */
  <T extends Message> List<T> detailsOf(Class<T> type) {
    return details.stream().filter(one -> one.is(type)).flatMap(one -> {
      try {
        return Stream.of(one.unpack(type));
      } catch (InvalidProtocolBufferException unreadable) {
        return Stream.empty();
      }
    }).toList();
  }

  private static Duration delayOf(RetryInfo info) {
    try {
      return Duration.ofSeconds(info.getRetryDelay().getSeconds(), info.getRetryDelay().getNanos());
    } catch (ArithmeticException tooLong) {
      return Duration.ZERO;
    }
  }

  private static String message(Status status) {
    String description = status.getDescription() == null ? "no description" : status.getDescription();
    Throwable cause = status.getCause();
    return cause == null || cause.getMessage() == null
        ? description
        : description + " (" + cause.getMessage() + ")";
  }

  /** Not by StatusProto, which throws if the details have another code or cannot be read. */
  private static List<Any> details(Metadata trailers) {
    byte[] bytes = trailers == null ? null : trailers.get(DETAILS);
    try {
      return bytes == null ? List.of() : com.google.rpc.Status.parseFrom(bytes).getDetailsList();
    } catch (InvalidProtocolBufferException unreadable) {
      return List.of();
    }
  }
}
