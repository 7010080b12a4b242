package dev.epsledger.conformance;

import com.google.gson.Gson;
import com.google.gson.annotations.SerializedName;
import dev.epsledger.CallFailedException;
import dev.epsledger.Client;
import dev.epsledger.EpsledgerException;
import dev.epsledger.Lease;
import dev.epsledger.OutcomeUnknownException;
import dev.epsledger.Permit;
import dev.epsledger.RefusedException;
import dev.epsledger.Retry;
import dev.epsledger.Session;
import dev.epsledger.SessionOptions;
import dev.epsledger.v1.MechanismEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** Moves this client for tests/conformance/conformance.py. */
public final class Driver {
  private Client client;
  private Session session;
  private final List<Permit> permits = new ArrayList<>();
  private final List<Lease> leases = new ArrayList<>();

  /** One line of standard input. The names are those of the set. */
  private static final class Command {
    @SerializedName("do")
    String what;
    String address;
    String token = "";
    boolean allowInsecure;
    RetrySettings retry;
    String budget;
    String session;
    @SerializedName("event_bytes")
    String eventBytes;
    long count;
    long seconds;
    @SerializedName("charge_id")
    String chargeId;
    int permit;
    int lease;

    MechanismEvent event() throws IOException {
      return MechanismEvent.parseFrom(Base64.getDecoder().decode(eventBytes));
    }
  }

  private static final class RetrySettings {
    long callTimeoutMs;
    long overallTimeoutMs;
    int maxTries;
    long initialBackoffMs;
    long maxBackoffMs;

    Retry retry() {
      return new Retry(
          Duration.ofMillis(callTimeoutMs), Duration.ofMillis(overallTimeoutMs), maxTries,
          Duration.ofMillis(initialBackoffMs), Duration.ofMillis(maxBackoffMs));
    }
  }

  public static void main(String[] arguments) throws IOException {
    Gson gson = new Gson();
    Driver driver = new Driver();
    PrintStream output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      output.println(gson.toJson(driver.verdictOf(gson.fromJson(line, Command.class))));
    }
    driver.closeClient();
  }

  private Map<String, Object> verdictOf(Command asked) throws IOException {
    try {
      return carryOut(asked);
    } catch (EpsledgerException failed) {
      return failure(failed);
    }
  }

  private Map<String, Object> carryOut(Command asked) throws IOException {
    switch (asked.what) {
      case "connect" -> connect(asked);
      case "open" -> session = client.open(SessionOptions.of(asked.budget, asked.session));
      case "charge" -> {
        return kept(session.charge(asked.event(), asked.count));
      }
      case "retry" -> {
        return kept(session.retryCharge(asked.chargeId));
      }
      case "unknown" -> {
        return Map.of("is", "ok", "ids", session.unknownCharges());
      }
      case "use" -> permits.get(asked.permit).use();
      case "lease" -> {
        Lease lease = session.lease(asked.event(), asked.count, Duration.ofSeconds(asked.seconds));
        leases.add(lease);
        return Map.of("is", "lease", "granted", Long.toString(lease.grantedCount()));
      }
      case "take" -> {
        return kept(leases.get(asked.lease).take());
      }
      case "settle" -> leases.get(asked.lease).settle();
      default -> throw new IllegalArgumentException("no command " + asked.what);
    }
    return Map.of("is", "ok");
  }

  private void connect(Command asked) {
    closeClient();
    session = null;
    permits.clear();
    leases.clear();
    client = Client.builder()
        .address(asked.address)
        .token(asked.token)
        .allowInsecure(asked.allowInsecure)
        .retry(asked.retry.retry())
        .connect();
  }

  private void closeClient() {
    if (client != null) {
      client.close();
      client = null;
    }
  }

  private Map<String, Object> kept(Permit permit) {
    permits.add(permit);
    return Map.of(
        "is", "permit",
        "charge", permit.charge(),
        "sequence", Long.toString(permit.sequence()),
        "uses", Long.toString(permit.usesLeft()));
  }

  private static Map<String, Object> failure(EpsledgerException failed) {
    String text = failed.getMessage();
    if (failed instanceof RefusedException refused) {
      return Map.of("is", "refused", "reason", refused.reason(), "charge", refused.charge(), "text", text);
    }
    if (failed instanceof OutcomeUnknownException unknown) {
      return Map.of(
          "is", "unknown", "charge_id", unknown.chargeId(), "code", unknown.code().name(), "text", text);
    }
    if (failed instanceof CallFailedException call) {
      return Map.of("is", "error", "code", call.code().name(), "text", text);
    }
    return Map.of("is", "spent", "text", text);
  }
}
