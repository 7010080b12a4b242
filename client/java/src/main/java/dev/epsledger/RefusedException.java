package dev.epsledger;

import dev.epsledger.v1.Refusal;

/**
 * The ledger refused a charge or a lease: nothing was charged, and nothing may be released. It is
 * final: the same key gets the same refusal for ever.
 */
public final class RefusedException extends EpsledgerException {
  private final String charge;
  private final Refusal refusal;

  RefusedException(String charge, Refusal refusal) {
    super(text(refusal));
    this.charge = charge;
    this.refusal = refusal;
  }

  /** "budgets/.../charges/step-3"; empty if a session's plan was refused. */
  public String charge() {
    return charge;
  }

  /** All that the ledger says about it. */
  public Refusal refusal() {
    return refusal;
  }

  /** "BUDGET_EXHAUSTED", "ATTEMPT_FENCED" (a newer attempt was opened: stop this one), ... */
  public String reason() {
    return reasonName(refusal);
  }

  /** A reason that this version does not know is a reason too. */
  private static String reasonName(Refusal refusal) {
    Refusal.Reason known = Refusal.Reason.forNumber(refusal.getReasonValue());
    return known == null ? "REASON_" + refusal.getReasonValue() : known.name();
  }

  private static String text(Refusal refusal) {
    String resource = refusal.getLimitingResource();
    String by = resource.isEmpty() ? "" : " by " + resource;
    return "refused, " + reasonName(refusal) + by + ": " + whatToDo(refusal);
  }

  private static String whatToDo(Refusal refusal) {
    if (!refusal.getRemedy().isEmpty()) {
      return refusal.getRemedy();
    }
    if (refusal.getStepsThatFit() > 0) {
      return "ask for at most " + refusal.getStepsThatFit() + " of it, or for more noise";
    }
    return switch (refusal.getReason()) {
      case BUDGET_EXHAUSTED -> "no step of this size fits any more: ask for more noise, or stop";
      case ATTEMPT_FENCED -> "a newer attempt of this session is running; stop this one";
      default -> "nothing was charged, and nothing may be released";
    };
  }
}
