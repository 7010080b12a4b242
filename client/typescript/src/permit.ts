import { Spent } from './errors.js';

/**
 * The proof that the ledger durably ACCEPTED one charge. Only a Session or a Lease makes one. Dropping it returns
 * nothing: what is charged stays charged.
 */
export class Permit {
  #usesLeft: bigint;

  /** @internal */
  constructor(
    /** "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}". */
    readonly charge: string,
    /** The charge's position in the root budget's ledger. */
    readonly sequence: bigint,
    uses: bigint,
  ) {
    this.#usesLeft = uses;
  }

  /** Uses that were charged and are not taken. */
  get usesLeft(): bigint {
    return this.#usesLeft;
  }

  /** Takes one use: draw noise for one release after it returns. Throws Spent if none is left. */
  use(): void {
    if (this.#usesLeft < 1n) throw new Spent(`no use of ${this.charge} is left`);
    --this.#usesLeft;
  }
}
