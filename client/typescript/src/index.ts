/**
 * Charges an epsledger server before each noisy step, and is refused when the step would overspend. The rules that it
 * keeps are those of tests/conformance/README.md.
 */
export { Client, newSession, type ClientOptions, type SessionOptions, type Tls } from './client.js';
export { CallFailed, codeName, EpsledgerError, OutcomeUnknown, Refused, Spent } from './errors.js';
export { Lease } from './lease.js';
export { Permit } from './permit.js';
export { DEFAULT_RETRY, type Retry } from './retry.js';
export { Session } from './session.js';
export { NeighboringRelation_Kind } from '../generated/epsledger/v1/mechanism_pb.js';
export { MechanismEventSchema, type MechanismEvent } from '../generated/epsledger/v1/mechanism_pb.js';
