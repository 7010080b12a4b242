package dev.epsledger;

import dev.epsledger.v1.Attempt;
import dev.epsledger.v1.CreateSessionRequest;
import dev.epsledger.v1.LedgerHead;
import dev.epsledger.v1.OpenAttemptRequest;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.util.concurrent.TimeUnit;

/**
 * A connection to an epsledger server, which is charged before each noisy step, and refuses a step
 * that would overspend. Safe for concurrent use.
 *
 * <p>The rules that it keeps are those of tests/conformance/README.md. The messages of the API are in
 * dev.epsledger.v1.
 */
public final class Client implements AutoCloseable {
  private final Connection connection;

  private Client(Connection connection) {
    this.connection = connection;
  }

  /** Says where the server is, and how it is reached. */
  public static Builder builder() {
    return new Builder();
  }

  /** Ends the connection, and calls that are running. Its sessions charge nothing more. */
  @Override
  public void close() {
    connection.channel().shutdownNow();
  }

  /** For the parts of the API that this package has no words for: stubs of one's own take it. */
  public Channel channel() {
    return connection.channel();
  }

  /**
   * Opens the next attempt of a session, which fences all earlier ones.
   *
   * @throws RefusedException the plan of the session does not fit
   * @throws CallFailedException there is no session
   */
  public Session open(SessionOptions options) {
    String parent = "budgets/" + options.budget().replaceFirst("^budgets/", "");
    String name = parent + "/sessions/" + options.session();
    if (options.create() != null) {
      connection.call(
          Methods.CREATE_SESSION,
          CreateSessionRequest.newBuilder()
              .setParent(parent)
              .setSessionId(options.session())
              .setSession(options.create())
              .build());
    }
    return new Session(connection, name, openAttempt(name, options));
  }

  /** Returns the attempt's name. */
  private String openAttempt(String session, SessionOptions options) {
    OpenAttemptRequest.Builder request =
        OpenAttemptRequest.newBuilder().setSession(session).setClientDescription(options.description());
    if (options.provenance() != null) {
      request.setProvenance(options.provenance());
    }
    connection.heads().of(session).ifPresent(request::setLastSeenHead);
    LedgerHead sent = request.getLastSeenHead();
    Attempt attempt = connection.call(Methods.OPEN_ATTEMPT, request.build());
    if (attempt.getNumber() < 1
        || !attempt.getName().equals(session + "/attempts/" + attempt.getNumber())) {
      throw new CallFailedException(
          Status.Code.INTERNAL,
          "the server opened the attempt \"" + attempt.getName() + "\" number " + attempt.getNumber()
              + " of " + session + ": these do not fit together");
    }
    connection.heads().accept(session, SeenHeads.Entry.of(attempt), sent).ifPresent(wrong -> {
      throw new CallFailedException(Status.Code.DATA_LOSS, wrong);
    });
    return attempt.getName();
  }

  /** The options of a connection. It has no text of its own, so that none shows the token. */
  public static final class Builder {
    private String address = "127.0.0.1:50551";
    private ChannelCredentials tls;
    private boolean allowInsecure;
    private String token = "";
    private Retry retry = Retry.DEFAULT;

    private Builder() {}

    /** "host:port" or "unix:path"; 127.0.0.1:50551 if it is not said. */
    public Builder address(String value) {
      address = value;
      return this;
    }

    /**
     * What {@link TlsChannelCredentials} makes. null, as at first: plaintext, to loopback addresses
     * and unix sockets only.
     */
    public Builder tls(ChannelCredentials value) {
      tls = value;
      return this;
    }

    /**
     * Allows plaintext to other addresses. Anybody who can change the answers on the way can turn a
     * refusal into a permit.
     */
    public Builder allowInsecure(boolean value) {
      allowInsecure = value;
      return this;
    }

    /**
     * The caller's secret, "epsl_..."; empty: none. It is never sent without TLS to an address that
     * is not local.
     */
    public Builder token(String value) {
      token = value;
      return this;
    }

    /** How long and how often a call is tried. */
    public Builder retry(Retry value) {
      retry = value;
      return this;
    }

    /**
     * Checks the options; the first call connects.
     *
     * @throws CallFailedException names the option that is wrong
     */
    public Client connect() {
      if (tls != null && !(tls instanceof TlsChannelCredentials)) {
        throw CallFailedException.invalid(
            "tls", tls.getClass().getSimpleName(), "what TlsChannelCredentials makes, or null");
      }
      Address.check(address, token, tls != null, allowInsecure);
      return new Client(new Connection(channel(), retry));
    }

    private ManagedChannel channel() {
      try {
        ManagedChannelBuilder<?> builder =
            Grpc.newChannelBuilder(address, tls == null ? InsecureChannelCredentials.create() : tls)
                .disableRetry() // Retry alone decides the number of tries
                .disableServiceConfigLookUp()
                .keepAliveTime(1, TimeUnit.MINUTES)
                .keepAliveTimeout(20, TimeUnit.SECONDS);
        if (tls == null) { // a proxy of the environment would carry it off the machine
          builder.proxyDetector(server -> null);
        }
        if (Address.isUnixSocket(address)) {
          builder.overrideAuthority("localhost");
        }
        if (!token.isEmpty()) {
          builder.intercept(MetadataUtils.newAttachHeadersInterceptor(bearer(token)));
        }
        return builder.build();
      } catch (IllegalArgumentException | ManagedChannelProvider.ProviderNotFoundException wrong) {
        throw CallFailedException.invalid(
            "address", address, "host:port or unix:path (" + wrong.getMessage() + ")");
      }
    }

    private static Metadata bearer(String token) {
      Metadata headers = new Metadata();
      headers.put(
          Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
      return headers;
    }
  }
}
