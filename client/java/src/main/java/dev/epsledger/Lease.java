package dev.epsledger;

import dev.epsledger.v1.SettleLeaseRequest;
import io.grpc.Status;

/**
 * A block of steps that the ledger durably ACCEPTED as one charge, to be spent without asking the
 * server.
 *
 * <p>It gives at most as many permits as it was granted, and none after the first {@link #settle}.
 * Everything was charged when it was acquired: granted = used + wasted, and a lost lease is spent in
 * full. No lease ends by itself. Safe for concurrent use.
 */
public final class Lease {
  private final Connection connection;
  private final String name;
  private final String charge;
  private final long sequence;
  private final long grantedCount;

  private long used;
  private boolean ended;
  private boolean settled;

  Lease(Connection connection, String charge, dev.epsledger.v1.Lease granted) {
    this.connection = connection;
    this.name = granted.getName();
    this.charge = charge;
    this.sequence = granted.getSequence();
    this.grantedCount = granted.getGrantedCount();
  }

  /** "budgets/{budget}/sessions/{session}/attempts/{attempt}/leases/{lease}". */
  public String name() {
    return name;
  }

  /** How many steps were charged. */
  public long grantedCount() {
    return grantedCount;
  }

  /**
   * Returns the permit of one more step.
   *
   * @throws SpentException if all are taken, or after {@link #settle}
   */
  public synchronized Permit take() {
    if (ended) {
      throw new SpentException(name + " is settled");
    }
    if (used >= grantedCount) {
      throw new SpentException("all " + grantedCount + " steps of " + name + " are taken");
    }
    ++used;
    return new Permit(charge, sequence, 1);
  }

  /**
   * Ends the lease and tells the ledger how many steps were taken. Calling it again continues to
   * try, and does nothing after a success.
   *
   * @throws CallFailedException the lease is spent in full until a settle succeeds
   */
  public void settle() {
    long usedCount;
    synchronized (this) {
      ended = true;
      if (settled) {
        return;
      }
      usedCount = used;
    }
    dev.epsledger.v1.Lease answer =
        connection.call(
            Methods.SETTLE_LEASE,
            SettleLeaseRequest.newBuilder().setName(name).setUsedCount(usedCount).build());
    if (!answer.getName().equals(name) || !answer.getSettled() || answer.getUsedCount() != usedCount) {
      throw new CallFailedException(
          Status.Code.INTERNAL, "the server's answer is not one to settling " + name);
    }
    synchronized (this) {
      settled = true;
    }
  }
}
