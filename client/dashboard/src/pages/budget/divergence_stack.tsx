import '../../design/spent_bar.css';
import { Notice } from '../../design/notice';
import { numberOf, type SessionReading } from '../../api/messages';
import { idOf } from '../../api/resource_names';
import { isUnproven } from '../../design/badge';
import { percent, roundedUp } from '../../format/numbers';

interface DivergenceStackProps {
  sessions: readonly SessionReading[];
  /** Undefined if none has a finite divergence. */
  order: number | undefined;
}

const COLORS = 5;

/**
 * Each session's part of the charges. It stacks the Renyi divergences at one order, which add up
 * under composition; epsilons do not, and are never stacked.
 */
export function DivergenceStack({ sessions, order }: DivergenceStackProps) {
  if (order === undefined) {
    return (
      <Notice>
        <p>
          The shares of sessions cannot be shown: Rényi divergences, which add up, are not finite or
          not known for all that was charged, and epsilons do not add up.
        </p>
      </Notice>
    );
  }
  const known = sessions
    .filter(({ session }) => !isUnproven(session.claim))
    .map(({ session, renyiDivergence }) => ({
      name: session.name,
      divergence: numberOf(renyiDivergence?.upper) ?? 0,
    }))
    .filter(({ divergence }) => divergence > 0)
    .sort((a, b) => b.divergence - a.divergence);
  const total = known.reduce((sum, { divergence }) => sum + divergence, 0);
  if (!(total > 0) || total === Infinity) return null;
  const shown = known.slice(0, COLORS);
  const rest = known.slice(COLORS).reduce((sum, { divergence }) => sum + divergence, 0);
  const parts = [
    ...shown.map(({ name, divergence }, i) => ({
      text: idOf(name),
      divergence,
      color: `stack-${i + 1}`,
    })),
    ...(rest > 0
      ? [{ text: `${known.length - COLORS} others`, divergence: rest, color: 'stack-rest' }]
      : []),
  ];
  let at = 0;
  return (
    <figure class="stack">
      <figcaption class="small muted">
        Rényi divergence at order {roundedUp(order)}, by session: {roundedUp(total)} in all
      </figcaption>
      <svg aria-hidden="true" preserveAspectRatio="none">
        {parts.map(({ text, divergence, color }) => {
          const x = at;
          at += divergence / total;
          return (
            <rect
              key={text}
              class={color}
              x={`${x * 100}%`}
              width={`${(divergence / total) * 100}%`}
              height="100%"
            />
          );
        })}
      </svg>
      <ul class="stack-keys small">
        {parts.map(({ text, divergence, color }) => (
          <li key={text}>
            <svg class="stack-key" aria-hidden="true">
              <rect class={color} width="100%" height="100%" />
            </svg>
            {text} {percent(divergence / total, 'up')}
          </li>
        ))}
      </ul>
    </figure>
  );
}
