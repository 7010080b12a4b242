package dev.epsledger;

/** Every use of a permit, or every step of a lease, is taken, or the lease is settled. */
public final class SpentException extends EpsledgerException {
  SpentException(String what) {
    super(what + ": charge again before the next release");
  }
}
