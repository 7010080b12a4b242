import type { Session } from '../api/messages';
import { budgetOf, idOf } from '../api/resource_names';
import { Empty } from '../design/notice';

/** Shown instead of numbers if nothing was charged: the command that changes this. */
export function NothingCharged({ session }: { session: Session }) {
  const planned = session.plan?.events?.[0]?.event;
  // A plan accepts only its own events.
  const event =
    planned === undefined
      ? '--gaussian 1.1 --sampling-probability 0.01'
      : `--event '${JSON.stringify(planned).replaceAll("'", "'\\''")}'`;
  const name = `${idOf(budgetOf(session.name))}/${idOf(session.name)}`;
  return (
    <Empty command={`epsctl charge create ${name} --open-attempt ${event}`}>
      Nothing was charged to this session yet. Its trainer does that step by step; by hand:
    </Empty>
  );
}
