// A ledger with many sessions, for looking at pages and for measuring them.

import { cpus } from 'node:os';
import { LedgerServer, fill } from './ledger_server.mjs';

const RELATION = 'ADD_OR_REMOVE_ONE';
/** Requests under way at once. */
const AT_ONCE = 48;
/** The noise multipliers of the runs, in turns. */
const NOISES = [1414, 2000, 2828];
/** Steps of all runs together, and what they cost: one step is 1 / (2 noise^2). */
const STEPS = 9_000_000;
const RHO = 1.31;

/** Teams, their owners, how many of 100 runs are theirs, and what they spend of their cap. */
const TEAMS = [
  ['ads', 'mira', 34, 0.62],
  ['search', 'jonas', 22, 0.91],
  ['speech', 'mira', 14, 0.45],
  ['maps', 'wei', 9, 1.1],
  ['photos', 'ana', 7, 0.84],
  ['mail', 'jonas', 5, 0.2],
  ['health', 'ana', 4, 0.73],
  ['payments', 'wei', 3, 0.5],
  ['support', 'lea', 2, 0.08],
];

/** Runs `task` for 0 to count - 1, some at once. */
async function each(count, task) {
  let next = 0;
  const work = async () => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, 24 * cpus().length) }, work));
}

/** Which team run number `i` is of: the same in every run of this script. */
function teamOf(i) {
  let at = (i * 37) % 100;
  for (const [team, , share] of TEAMS) {
    if (at < share) return team;
    at -= share;
  }
  return TEAMS[0][0];
}

/** A server with what the tests have, and a tree of budgets by team with `count` sessions in all. */
export async function serverWithSessions(count) {
  const server = await (await LedgerServer.start()).run();
  await fill(server);
  const { sessionCount } = await server.get('/v1/server');
  const left = count - Number(sessionCount);
  await server.rpc('BudgetService/CreateBudget', {
    budgetId: 'company',
    budget: budget('All products', 2.2, {}),
  });
  for (const [team, owner, share, spent] of TEAMS) {
    await server.rpc('BudgetService/CreateBudget', {
      budgetId: `team-${team}`,
      budget: {
        ...budget(`Models of ${team}`, Number(((RHO * share) / 100 / spent).toPrecision(2)), { team, owner }),
        parent: 'budgets/company',
      },
    });
  }
  await each(left, (i) => run(server, i, left));
  await server.epsctl('budget', 'freeze', 'team-payments', '--reason', 'The logs of May are under review');
  return server;
}

function budget(displayName, rho, labels) {
  return {
    displayName,
    labels,
    neighboringRelation: RELATION,
    privacyUnit: 'user',
    cap: { zcdp: { rho } },
    alertThresholds: [0.8],
  };
}

/** One run: a session, an attempt, a charge, and for one in ten a charge that does not fit. */
async function run(server, i, count) {
  const team = teamOf(i);
  const parent = `budgets/team-${team}`;
  const id = `run-${String(i + 1).padStart(5, '0')}`;
  await server.rpc('SessionService/CreateSession', {
    parent,
    sessionId: id,
    session: {
      mode: 'ADAPTIVE',
      neighboringRelation: RELATION,
      noOwnCap: true,
      group: `sweep-${Math.floor(i / 40) + 1}`,
      labels: { team, model: ['small', 'base', 'large'][i % 3] },
    },
  });
  const session = `${parent}/sessions/${id}`;
  await server.rpc('SessionService/OpenAttempt', { session });
  const charge = (chargeId, steps) =>
    server.rpc('ChargeService/BatchCharge', {
      attempt: `${session}/attempts/1`,
      mode: 'PER_ITEM',
      items: [{ chargeId, event: { gaussian: { noiseMultiplier: NOISES[i % 3] } }, count: steps }],
    });
  // Between half and one and a half of the mean.
  await charge('steps', Math.ceil((STEPS / count) * (0.5 + ((i * 61) % 101) / 101)));
  if (i % 10 === 0) await charge('again', 40_000_000);
}
