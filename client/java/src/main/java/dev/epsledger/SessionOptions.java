package dev.epsledger;

import dev.epsledger.v1.NeighboringRelation;
import dev.epsledger.v1.Provenance;

/**
 * Says which session is opened.
 *
 * @param budget "people" or "budgets/people"; it must exist
 * @param session the last segment of the session's name
 * @param create the session to create first; if one with the same content exists, nothing changes.
 *     null: it must exist
 * @param provenance what the attempt declares about itself; null: nothing
 * @param description who runs the attempt, for people; empty: nothing is said
 */
public record SessionOptions(
    String budget,
    String session,
    dev.epsledger.v1.Session create,
    Provenance provenance,
    String description) {
  /** A session that exists. */
  public static SessionOptions of(String budget, String session) {
    return new SessionOptions(budget, session, null, null, "");
  }

  /** An adaptive session without a cap of its own, for {@link #withCreate}. */
  public static dev.epsledger.v1.Session newSession(NeighboringRelation.Kind relation) {
    return dev.epsledger.v1.Session.newBuilder()
        .setMode(dev.epsledger.v1.Session.Mode.ADAPTIVE)
        .setNeighboringRelation(relation)
        .setNoOwnCap(true)
        .build();
  }

  /** The same with a session to create first. */
  public SessionOptions withCreate(dev.epsledger.v1.Session created) {
    return new SessionOptions(budget, session, created, provenance, description);
  }

  /** The same with what the attempt declares about itself. */
  public SessionOptions withProvenance(Provenance declared) {
    return new SessionOptions(budget, session, create, declared, description);
  }

  /** The same with who runs the attempt. */
  public SessionOptions withDescription(String said) {
    return new SessionOptions(budget, session, create, provenance, said);
  }
}
