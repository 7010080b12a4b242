import { clone, create, equals, toJsonString } from '@bufbuild/protobuf';

import type { LedgerHead } from '../generated/epsledger/v1/audit_pb.js';
import { Charge_Decision, ChargeSchema, type Charge, type Lease as LeaseMessage } from '../generated/epsledger/v1/charge_pb.js';
import {
  AcquireLeaseRequestSchema, ChargeRequestSchema, ChargeService, type AcquireLeaseRequest, type ChargeRequest,
} from '../generated/epsledger/v1/charge_service_pb.js';
import { MechanismEventSchema, type MechanismEvent } from '../generated/epsledger/v1/mechanism_pb.js';
import type { Connection } from './connection.js';
import { CallFailed, EpsledgerError, invalid, OutcomeUnknown, Refused } from './errors.js';
import { Lease } from './lease.js';
import { Permit } from './permit.js';
import type { Tries } from './retry.js';

const MOST_USES = 2n ** 53n;

/**
 * One attempt of one session. Client.open opened it and fenced all earlier attempts.
 *
 * Every charge has its own key in the attempt. All tries of a charge send the same bytes, so the ledger counts it at most
 * once. A permit comes only from an ACCEPTED answer to exactly that key. There is no fail-open option.
 */
export class Session {
  private lastStep = 0;
  private lastLease = 0;
  private readonly unknown = new Map<string, ChargeRequest>();

  /** @internal */
  constructor(
    private readonly connection: Connection,
    /** "budgets/{budget}/sessions/{session}". */
    readonly name: string,
    /** "budgets/{budget}/sessions/{session}/attempts/{attempt}". */
    readonly attempt: string,
  ) {}

  /** The ids of the charges whose outcome is unknown, oldest first. They count as spent. */
  get unknownCharges(): string[] {
    return [...this.unknown.keys()];
  }

  /**
   * Charges `count` uses of `event`, in [1, 2^53], waits until that is durable, and returns the permit. Rejects with
   * Refused or CallFailed (nothing was charged), or OutcomeUnknown (it counts as spent).
   */
  async charge(event: MechanismEvent, count = 1n): Promise<Permit> {
    checkCharge(event, count);
    const lastSeenHead = this.connection.heads.of(this.name);
    const request = create(ChargeRequestSchema, {
      attempt: this.attempt, chargeId: `step-${++this.lastStep}`, event: clone(MechanismEventSchema, event), count,
      lastSeenHead,
    });
    return this.permitOf(request, lastSeenHead);
  }

  /** Asks again for a charge of unknownCharges, with its key, event and count. One charge never gives two permits. */
  async retryCharge(chargeId: string): Promise<Permit> {
    const before = this.unknown.get(chargeId);
    if (before === undefined) throw invalid('chargeId', chargeId, 'one of unknownCharges');
    this.unknown.delete(chargeId); // taken out during the call, so that two callers never get a permit each
    const request = create(ChargeRequestSchema, { ...before, lastSeenHead: this.connection.heads.of(this.name) });
    try {
      return await this.permitOf(request, undefined);
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      // No try of this round reached a decision, and one of an earlier round may have committed.
      this.unknown.set(chargeId, request);
      throw new OutcomeUnknown(chargeId, error.code, error.reason, 'asked again');
    }
  }

  /**
   * Charges `count` uses of `event` in one charge, for Lease.take to hand out without asking. After `seconds`, in
   * [1, 31622400], people should ask about the lease: none ends by itself. Errors are those of charge. A lease whose
   * outcome stays unknown is spent in full, and another one may be acquired.
   */
  async lease(event: MechanismEvent, count: bigint, seconds = 86_400n): Promise<Lease> {
    checkCharge(event, count);
    const lastSeenHead = this.connection.heads.of(this.name);
    const request = create(AcquireLeaseRequestSchema, {
      attempt: this.attempt, leaseId: `lease-${++this.lastLease}`, event: clone(MechanismEventSchema, event), count,
      timeToLive: { seconds }, lastSeenHead,
    });
    const tries = await this.connection.tries(ChargeService.method.acquireLease, request);
    const charge = `${this.attempt}/charges/${request.leaseId}`;
    if (tries.answer === undefined) throw notAccepted(tries, charge, request.leaseId);
    const lease = tries.answer;
    const wrong = wrongLease(request, lease);
    if (wrong !== undefined) throw new OutcomeUnknown(request.leaseId, 'INTERNAL', wrong, tries.howItWent);
    const contradiction = this.connection.heads.accept(this.name, lease, lastSeenHead);
    if (contradiction !== undefined) {
      throw new OutcomeUnknown(request.leaseId, 'DATA_LOSS', contradiction, tries.howItWent);
    }
    return new Lease(this.connection, lease.name, charge, lease.sequence, lease.grantedCount);
  }

