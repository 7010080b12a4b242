package dev.epsledger.examples;

import dev.epsledger.Client;
import dev.epsledger.EpsledgerException;
import dev.epsledger.Permit;
import dev.epsledger.Session;
import dev.epsledger.SessionOptions;
import dev.epsledger.v1.Gaussian;
import dev.epsledger.v1.MechanismEvent;
import dev.epsledger.v1.NeighboringRelation;
import dev.epsledger.v1.PoissonSampled;
import io.grpc.TlsChannelCredentials;
import java.io.File;
import java.io.IOException;

/**
 * Makes the first charge of a session, and draws noise only after it is accepted.
 *
 * <p>EPSLEDGER_SERVER, EPSLEDGER_TLS_CA, EPSLEDGER_TOKEN as for epsctl; the budget "people" must exist.
 */
public final class FirstCharge {
  private FirstCharge() {}

  public static void main(String[] arguments) throws IOException {
    try (Client client = connect()) {
      System.out.println(charge(client));
    } catch (EpsledgerException failed) { // refused, or unknown and so spent: no noise is drawn
      System.err.println(failed.getMessage());
      System.exit(1);
    }
  }

  private static Client connect() throws IOException {
    Client.Builder options = Client.builder().token(System.getenv().getOrDefault("EPSLEDGER_TOKEN", ""));
    String server = System.getenv("EPSLEDGER_SERVER");
    if (server != null) {
      options.address(server);
    }
    String authorities = System.getenv("EPSLEDGER_TLS_CA");
    if (authorities != null) {
      options.tls(TlsChannelCredentials.newBuilder().trustManager(new File(authorities)).build());
    }
    return options.connect();
  }

  private static String charge(Client client) {
    Session session = client.open(
        SessionOptions.of("people", "first-run-in-java")
            .withCreate(SessionOptions.newSession(NeighboringRelation.Kind.ADD_OR_REMOVE_ONE)));
    MechanismEvent noise = MechanismEvent.newBuilder()
        .setGaussian(Gaussian.newBuilder().setNoiseMultiplier(1.1))
        .build();
    MechanismEvent step = MechanismEvent.newBuilder()
        .setPoissonSampled(PoissonSampled.newBuilder().setSamplingProbability(0.01).setEvent(noise))
        .build();
    Permit permit = session.charge(step); // durable before it returns
    permit.use(); // once: only now is noise drawn
    return "charged as entry " + permit.sequence() + ", durably: only now is noise drawn";
  }
}
