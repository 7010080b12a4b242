import { useState } from 'preact/hooks';
import { MOST_CHARGES, useNewestCharges } from '../../api/charges';
import { countOf, type Session } from '../../api/messages';
import { budgetOf, idOf } from '../../api/resource_names';
import { Answer } from '../../design/answer';
import { Card } from '../../design/card';
import { Notice } from '../../design/notice';
import { count, counted } from '../../format/numbers';
import { groupedRefusals } from '../../ledger/refusal_groups';
import { ChargesTable, RefusalsTable } from '../../ledger/charge_tables';
import { hrefOf } from '../../router';

const SHOWN_AT_FIRST = 10;

/** The charges of a session and, with cause and remedy, the refused ones. */
export function SessionCharges({ session }: { session: Session }) {
  const refusedCount = countOf(session.refusedChargeCount);
  const total = countOf(session.acceptedChargeCount) + refusedCount;
  // Pages that were reached are followed, however many they become.
  const [isReachable] = useState(total <= MOST_CHARGES);
  if (total === 0) return null;
  if (isReachable) return <Charges session={session} total={total} />;
  const budget = idOf(budgetOf(session.name));
  return (
    <Card title="Charges" aside={<span class="muted small">{counted(total, 'charge')}</span>}>
      <Notice>
        <p>
          The server lists the charges of a session from the first on, and these are too many to
          reach the newest. Every one is an entry of the{' '}
          <a href={hrefOf({ page: 'audit', budget })}>ledger</a>, which begins with the newest;{' '}
          {count(refusedCount)} were refused: see the{' '}
          <a href={hrefOf({ page: 'refusals', budget })}>refusals of {budget}</a>.
        </p>
      </Notice>
    </Card>
  );
}

function Charges({ session, total }: { session: Session; total: number }) {
  const [all, setAll] = useState(false);
  const read = useNewestCharges(session.name);
  return (
    <Answer read={read} what="the charges">
      {(charges) => {
        const refused = charges.filter((charge) => charge.decision === 'REFUSED');
        const shown = all ? charges : charges.slice(0, SHOWN_AT_FIRST);
        const isWhole = charges.length >= total;
        return (
          <>
            {refused.length > 0 && (
              <Card
                title="Refused charges"
                aside={
                  <span class="muted small">
                    {isWhole
                      ? counted(refused.length, 'refusal')
                      : `${count(refused.length)} of ${counted(session.refusedChargeCount, 'refusal')}: those among the newest charges`}
                  </span>
                }
              >
                <RefusalsTable groups={groupedRefusals(refused)} ofOneSession />
              </Card>
            )}
            <Card
              title="Charges"
              aside={
                <span class="muted small">
                  {isWhole
                    ? 'newest first'
                    : `the newest ${count(charges.length)} of ${count(total)}, newest first`}
                </span>
              }
            >
              <ChargesTable charges={shown} />
              {charges.length > SHOWN_AT_FIRST && (
                <div class="actions">
                  <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>
                    {all ? 'Show fewer' : `Show all ${count(charges.length)}`}
                  </button>
                </div>
              )}
            </Card>
          </>
        );
      }}
    </Answer>
  );
}
