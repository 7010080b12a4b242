package dev.epsledger;

/** The base of all errors. None of them means that a step may run. */
public abstract sealed class EpsledgerException extends RuntimeException
    permits RefusedException, OutcomeUnknownException, CallFailedException, SpentException {
  EpsledgerException(String message) {
    super(message);
  }
}
