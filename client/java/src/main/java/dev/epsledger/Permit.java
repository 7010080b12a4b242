package dev.epsledger;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The proof that the ledger durably ACCEPTED one charge. Only a {@link Session} or a {@link Lease}
 * makes one. Dropping it returns nothing: what is charged stays charged. Safe for concurrent use.
 */
public final class Permit {
  private final String charge;
  private final long sequence;
  private final AtomicLong usesLeft;

  Permit(String charge, long sequence, long uses) {
    this.charge = charge;
    this.sequence = sequence;
    this.usesLeft = new AtomicLong(uses);
  }

  /** "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}". */
  public String charge() {
    return charge;
  }

  /** The charge's position in the root budget's ledger. */
  public long sequence() {
    return sequence;
  }

  /** Uses that were charged and are not taken. */
  public long usesLeft() {
    return usesLeft.get();
  }

  /**
   * Takes one use: draw noise for one release if and only if it returns.
   *
   * @throws SpentException if none is left
   */
  public void use() {
    if (usesLeft.getAndUpdate(left -> left < 1 ? left : left - 1) < 1) {
      throw new SpentException("no use of " + charge + " is left");
    }
  }
}
