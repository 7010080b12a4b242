import type { ComponentChildren } from 'preact';
import type { Claim } from '../api/messages';
import { stateName } from '../format/names';
import { Icon, type IconName } from './icons';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet';

interface BadgeProps {
  tone?: Tone;
  icon?: IconName;
  /** Several words, which may wrap. */
  wide?: boolean;
  children: ComponentChildren;
}

/** A word that stands out: its color adds nothing to the word and the sign. */
export function Badge({ tone = 'quiet', icon, wide, children }: BadgeProps) {
  return (
    <span class={`badge tone-${tone}${wide === true ? ' badge-wide' : ''}`}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </span>
  );
}

/** "team=heart", one badge each; undefined if there are none. */
export function labelBadges(labels: Record<string, string> | undefined): ComponentChildren {
  const all = Object.entries(labels ?? {});
  if (all.length === 0) return undefined;
  return (
    <span class="badges">
      {all.map(([key, value]) => (
        <Badge key={key}>
          {key}={value}
        </Badge>
      ))}
    </span>
  );
}

const STATES: Record<string, [Tone, IconName]> = {
  ACTIVE: ['good', 'check'],
  FROZEN: ['warn', 'frozen'],
  CLOSED: ['quiet', 'closed'],
  SUPERSEDED: ['quiet', 'replaced'],
};

/** The state of a budget or session. */
export function StateBadge({ state }: { state: string | undefined }) {
  const [tone, icon] = STATES[state ?? ''] ?? (['warn', 'warning'] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {stateName(state)}
    </Badge>
  );
}

/** True if the numbers of a session are somebody's claim and not proven. */
export function isUnproven(claim: Claim | undefined): boolean {
  return (
    claim?.status !== undefined &&
    claim.status !== 'PROVEN' &&
    claim.status !== 'STATUS_UNSPECIFIED'
  );
}

/**
 * The label with every number of a session about which a claim is made: only its authors say
 * "proven", never this page. Nothing if there is no claim.
 */
export function ClaimBadge({ claim }: { claim: Claim | undefined }) {
  if (claim?.status === undefined || claim.status === 'STATUS_UNSPECIFIED') return null;
  if (!isUnproven(claim)) {
    return (
      <Badge tone="good" icon="check">
        {claim.label === undefined || claim.label === '' ? 'proven' : claim.label}
      </Badge>
    );
  }
  return (
    <span class="badges">
      <Badge tone="bad" icon="warning" wide>
        {claim.label === '' || claim.label === undefined ? 'not proven' : claim.label}
      </Badge>
      {claim.counterexampleKnown === true && (
        <Badge tone="bad" icon="cross">
          counterexample known
        </Badge>
      )}
    </span>
  );
}
