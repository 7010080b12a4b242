import { create } from '@bufbuild/protobuf';

import { LedgerHeadSchema, type LedgerHead } from '../generated/epsledger/v1/audit_pb.js';

const HASH_BYTES = 32;

/** What every answer says about its place in the ledger. */
export interface Entry {
  sequence: bigint;
  hash: Uint8Array;
  headTag: Uint8Array;
}

/** The newest ledger entry that this client has seen in each session. A server that is behind it has lost charges. */
export class SeenHeads {
  private readonly heads = new Map<string, LedgerHead>();

  /** The head to send; undefined if nothing was seen. */
  of(session: string): LedgerHead | undefined {
    return this.heads.get(session);
  }

  /**
   * Remembers the entry of an answer, unless a newer one was seen. Returns how the entry contradicts what was seen, and
   * then remembers nothing; undefined if it does not, or has no hash.
   *
   * A fork: it has the sequence number of the newest entry, and another hash. The ledger went back: it is not after
   * `sent`, the head that a new key, or an attempt, was sent with. An older key may have an older entry (undefined).
   */
  accept(session: string, answer: Entry, sent: LedgerHead | undefined): string | undefined {
    if (answer.sequence < 1n || answer.hash.length !== HASH_BYTES) return undefined;
    const seen = this.heads.get(session);
    if (seen?.sequence === answer.sequence && hex(seen.hash) !== hex(answer.hash)) {
      return (
        `a fork of the ledger: entry ${answer.sequence} has the hash ${hex(answer.hash)} here, and had ` +
        `${hex(seen.hash)} before; have the operator compare the server with its backups`
      );
    }
    if (sent !== undefined && answer.sequence <= sent.sequence) {
      return (
        `the ledger went back: the new entry has number ${answer.sequence}, after entry ${sent.sequence} was seen; ` +
        'have the operator compare the server with its backups'
      );
    }
    if (seen === undefined || seen.sequence < answer.sequence) {
      const { sequence, hash, headTag: tag } = answer;
      const rootBudget = session.slice(0, session.indexOf('/sessions/'));
      this.heads.set(session, create(LedgerHeadSchema, { rootBudget, sequence, hash, tag }));
    }
    return undefined;
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
