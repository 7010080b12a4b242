package dev.epsledger;

import io.grpc.Status;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where plaintext and a token may go. */
final class Address {
  private static final Pattern HOST_AND_PORT = Pattern.compile("(?:\\[([^\\]]*)\\]|([^:]*)):[0-9]{1,5}");
  private static final Pattern LOOPBACK =
      Pattern.compile("127(?:\\.(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])){3}");

  private Address() {}

  /** Refuses plaintext that others could read or change. Its errors never repeat the token. */
  static void check(String address, String token, boolean hasTls, boolean allowInsecure) {
    if (token.chars().anyMatch(letter -> letter <= ' ' || letter >= 0x7f)) {
      throw CallFailedException.invalid(
          "token", "something else", "the secret of a token, without white space");
    }
    if (hasTls || isLocal(address)) {
      return;
    }
    if (!token.isEmpty()) {
      throw new CallFailedException(
          Status.Code.INVALID_ARGUMENT,
          "token: would be sent in plaintext to " + address
              + ", where others can read it on the way: use TLS");
    }
    if (!allowInsecure) {
      throw CallFailedException.invalid(
          "address", address, "a loopback address or a unix socket where there is no TLS");
    }
  }

  static boolean isUnixSocket(String address) {
    return address.startsWith("unix:");
  }

  /**
   * True for a unix socket, a literal loopback address or "localhost" with a port, and for nothing
   * else. No name is looked up.
   */
  static boolean isLocal(String address) {
    if (isUnixSocket(address)) {
      return true;
    }
    Matcher found = HOST_AND_PORT.matcher(address);
    if (!found.matches()) {
      return false;
    }
    String inBrackets = found.group(1);
    String plain = found.group(2);
    return plain == null
        ? inBrackets.equals("::1")
        : plain.equals("localhost") || LOOPBACK.matcher(plain).matches();
  }
}
