import { status as Code } from '@grpc/grpc-js';

import { Refusal_Reason, type Refusal } from '../generated/epsledger/v1/charge_pb.js';

/** The base of all errors. None of them means that a step may run. */
export class EpsledgerError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The ledger refused a charge or a lease: nothing was charged, and nothing may be released. It is final. */
export class Refused extends EpsledgerError {
  constructor(
    readonly refusal: Refusal,
    readonly charge: string,
  ) {
    super(refusalText(refusal));
  }

  /** "BUDGET_EXHAUSTED", "ATTEMPT_FENCED" (a newer attempt was opened: stop this one), ... */
  get reason(): string {
    return reasonName(this.refusal);
  }
}

/**
 * No try of a charge brought a decision. It may have been committed, and COUNTS AS SPENT: release nothing for it.
 * Session.retryCharge asks for the same charge again.
 */
export class OutcomeUnknown extends EpsledgerError {
  constructor(
    readonly chargeId: string,
    readonly code: string,
    readonly reason: string,
    howItWent: string,
  ) {
    super(
      `charge ${chargeId}: the outcome is unknown and counts as spent (${howItWent}); release nothing for it until ` +
        `retryCharge("${chargeId}") is accepted. Last answer: ${code}: ${reason}`,
    );
  }
}

/** A call ended with an error that is no refusal. It charged nothing. */
export class CallFailed extends EpsledgerError {
  constructor(
    readonly code: string,
    readonly reason: string,
  ) {
    super(`${code}: ${reason}`);
  }
}

/** Every use of a permit, or every step of a lease, is taken, or the lease is settled. */
export class Spent extends EpsledgerError {
  constructor(what: string) {
    super(`${what}: charge again before the next release`);
  }
}

/** The error of a value that is refused before it is sent. */
export function invalid(field: string, got: unknown, want: string): CallFailed {
  return new CallFailed('INVALID_ARGUMENT', `${field}: got ${String(got)}, want ${want}`);
}

/** "NOT_FOUND"; a code that this version does not know is UNKNOWN, as gRPC says. */
export function codeName(code: number): string {
  return Code[code] ?? 'UNKNOWN';
}

function reasonName(refusal: Refusal): string {
  return Refusal_Reason[refusal.reason] ?? `REASON_${refusal.reason}`;
}

function refusalText(refusal: Refusal): string {
  const by = refusal.limitingResource === '' ? '' : ` by ${refusal.limitingResource}`;
  return `refused, ${reasonName(refusal)}${by}: ${whatToDo(refusal)}`;
}

function whatToDo(refusal: Refusal): string {
  if (refusal.remedy !== '') return refusal.remedy;
  if (refusal.stepsThatFit > 0n) return `ask for at most ${refusal.stepsThatFit} of it, or for more noise`;
  switch (refusal.reason) {
    case Refusal_Reason.BUDGET_EXHAUSTED:
      return 'no step of this size fits any more: ask for more noise, or stop';
    case Refusal_Reason.ATTEMPT_FENCED:
      return 'a newer attempt of this session is running; stop this one';
    default:
      return 'nothing was charged, and nothing may be released';
  }
}
