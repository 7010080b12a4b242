import './term.css';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { ENTRIES, type Word } from './entries';

const WIDTH = 320;

/** True if the glossary of the pages has the word. */
export function isWord(text: string): text is Word {
  return Object.hasOwn(ENTRIES, text);
}

interface Place {
  left: number;
  top: number;
}

/** A word of the field that says what it means when it is pointed at, focused or touched. */
export function Term({ word, children }: { word: Word; children: ComponentChildren }) {
  const id = useId();
  const [place, setPlace] = useState<Place | undefined>();
  const [meaning, remedy, source] = ENTRIES[word];
  const open = (event: { currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const most = document.documentElement.clientWidth - WIDTH - 8;
    setPlace({ left: Math.max(8, Math.min(box.left, most)), top: box.bottom + 4 });
  };
  const close = () => setPlace(undefined);
  return (
    <span class="term" onMouseLeave={close}>
      <button
        type="button"
        class="term-word"
        aria-describedby={place === undefined ? undefined : id}
        onMouseEnter={open}
        onFocus={open}
        onClick={open}
        onBlur={close}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
        }}
      >
        {children}
      </button>
      {place !== undefined && (
        <span
          class="term-tip"
          role="tooltip"
          id={id}
          style={{ left: `${place.left}px`, top: `${place.top}px` }}
        >
          <span>{meaning}</span>
          {remedy !== '' && <span>{remedy.replaceAll('`', '')}</span>}
          {source !== '' && <span class="term-source">{source}</span>}
          <span class="term-source">
            <code>epsctl explain {word}</code>
          </span>
        </span>
      )}
    </span>
  );
}
