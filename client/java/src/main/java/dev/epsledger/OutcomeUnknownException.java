package dev.epsledger;

import io.grpc.Status;

/**
 * No try of a charge brought a decision. It may have been committed, and COUNTS AS SPENT: release
 * nothing for it. {@link Session#retryCharge} asks for the same charge again.
 */
public final class OutcomeUnknownException extends EpsledgerException {
  private final String chargeId;
  private final Status.Code code;
  private final String reason;

  OutcomeUnknownException(String chargeId, Status.Code code, String reason, String howItWent) {
    super("charge " + chargeId + ": the outcome is unknown and counts as spent (" + howItWent
        + "); release nothing for it until retryCharge(\"" + chargeId + "\") is accepted. Last answer: "
        + code + ": " + reason);
    this.chargeId = chargeId;
    this.code = code;
    this.reason = reason;
  }

  /** The key, for {@link Session#retryCharge}. */
  public String chargeId() {
    return chargeId;
  }

  /** The code of the last answer. */
  public Status.Code code() {
    return code;
  }

  /** What the last answer says. */
  public String reason() {
    return reason;
  }
}
