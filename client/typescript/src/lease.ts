import { ChargeService } from '../generated/epsledger/v1/charge_service_pb.js';
import type { Connection } from './connection.js';
import { CallFailed, Spent } from './errors.js';
import { Permit } from './permit.js';

/**
 * A block of steps that the ledger durably ACCEPTED as one charge, to be spent without asking the server.
 *
 * It gives at most as many permits as it was granted, and none after the first settle. Everything was charged when it
 * was acquired: granted = used + wasted, and a lost lease is spent in full. No lease ends by itself.
 */
export class Lease {
  #used = 0n;
  #ended = false;
  #settled = false;

  /** @internal */
  constructor(
    private readonly connection: Connection,
    readonly name: string,
    private readonly charge: string,
    private readonly sequence: bigint,
    readonly grantedCount: bigint,
  ) {}

  /** The permit of one more step. Throws Spent if all are taken, or after settle. */
  take(): Permit {
    if (this.#ended) throw new Spent(`${this.name} is settled`);
    if (this.#used >= this.grantedCount) throw new Spent(`all ${this.grantedCount} steps of ${this.name} are taken`);
    ++this.#used;
    return new Permit(this.charge, this.sequence, 1n);
  }

  /** Ends the lease and tells the ledger how many steps were taken. Again: continues to try; nothing after a success. */
  async settle(): Promise<void> {
    this.#ended = true;
    if (this.#settled) return;
    const usedCount = this.#used;
    const answer = await this.connection.call(ChargeService.method.settleLease, { name: this.name, usedCount });
    if (answer.name !== this.name || !answer.settled || answer.usedCount !== usedCount) {
      throw new CallFailed('INTERNAL', `the server's answer is not one to settling ${this.name}`);
    }
    this.#settled = true;
  }
}
