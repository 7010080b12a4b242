import { useEffect, useRef, useState } from 'preact/hooks';

const EVERY_MS = 10_000;

/** Tells a screen reader what changed, but not too often: charges may come every second. */
export function LiveWords({ text }: { text: string }) {
  const [said, setSaid] = useState('');
  const newest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  newest.current = text;
  useEffect(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setSaid(newest.current);
    }, EVERY_MS);
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <p class="visually-hidden" aria-live="polite">
      {said}
    </p>
  );
}
