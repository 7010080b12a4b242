package dev.epsledger;

import com.google.protobuf.ByteString;
import dev.epsledger.v1.Attempt;
import dev.epsledger.v1.Charge;
import dev.epsledger.v1.LedgerHead;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/**
 * The newest ledger entry that this client has seen in each session. A server that is behind it has
 * lost charges. Safe for concurrent use.
 */
final class SeenHeads {
  private static final int HASH_BYTES = 32;

  private final Map<String, LedgerHead> heads = new HashMap<>();

  /** What every answer says about its place in the ledger. */
  record Entry(long sequence, ByteString hash, ByteString tag) {
    static Entry of(Charge charge) {
      return new Entry(charge.getSequence(), charge.getHash(), charge.getHeadTag());
    }

    static Entry of(dev.epsledger.v1.Lease lease) {
      return new Entry(lease.getSequence(), lease.getHash(), lease.getHeadTag());
    }

    static Entry of(Attempt attempt) {
      return new Entry(attempt.getSequence(), attempt.getHash(), attempt.getHeadTag());
    }
  }

  /** The head to send; empty if nothing was seen. */
  synchronized Optional<LedgerHead> of(String session) {
    return Optional.ofNullable(heads.get(session));
  }

  /**
   * Remembers the entry of an answer, unless a newer one was seen. Returns how the entry contradicts
   * what was seen, and then remembers nothing; empty if it does not, or has no hash.
   *
   * <p>A fork: it has the sequence number of the newest entry, and another hash. The ledger went
   * back: it is not after {@code sent}, the head that a new key, or an attempt, was sent with. An
   * older key may have an older entry: {@code sent} is then, as without a head, the empty message.
   */
  synchronized Optional<String> accept(String session, Entry answer, LedgerHead sent) {
    if (answer.sequence() < 1 || answer.hash().size() != HASH_BYTES) {
      return Optional.empty();
    }
    LedgerHead seen = heads.getOrDefault(session, LedgerHead.getDefaultInstance());
    if (seen.getSequence() == answer.sequence() && !seen.getHash().equals(answer.hash())) {
      return Optional.of("a fork of the ledger: entry " + answer.sequence() + " has the hash "
          + hex(answer.hash()) + " here, and had " + hex(seen.getHash())
          + " before; have the operator compare the server with its backups");
    }
    if (answer.sequence() <= sent.getSequence()) {
      return Optional.of("the ledger went back: the new entry has number " + answer.sequence()
          + ", after entry " + sent.getSequence()
          + " was seen; have the operator compare the server with its backups");
    }
    if (seen.getSequence() < answer.sequence()) {
      heads.put(session, head(session.substring(0, session.indexOf("/sessions/")), answer));
    }
    return Optional.empty();
  }

  private static LedgerHead head(String rootBudget, Entry entry) {
    return LedgerHead.newBuilder()
        .setRootBudget(rootBudget)
        .setSequence(entry.sequence())
        .setHash(entry.hash())
        .setTag(entry.tag())
        .build();
  }

  private static String hex(ByteString bytes) {
    return HexFormat.of().formatHex(bytes.toByteArray());
  }
}
