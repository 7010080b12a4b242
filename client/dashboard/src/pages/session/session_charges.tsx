import { useState } from 'preact/hooks';
import { pathOfResource } from '../../api/client';
import { countOf, type ListChargesResponse, type Session } from '../../api/messages';
import { useGet } from '../../api/read';
import { Answer } from '../../design/answer';
import { Card } from '../../design/card';
import { counted } from '../../format/numbers';
import { ChargesTable, RefusalsTable } from '../../ledger/charge_tables';

// One page of the server: it lists charges from the first on.
const MOST = 1000;
const SHOWN_AT_FIRST = 10;

/** The charges of a session and, with cause and remedy, those that were refused. */
export function SessionCharges({ session }: { session: Session }) {
  const [all, setAll] = useState(false);
  const total = countOf(session.acceptedChargeCount) + countOf(session.refusedChargeCount);
  const read = useGet<ListChargesResponse>(
    total === 0 ? undefined : pathOfResource(session.name, 'charges'),
    { pageSize: MOST },
    { touchedBy: [session.name] },
  );
  if (total === 0) return null;
  return (
    <Answer read={read} what="the charges">
      {(value) => {
        const isCut = (value.nextPageToken ?? '') !== '';
        const charges = isCut ? (value.charges ?? []) : [...(value.charges ?? [])].reverse();
        const refused = charges.filter((charge) => charge.decision === 'REFUSED');
        const shown = all ? charges : charges.slice(0, SHOWN_AT_FIRST);
        return (
          <>
            {refused.length > 0 && (
              <Card
                title="Refused charges"
                aside={<span class="muted small">{counted(refused.length, 'refusal')}</span>}
              >
                <RefusalsTable charges={refused} ofOneSession />
              </Card>
            )}
            <Card
              title="Charges"
              aside={
                <span class="muted small">
                  {isCut
                    ? `the first ${MOST} of ${counted(total, 'charge')}, oldest first`
                    : 'newest first'}
                </span>
              }
            >
              <ChargesTable charges={shown} />
              {charges.length > SHOWN_AT_FIRST && (
                <div class="actions">
                  <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>
                    {all ? 'Show fewer' : `Show all ${charges.length}`}
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
