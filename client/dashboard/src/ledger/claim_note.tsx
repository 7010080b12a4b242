import { claimWords } from '../api/guarantees';
import type { AccountantReading } from '../api/messages';

/** Under an epsilon in a table: a note if it rests on a claim. */
export function ClaimNote({ readings }: { readings: readonly AccountantReading[] | undefined }) {
  const words = claimWords(readings);
  return words === '' ? null : <span class="under">{words}</span>;
}
