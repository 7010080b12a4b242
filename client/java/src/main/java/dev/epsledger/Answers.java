package dev.epsledger;

import com.google.protobuf.TextFormat;
import dev.epsledger.v1.AcquireLeaseRequest;
import dev.epsledger.v1.Charge;
import dev.epsledger.v1.ChargeRequest;
import dev.epsledger.v1.MechanismEvent;
import io.grpc.Status;
import java.util.Optional;

/** What an answer says of exactly the charge or lease that was asked for. */
final class Answers {
  private Answers() {}

  /**
   * Empty if and only if the answer is an ACCEPTED charge of exactly this key, event and count, with
   * a sequence number (the ledger's invariant I19).
   */
  static Optional<String> wrongCharge(ChargeRequest request, Charge charge) {
    String name = request.getAttempt() + "/charges/" + request.getChargeId();
    if (!charge.getName().equals(name)) {
      return differs(name, "name", charge.getName(), "that name");
    }
    if (charge.getDecision() != Charge.Decision.ACCEPTED) {
      return differs(name, "decision", charge.getDecision(), "ACCEPTED with status OK");
    }
    if (charge.getCount() != request.getCount()) {
      return differs(name, "count", charge.getCount(), request.getCount());
    }
    if (!charge.getEvent().equals(request.getEvent())) {
      return differs(name, "event", text(charge.getEvent()), text(request.getEvent()));
    }
    return wrongSequence(name, charge.getSequence());
  }

  /** The same for a lease, which must be open. */
  static Optional<String> wrongLease(AcquireLeaseRequest request, dev.epsledger.v1.Lease lease) {
    String name = request.getAttempt() + "/leases/" + request.getLeaseId();
    if (!lease.getName().equals(name)) {
      return differs(name, "name", lease.getName(), "that name");
    }
    if (lease.getGrantedCount() != request.getCount()) {
      return differs(name, "grantedCount", lease.getGrantedCount(), request.getCount());
    }
    if (!lease.getEvent().equals(request.getEvent())) {
      return differs(name, "event", text(lease.getEvent()), text(request.getEvent()));
    }
    if (lease.getSettled()) {
      return differs(name, "settled", true, "an open lease");
    }
    return wrongSequence(name, lease.getSequence());
  }

  /** The error of a key of which no try was accepted. */
  static EpsledgerException notAccepted(Tries<?> tries, String name, String id) {
    RpcError error = tries.error();
    for (Charge charge : error.detailsOf(Charge.class)) {
      if (charge.getDecision() != Charge.Decision.REFUSED || !charge.hasRefusal()) {
        continue;
      }
      return charge.getName().equals(name)
          ? new RefusedException(name, charge.getRefusal())
          : new OutcomeUnknownException(
              id,
              Status.Code.INTERNAL,
              differs(name, "refused charge", charge.getName(), "that name").get(),
              tries.howItWent());
    }
    return tries.mayHaveCommitted()
        ? new OutcomeUnknownException(id, error.code(), error.message(), tries.howItWent())
        : new CallFailedException(error.code(), error.message());
  }

  private static Optional<String> wrongSequence(String name, long sequence) {
    return sequence < 1 ? differs(name, "sequence", sequence, "1 or more") : Optional.empty();
  }

  private static Optional<String> differs(String asked, String field, Object got, Object want) {
    return Optional.of("the server's answer is not one to " + asked + ": " + field + ": got " + got
        + ", want " + want);
  }

  private static String text(MechanismEvent event) {
    return TextFormat.printer().printToString(event).strip().replaceAll("\n *", " ");
  }
}
