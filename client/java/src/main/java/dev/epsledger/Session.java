package dev.epsledger;

import dev.epsledger.v1.AcquireLeaseRequest;
import dev.epsledger.v1.Charge;
import dev.epsledger.v1.ChargeRequest;
import dev.epsledger.v1.LedgerHead;
import dev.epsledger.v1.MechanismEvent;
import io.grpc.Status;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One attempt of one session. {@link Client#open} opened it and fenced all earlier attempts. Safe for
 * concurrent use.
 *
 * <p>Every charge has its own key in the attempt. All tries of a charge send the same bytes, so the
 * ledger counts it at most once. A permit comes only from an ACCEPTED answer to exactly that key.
 * There is no fail-open option.
 */
public final class Session {
  private static final long MOST_USES = 1L << 53;

  private final Connection connection;
  private final String name;
  private final String attempt;

  private long lastStep;
  private long lastLease;
  private final Map<String, ChargeRequest> unknown = new LinkedHashMap<>();

  Session(Connection connection, String name, String attempt) {
    this.connection = connection;
    this.name = name;
    this.attempt = attempt;
  }

  /** "budgets/{budget}/sessions/{session}". */
  public String name() {
    return name;
  }

  /** "budgets/{budget}/sessions/{session}/attempts/{attempt}". */
  public String attempt() {
    return attempt;
  }

  /** The same with one use. */
  public Permit charge(MechanismEvent event) {
    return charge(event, 1);
  }

  /**
   * Charges {@code count} uses of {@code event}, in [1, 2^53], waits until that is durable, and
   * returns the permit.
   *
   * @throws RefusedException nothing was charged
   * @throws OutcomeUnknownException it counts as spent
   * @throws CallFailedException nothing was charged
   */
  public Permit charge(MechanismEvent event, long count) {
    checkCharge(event, count);
    ChargeRequest.Builder request =
        ChargeRequest.newBuilder()
            .setAttempt(attempt)
            .setChargeId("step-" + nextStep())
            .setEvent(event)
            .setCount(count);
    connection.heads().of(name).ifPresent(request::setLastSeenHead);
    return permitOf(request.build(), request.getLastSeenHead());
  }

  /**
   * Asks again for a charge of {@link #unknownCharges}, with its key, event and count. One charge
   * never gives two permits. Errors are those of {@link #charge(MechanismEvent, long)}.
   */
  public Permit retryCharge(String chargeId) {
    ChargeRequest before;
    synchronized (this) { // taken out during the call, so that two callers never get a permit each
      before = unknown.remove(chargeId);
    }
    if (before == null) {
      throw CallFailedException.invalid("chargeId", chargeId, "one of unknownCharges");
    }
    ChargeRequest.Builder request = before.toBuilder();
    connection.heads().of(name).ifPresent(request::setLastSeenHead);
    try {
      return permitOf(request.build(), LedgerHead.getDefaultInstance());
    } catch (CallFailedException failed) {
      // No try of this round reached a decision, and one of an earlier round may have committed.
      remember(request.build());
      throw new OutcomeUnknownException(chargeId, failed.code(), failed.reason(), "asked again");
    }
  }

  /** The ids of the charges whose outcome is unknown, oldest first. They count as spent. */
  public synchronized List<String> unknownCharges() {
    return List.copyOf(unknown.keySet());
  }

  /**
   * Charges {@code count} uses of {@code event} in one charge, for {@link Lease#take} to hand out
   * without asking. After {@code timeToLive}, whole seconds up to 366 days, people should ask about
   * the lease: none ends by itself. Errors are those of {@link #charge(MechanismEvent, long)}. A lease
   * whose outcome stays unknown is spent in full, and another one may be acquired.
   */
  public Lease lease(MechanismEvent event, long count, Duration timeToLive) {
    checkCharge(event, count);
    String id = "lease-" + nextLease();
    AcquireLeaseRequest.Builder request =
        AcquireLeaseRequest.newBuilder()
            .setAttempt(attempt)
            .setLeaseId(id)
            .setEvent(event)
            .setCount(count)
            .setTimeToLive(
                com.google.protobuf.Duration.newBuilder()
                    .setSeconds(timeToLive.getSeconds())
                    .setNanos(timeToLive.getNano()));
    connection.heads().of(name).ifPresent(request::setLastSeenHead);
    AcquireLeaseRequest asked = request.build();
    Tries<dev.epsledger.v1.Lease> tries =
        connection.tries(Methods.ACQUIRE_LEASE, asked);
    String charge = attempt + "/charges/" + id;
    if (tries.error() != null) {
      throw Answers.notAccepted(tries, charge, id);
    }
    dev.epsledger.v1.Lease granted = tries.answer();
    Answers.wrongLease(asked, granted).ifPresent(wrong -> {
      throw new OutcomeUnknownException(id, Status.Code.INTERNAL, wrong, tries.howItWent());
    });
    SeenHeads.Entry entry = SeenHeads.Entry.of(granted);
    connection.heads().accept(name, entry, asked.getLastSeenHead()).ifPresent(wrong -> {
      throw new OutcomeUnknownException(id, Status.Code.DATA_LOSS, wrong, tries.howItWent());
    });
    return new Lease(connection, charge, granted);
  }

  /** Sends a request, always with its one key, until the outcome is definite or the tries are used up. */
  private Permit permitOf(ChargeRequest request, LedgerHead sent) {
    Tries<Charge> tries;
    try {
      tries = connection.tries(Methods.CHARGE, request);
    } catch (Error failed) { // no memory, ...: a try may have committed
      remember(request);
      throw failed;
    }
    Optional<EpsledgerException> failed = failureOf(request, tries, sent);
    if (failed.isEmpty()) {
      return new Permit(tries.answer().getName(), tries.answer().getSequence(), request.getCount());
    }
    if (failed.get() instanceof OutcomeUnknownException) {
      remember(request);
    }
    throw failed.get();
  }

  /** Empty if and only if the charge is accepted. */
  private Optional<EpsledgerException> failureOf(
      ChargeRequest request, Tries<Charge> tries, LedgerHead sent) {
    String id = request.getChargeId();
    if (tries.error() != null) {
      return Optional.of(Answers.notAccepted(tries, request.getAttempt() + "/charges/" + id, id));
    }
    Optional<String> wrong = Answers.wrongCharge(request, tries.answer());
    Status.Code code = wrong.isPresent() ? Status.Code.INTERNAL : Status.Code.DATA_LOSS;
    return wrong
        .or(() -> connection.heads().accept(name, SeenHeads.Entry.of(tries.answer()), sent))
        .map(why -> new OutcomeUnknownException(id, code, why, tries.howItWent()));
  }

  private synchronized long nextStep() {
    return ++lastStep;
  }

  private synchronized long nextLease() {
    return ++lastLease;
  }

  private synchronized void remember(ChargeRequest request) {
    unknown.put(request.getChargeId(), request);
  }

  private static void checkCharge(MechanismEvent event, long count) {
    if (count < 1 || count > MOST_USES) {
      throw CallFailedException.invalid("count", count, "in [1, 2^53]");
    }
    if (event.getKindCase() == MechanismEvent.KindCase.KIND_NOT_SET) {
      throw CallFailedException.invalid("event", "none", "a mechanism");
    }
  }
}
