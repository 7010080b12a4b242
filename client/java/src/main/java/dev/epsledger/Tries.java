package dev.epsledger;

import java.util.Locale;

/**
 * The outcome of all tries of one call: the answer, or the error of the last try. The other one is
 * null.
 *
 * @param mayHaveCommitted some try ended without saying that nothing was written
 */
record Tries<A>(A answer, RpcError error, boolean mayHaveCommitted, int count, double seconds) {
  /** "3 tries in 1.2 s". */
  String howItWent() {
    return String.format(Locale.ROOT, "%d tries in %.1f s", count, seconds);
  }
}