  /** Sends a request, always with its one key, until the outcome is definite or the tries are used up. */
  private async permitOf(request: ChargeRequest, sent: LedgerHead | undefined): Promise<Permit> {
    const name = `${request.attempt}/charges/${request.chargeId}`;
    let error: EpsledgerError;
    const tries = await this.connection.tries(ChargeService.method.charge, request);
    if (tries.answer === undefined) {
      error = notAccepted(tries, name, request.chargeId);
    } else {
      const wrong = wrongCharge(request, tries.answer);
      const contradiction = wrong ?? this.connection.heads.accept(this.name, tries.answer, sent);
      if (contradiction === undefined) return new Permit(name, tries.answer.sequence, request.count);
      const code = wrong === undefined ? 'DATA_LOSS' : 'INTERNAL';
      error = new OutcomeUnknown(request.chargeId, code, contradiction, tries.howItWent);
    }
    if (error instanceof OutcomeUnknown) this.unknown.set(request.chargeId, request);
    throw error;
  }
}

function checkCharge(event: MechanismEvent, count: bigint): void {
  if (count < 1n || count > MOST_USES) throw invalid('count', count, 'in [1, 2^53]');
  if (event.kind.case === undefined) throw invalid('event', 'none', 'a mechanism');
}

/** The error of a key of which no try was accepted. */
function notAccepted(tries: Tries<unknown>, name: string, id: string): EpsledgerError {
  if (tries.error === undefined) return new OutcomeUnknown(id, 'INTERNAL', 'no answer', tries.howItWent);
  const charge = tries.error.detail(ChargeSchema);
  if (charge?.decision === Charge_Decision.REFUSED && charge.refusal !== undefined) {
    if (charge.name === name) return new Refused(charge.refusal, name);
    const wrong = differs(name, 'refused charge', charge.name, 'that name');
    return new OutcomeUnknown(id, 'INTERNAL', wrong, tries.howItWent);
  }
  if (tries.mayHaveCommitted) return new OutcomeUnknown(id, tries.error.code, tries.error.message, tries.howItWent);
  return new CallFailed(tries.error.code, tries.error.message);
}

/**
 * Returns undefined if and only if the answer is an ACCEPTED charge of exactly this key, event and count, with a sequence
 * number (the ledger's invariant I19).
 */
function wrongCharge(request: ChargeRequest, charge: Charge): string | undefined {
  const name = `${request.attempt}/charges/${request.chargeId}`;
  if (charge.name !== name) return differs(name, 'name', charge.name, 'that name');
  if (charge.decision !== Charge_Decision.ACCEPTED) return differs(name, 'decision', charge.decision, 'ACCEPTED with OK');
  if (charge.count !== request.count) return differs(name, 'count', charge.count, request.count);
  return wrongEvent(name, request.event, charge.event) ?? wrongSequence(name, charge.sequence);
}

function wrongLease(request: AcquireLeaseRequest, lease: LeaseMessage): string | undefined {
  const name = `${request.attempt}/leases/${request.leaseId}`;
  if (lease.name !== name) return differs(name, 'name', lease.name, 'that name');
  if (lease.grantedCount !== request.count) return differs(name, 'grantedCount', lease.grantedCount, request.count);
  if (lease.settled) return differs(name, 'settled', true, 'an open lease');
  return wrongEvent(name, request.event, lease.event) ?? wrongSequence(name, lease.sequence);
}

function wrongEvent(name: string, asked: MechanismEvent | undefined, got: MechanismEvent | undefined): string | undefined {
  if (asked !== undefined && got !== undefined && equals(MechanismEventSchema, asked, got)) return undefined;
  const text = (event: MechanismEvent | undefined) => event && toJsonString(MechanismEventSchema, event);
  return differs(name, 'event', text(got), text(asked));
}

function wrongSequence(name: string, sequence: bigint): string | undefined {
  return sequence < 1n ? differs(name, 'sequence', sequence, '1 or more') : undefined;
}

function differs(asked: string, field: string, got: unknown, want: unknown): string {
  return `the server's answer is not one to ${asked}: ${field}: got ${String(got)}, want ${String(want)}`;
}
