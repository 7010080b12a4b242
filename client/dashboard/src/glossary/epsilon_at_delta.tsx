import { deltaText } from '../delta';
import { Term } from './term';

/** "Epsilon at delta 1e-5", with both words explained. */
export function EpsilonAtDelta() {
  return (
    <>
      <Term word="epsilon">Epsilon</Term> at <Term word="delta">delta</Term> {deltaText.value}
    </>
  );
}
