import type { ComponentChildren } from 'preact';
import { caller } from '../caller';
import type { Incarnation, ListDenialsResponse, ServerInfo } from '../api/messages';
import { useAnswer, useGet } from '../api/read';
import type { Result } from '../api/client';
import { Answer } from '../design/answer';
import { Badge } from '../design/badge';
import { Card } from '../design/card';
import { Facts } from '../design/facts';
import { Notice } from '../design/notice';
import { PageHead } from '../design/page_head';
import { Ago, At } from '../design/time';
import { Grid } from '../design/grid';
import { hexOf } from '../format/hashes';
import { lowerName } from '../format/names';
import { count } from '../format/numbers';

interface Health {
  ready: boolean;
  words: string;
  /** The time of this answer. */
  time: string;
}

// Neither JSON nor part of the API: a load balancer's check.
async function askReady(abort: AbortSignal): Promise<Result<Health>> {
  try {
    const response = await fetch('/readyz', { signal: abort, cache: 'no-store' });
    const words = (await response.text()).trim();
    return { ok: true, value: { ready: response.ok, words, time: new Date().toISOString() } };
  } catch {
    return {
      ok: false,
      error: {
        kind: 'unreachable',
        message: 'The server cannot be reached.',
        remedy: 'Is epsledgerd running?',
      },
    };
  }
}

/** The server itself: its health, its content, and the caller. */
export function ServerPage() {
  const options = { touchedBy: ['budgets'] };
  const info = useGet<ServerInfo>('/v1/server', {}, options);
  const health = useAnswer('ready', askReady, options);
  return (
    <>
      <PageHead title="Server" />
      <Answer read={health} what="the server's health">
        {(value) => (
          <Notice tone={value.ready ? 'good' : 'bad'}>
            <p>
              <strong>{value.ready ? 'It takes charges.' : 'It takes no charges.'}</strong>{' '}
              {value.ready ? 'The ledger was recovered, verified and can be written.' : value.words}
              <span class="small muted">
                {' '}
                Asked <At time={value.time} />.
              </span>
            </p>
          </Notice>
        )}
      </Answer>
      <div class="columns">
        <Card title="Server">
          <Answer read={info} what="the server">
            {(value) => (
              <>
                {(value.notServingReason ?? '') !== '' && (
                  <Badge tone="bad" icon="cross" wide>
                    {value.notServingReason}
                  </Badge>
                )}
                <Facts
                  rows={[
                    ['Version', value.version],
                    ['Storage', value.storage],
                    [
                      'Started',
                      <>
                        <At time={value.startTime} /> (<Ago time={value.startTime} />)
                      </>,
                    ],
                    ['Budgets', count(value.budgetCount)],
                    ['Sessions', count(value.sessionCount)],
                    ['Entries', count(value.entryCount)],
                    [
                      'Access control',
                      value.accessControl === true
                        ? 'on: tokens or certificates'
                        : 'off: anybody who reaches it is an admin',
                    ],
                    ['Statement key', <span class="hash">{hexOf(value.statementPublicKey)}</span>],
                    ...incarnationRows(value.incarnations ?? []),
                  ]}
                />
                {(value.quarantines ?? []).map((quarantine) => (
                  <Notice tone="bad" key={quarantine.rootBudget}>
                    <p>
                      <strong>{quarantine.rootBudget} takes no charges.</strong> {quarantine.reason}
                    </p>
                  </Notice>
                ))}
              </>
            )}
          </Answer>
        </Card>
        <Card title="You">
          {caller.value === undefined ? (
            <p class="muted">Not known.</p>
          ) : (
            <Facts
              rows={[
                ['Caller', caller.value.principal],
                ['Role', lowerName(caller.value.role)],
                [
                  'Tenant',
                  (caller.value.tenant ?? '') === ''
                    ? 'the one without a name'
                    : caller.value.tenant,
                ],
                ...(caller.value.grants ?? []).map((grant): [string, string] => [
                  'Limited to',
                  grant.resource,
                ]),
              ]}
            />
          )}
          <h3>For machines</h3>
          <ul class="plain-list">
            <li>
              <a href="/metrics">/metrics</a> for Prometheus
            </li>
            <li>
              <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a> for load balancers
            </li>
            <li>
              <a href="/openapi.json">/openapi.json</a>: the API
            </li>
            <li>
              <a href="/v1/budgets?format=csv">/v1/budgets?format=csv</a>: all budgets as a table
            </li>
          </ul>
        </Card>
      </div>
      {caller.value?.role === 'ADMIN' && caller.value.grants === undefined && info.value.value?.accessControl === true && <Denials />}
    </>
  );
}

/** The present one, and how many existed: a copy, a restore or an accepted loss adds one. */
function incarnationRows(incarnations: Incarnation[]): [string, ComponentChildren][] {
  const present = incarnations.at(-1);
  if (present === undefined) return [];
  const others = incarnations.length - 1;
  return [
    [
      'Incarnation',
      <>
        <span class="hash">{hexOf(present.id)}</span> since <At time={present.beginTime} />
        {others > 0 && ` (${count(String(others))} before it): ${present.reason ?? ''}`}
      </>,
    ],
  ];
}

/** Calls that access control denied, for admins. */
function Denials() {
  const read = useGet<ListDenialsResponse>('/v1/denials', { pageSize: 20 });
  return (
    <Card title="Denied calls">
      <Answer read={read} what="the denied calls">
        {(value) =>
          (value.denials ?? []).length === 0 ? (
            <p class="muted">None.</p>
          ) : (
            <Grid label="Denied calls" heads={['Caller', 'Method', 'Why', '#Times', 'When']}>
              {(value.denials ?? []).map((denial, i) => (
                <tr key={i}>
                  <th scope="row" class="breakable">
                    {denial.principal}
                  </th>
                  <td data-label="Method" class="breakable">
                    {denial.method}
                  </td>
                  <td data-label="Why">{denial.reason}</td>
                  <td data-label="Times" class="number">
                    {count(denial.count)}
                  </td>
                  <td data-label="When" class="short">
                    <Ago time={denial.time} />
                  </td>
                </tr>
              ))}
            </Grid>
          )
        }
      </Answer>
    </Card>
  );
}
