import { pathOfResource } from '../../api/client';
import type { ApprovalPolicy, ListProposalsResponse, Proposal } from '../../api/messages';
import { useGet } from '../../api/read';
import { budgetOf, idOf } from '../../api/resource_names';
import { Notice } from '../../design/notice';
import { At } from '../../design/time';
import { capWords } from '../../format/caps';

/** Proposals for a budget or below it that another person has not approved yet. */
export function Proposals({ budget }: { budget: string }) {
  const read = useGet<ListProposalsResponse>(
    pathOfResource(budget, 'proposals'),
    { pendingOnly: 'true' },
    { touchedBy: [budget], touchedWhen: (change) => change.budget !== undefined },
  );
  const proposals = read.value.value?.proposals ?? [];
  if (proposals.length === 0) return null;
  return (
    <Notice tone="warn">
      {proposals.map((proposal) => (
        <p key={proposal.name}>
          <strong>Waits for another person:</strong> {idOf(budgetOf(proposal.name))},{' '}
          {changeWords(proposal)}. Proposed by {proposal.proposedBy} (entry{' '}
          {proposal.sequence}), until{' '}
          <At time={proposal.expireTime} />. Reason: {proposal.reason}.
        </p>
      ))}
    </Notice>
  );
}

function changeWords(proposal: Proposal): string {
  const { createChild: child, supersede, setApprovalPolicy: policy } = proposal;
  if (child) return `create child ${child.budgetId}: ${capWords(child.budget?.cap)}`;
  if (supersede) return `supersede it by ${supersede.successorId}: ${capWords(supersede.cap)}`;
  if (policy) return `guard ${guardedWords(policy) || 'nothing'}`;
  return proposal.thaw ? 'thaw it' : 'close it';
}

/** "supersede, lift quarantine". */
export function guardedWords(policy: ApprovalPolicy | undefined): string {
  return (policy?.guarded ?? []).join(', ').toLowerCase().replaceAll('_', ' ');
}
