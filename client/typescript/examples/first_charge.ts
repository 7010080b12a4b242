// Makes the first charge of a session, and draws noise only after it is accepted.
//
// EPSLEDGER_SERVER, EPSLEDGER_TLS_CA, EPSLEDGER_TOKEN as for epsctl; the budget "people" must exist.
import { readFileSync } from 'node:fs';

import { create } from '@bufbuild/protobuf';

import { Client, MechanismEventSchema, NeighboringRelation_Kind, newSession } from '../src/index.js';

const ca = process.env['EPSLEDGER_TLS_CA'];
const client = new Client({
  address: process.env['EPSLEDGER_SERVER'] ?? '127.0.0.1:50551',
  token: process.env['EPSLEDGER_TOKEN'] ?? '',
  ...(ca === undefined ? {} : { tls: { ca: readFileSync(ca) } }),
});
try {
  const session = await client.open({
    budget: 'people',
    session: 'first-run-in-typescript',
    create: newSession(NeighboringRelation_Kind.ADD_OR_REMOVE_ONE),
  });
  const gaussian = create(MechanismEventSchema, { kind: { case: 'gaussian', value: { noiseMultiplier: 1.1 } } });
  const step = create(MechanismEventSchema, {
    kind: { case: 'poissonSampled', value: { samplingProbability: 0.01, event: gaussian } },
  });
  const permit = await session.charge(step); // throws: refused, or unknown and so spent
  permit.use();
  console.log(`charged as entry ${permit.sequence}, durably: only now is noise drawn`);
} finally {
  client.close();
}
