import { budgetsListed, knownBudgets, rootOf } from '../api/budgets';
import { idOf } from '../api/resource_names';
import { Answer } from '../design/answer';
import { Card } from '../design/card';
import { Facts } from '../design/facts';
import { Empty, Notice } from '../design/notice';
import { PageHead } from '../design/page_head';
import { hexOf } from '../format/hashes';
import { counted } from '../format/numbers';
import { useLedgerHead } from '../ledger/entry_log';
import { go } from '../router';
import { AuditEntries } from './audit_entries';
import { AuditExport } from './audit_export';
import { AuditVerify } from './audit_verify';
import { BudgetChoice } from './budget_choice';
import { crumbsTo } from './crumbs';

/** The tamper-evident log behind a tree of budgets. */
export function AuditPage({ budget }: { budget?: string }) {
  const root = budget === undefined ? undefined : rootOf(`budgets/${budget}`);
  return (
    <>
      <PageHead
        title={budget === undefined ? 'Audit' : `Audit of ${budget}`}
        crumbs={crumbsTo(budget)}
      >
        <p class="muted">
          Every state change, refusals included, is an entry in a chain of hashes. One ledger holds
          a root budget and all below it.
        </p>
      </PageHead>
      <BudgetChoice
        rootsOnly
        chosen={root === undefined ? undefined : idOf(root)}
        onChoose={(id) => go(id === undefined ? { page: 'audit' } : { page: 'audit', budget: id })}
      />
      {root !== undefined && root !== `budgets/${budget ?? ''}` && (
        <Notice>
          <p>
            {budget} lies below {idOf(root)}: this is the ledger of both.
          </p>
        </Notice>
      )}
      {root !== undefined && <Ledger key={root} root={root} />}
      {root === undefined && budgetsListed.value && knownBudgets.value.size === 0 && (
        <Empty command="epsctl budget create people --epsilon 3 --delta 1e-5 --relation add-or-remove-one --privacy-unit person">
          No ledger exists yet: every root budget starts one.
        </Empty>
      )}
      {root === undefined && knownBudgets.value.size > 0 && (
        <p class="muted">Choose a ledger.</p>
      )}
    </>
  );
}

function Ledger({ root }: { root: string }) {
  const head = useLedgerHead(root);
  return (
    <>
      <AuditEntries root={root} head={head} />
      <Answer read={head} what="the head of the ledger">
        {(value) => (
          <Card
            title="Head"
            aside={<span class="muted small">{counted(value.sequence, 'entry', 'entries')}</span>}
          >
            <p class="small muted">
              Write it down to check later that the ledger was not turned back: a server that is
              behind it has lost charges.
            </p>
            <Facts
              rows={[
                ['Root budget', idOf(value.rootBudget ?? root)],
                ['Hash', <span class="hash">{hexOf(value.hash)}</span>],
                ['Merkle root', <span class="hash">{hexOf(value.merkleRoot)}</span>],
              ]}
            />
          </Card>
        )}
      </Answer>
      <div class="columns">
        <AuditVerify root={root} />
        <AuditExport root={root} />
      </div>
    </>
  );
}
