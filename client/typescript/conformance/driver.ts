// Moves this client for tests/conformance/conformance.py.
import { createInterface } from 'node:readline';

import { fromBinary } from '@bufbuild/protobuf';

import {
  CallFailed, Client, MechanismEventSchema, OutcomeUnknown, Refused, Spent, type Lease, type Permit, type Retry,
  type Session,
} from '../src/index.js';

interface Command {
  do: string;
  address: string;
  token?: string;
  allowInsecure?: boolean;
  retry: Retry;
  budget: string;
  session: string;
  event_bytes: string;
  count: string;
  seconds: string;
  charge_id: string;
  permit: number;
  lease: number;
}

let client: Client | undefined;
let session: Session | undefined;
let permits: Permit[] = [];
let leases: Lease[] = [];

function there<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the command names what is not there');
  return value;
}

function kept(permit: Permit): object {
  permits.push(permit);
  return { is: 'permit', charge: permit.charge, sequence: `${permit.sequence}`, uses: `${permit.usesLeft}` };
}

async function carryOut(asked: Command): Promise<object> {
  const event = () => fromBinary(MechanismEventSchema, Buffer.from(asked.event_bytes, 'base64'));
  switch (asked.do) {
    case 'connect': {
      client?.close();
      session = undefined;
      [permits, leases] = [[], []];
      const { address, retry, token = '', allowInsecure = false } = asked;
      client = new Client({ address, retry, token, allowInsecure });
      return { is: 'ok' };
    }
    case 'open':
      session = await there(client).open({ budget: asked.budget, session: asked.session });
      return { is: 'ok' };
    case 'charge':
      return kept(await there(session).charge(event(), BigInt(asked.count)));
    case 'retry':
      return kept(await there(session).retryCharge(asked.charge_id));
    case 'unknown':
      return { is: 'ok', ids: there(session).unknownCharges };
    case 'use':
      there(permits[asked.permit]).use();
      return { is: 'ok' };
    case 'lease': {
      const lease = await there(session).lease(event(), BigInt(asked.count), BigInt(asked.seconds));
      leases.push(lease);
      return { is: 'lease', granted: `${lease.grantedCount}` };
    }
    case 'take':
      return kept(there(leases[asked.lease]).take());
    case 'settle':
      await there(leases[asked.lease]).settle();
      return { is: 'ok' };
    default:
      throw new Error(`no command ${asked.do}`);
  }
}

function failure(error: unknown): object {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Refused) return { is: 'refused', reason: error.reason, charge: error.charge, text };
  if (error instanceof OutcomeUnknown) return { is: 'unknown', charge_id: error.chargeId, code: error.code, text };
  if (error instanceof Spent) return { is: 'spent', text };
  if (error instanceof CallFailed) return { is: 'error', code: error.code, text };
  return { is: 'another error', text };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await carryOut(JSON.parse(line) as Command).catch(failure)));
}
client?.close();
