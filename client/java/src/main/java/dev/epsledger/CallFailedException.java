package dev.epsledger;

import io.grpc.Status;

/** A call ended with an error that is no refusal. It charged nothing. */
public final class CallFailedException extends EpsledgerException {
  private final Status.Code code;
  private final String reason;

  CallFailedException(Status.Code code, String reason) {
    super(code + ": " + reason);
    this.code = code;
    this.reason = reason;
  }

  /** The error of a value that is refused before it is sent. */
  static CallFailedException invalid(String field, Object got, String want) {
    return new CallFailedException(
        Status.Code.INVALID_ARGUMENT, field + ": got " + got + ", want " + want);
  }

  /** NOT_FOUND, ... */
  public Status.Code code() {
    return code;
  }

  /** What the server, or this client, says about it. */
  public String reason() {
    return reason;
  }
}
