import { pathOfResource } from '../../api/client';
import type { ListProposalsResponse, Proposal } from '../../api/messages';
import { useGet } from '../../api/read';
import { budgetOf, idOf } from '../../api/resource_names';
import { Notice } from '../../design/notice';
import { At } from '../../design/time';
import { capWords } from '../../format/caps';

/** What one person proposed for a budget or below it, and another one has not approved yet. */
export function Proposals({ budget }: { budget: string }) {
  const read = useGet<ListProposalsResponse>(
    pathOfResource(budget, 'proposals'),
    { pendingOnly: 'true', pageSize: 100 },
    { touchedBy: [budget], touchedWhen: (change) => change.budget !== undefined },
  );
  const proposals = read.value.value?.proposals ?? [];
  if (proposals.length === 0) return null;
  return (
    <Notice tone="warn">
      {proposals.map((proposal) => (
        <p key={proposal.name}>
          <strong>Waits for another person:</strong> {idOf(budgetOf(proposal.name))},{' '}
          {changeWords(proposal)}. Proposed by {proposal.proposedBy}, until{' '}
          <At time={proposal.expireTime} />. Reason given: {proposal.reason}.
        </p>
      ))}
    </Notice>
  );
}

function changeWords(proposal: Proposal): string {
  const { createChild, supersede, setApprovalPolicy } = proposal;
  if (createChild !== undefined) {
    return `create ${createChild.budgetId} below it: ${capWords(createChild.budget?.cap)}`;
  }
  if (supersede !== undefined) {
    return `supersede it by ${supersede.successorId}: ${capWords(supersede.cap)}`;
  }
  if (setApprovalPolicy !== undefined) return `guard ${guardedWords(setApprovalPolicy.guarded)}`;
  return proposal.thaw !== undefined ? 'thaw it' : 'close it';
}

/** "supersede, lift quarantine". */
export function guardedWords(guarded: readonly string[] = []): string {
  return guarded.join(', ').toLowerCase().replaceAll('_', ' ') || 'nothing';
}
