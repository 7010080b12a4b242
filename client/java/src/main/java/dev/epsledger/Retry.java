package dev.epsledger;

import java.time.Duration;

/**
 * How long and how often a call is tried. No setting makes an unknown outcome count as accepted.
 *
 * <p>A wait is uniform in [b/2, b]; b doubles from {@code initialBackoff} to {@code maxBackoff}. It is
 * never shorter than the server's RetryInfo asks.
 *
 * @param callTimeout of one try, in (0, 366 days]
 * @param overallTimeout of all tries and waits together, in (0, 366 days]
 * @param maxTries 0: as many as the time allows
 * @param initialBackoff in [0, maxBackoff]
 * @param maxBackoff at most 366 days
 */
public record Retry(
    Duration callTimeout,
    Duration overallTimeout,
    int maxTries,
    Duration initialBackoff,
    Duration maxBackoff) {
  private static final Duration MOST = Duration.ofDays(366);

  /** 10 s a try, 60 s in all, waits from 50 ms to 2 s. */
  public static final Retry DEFAULT =
      new Retry(
          Duration.ofSeconds(10), Duration.ofMinutes(1), 0, Duration.ofMillis(50), Duration.ofSeconds(2));

  /**
   * Checks the values.
   *
   * @throws CallFailedException names the one that is wrong
   */
  public Retry {
    checkTimeout("callTimeout", callTimeout);
    checkTimeout("overallTimeout", overallTimeout);
    if (maxTries < 0) {
      throw CallFailedException.invalid("retry.maxTries", maxTries, "0 or more");
    }
    if (initialBackoff.isNegative()) {
      throw CallFailedException.invalid("retry.initialBackoff", initialBackoff, "no negative time");
    }
    if (maxBackoff.compareTo(initialBackoff) < 0 || maxBackoff.compareTo(MOST) > 0) {
      throw CallFailedException.invalid(
          "retry.maxBackoff", maxBackoff, "in [initialBackoff, 366 days]");
    }
  }

  /** The same with another {@code callTimeout}. */
  public Retry withCallTimeout(Duration timeout) {
    return new Retry(timeout, overallTimeout, maxTries, initialBackoff, maxBackoff);
  }

  /** The same with another {@code overallTimeout}. */
  public Retry withOverallTimeout(Duration timeout) {
    return new Retry(callTimeout, timeout, maxTries, initialBackoff, maxBackoff);
  }

  /** The same with another {@code maxTries}. */
  public Retry withMaxTries(int tries) {
    return new Retry(callTimeout, overallTimeout, tries, initialBackoff, maxBackoff);
  }

  /** The same with other waits. */
  public Retry withBackoff(Duration initial, Duration max) {
    return new Retry(callTimeout, overallTimeout, maxTries, initial, max);
  }

  private static void checkTimeout(String field, Duration timeout) {
    if (timeout.isZero() || timeout.isNegative() || timeout.compareTo(MOST) > 0) {
      throw CallFailedException.invalid("retry." + field, timeout, "in (0, 366 days]");
    }
  }
}
