import { useState } from 'preact/hooks';
import { deltaText, setDelta } from '../delta';

/** The delta of every epsilon on the page. */
export function DeltaControl() {
  const [draft, setDraft] = useState<string | undefined>();
  const [wrong, setWrong] = useState(false);
  const take = (text: string) => {
    const good = setDelta(text);
    setWrong(!good);
    if (good) setDraft(undefined);
  };
  return (
    <form
      class="field-inline"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft !== undefined) take(draft);
      }}
    >
      <label for="delta">at delta</label>
      <input
        id="delta"
        class="delta-input"
        list="deltas"
        inputMode="decimal"
        autocomplete="off"
        spellcheck={false}
        size={7}
        value={draft ?? deltaText.value}
        aria-invalid={wrong}
        aria-describedby={wrong ? 'delta-wrong' : undefined}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={(event) => take(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          setDraft(undefined);
          setWrong(false);
        }}
      />
      <datalist id="deltas">
        {['1e-4', '1e-5', '1e-6', '1e-8', '1e-10'].map((text) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      {wrong && (
        <span id="delta-wrong" class="field-error" role="alert">
          a number above 0 and below 1, such as 1e-5
        </span>
      )}
    </form>
  );
}
