// Times for people.

import { signal } from '@preact/signals';

const ticks = signal(0);
let clock: ReturnType<typeof setInterval> | undefined;

/** The present time. Its readers are drawn again now and then, so "2 minutes ago" stays true. */
export function now(): number {
  clock ??= setInterval(() => {
    ticks.value += 1;
  }, 15_000);
  void ticks.value;
  return Date.now();
}

const UNITS: [seconds: number, name: string][] = [
  [86_400 * 365, 'year'],
  [86_400 * 30, 'month'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
];

/** "3 minutes ago", "in 2 hours", "just now". */
export function relativeTime(timestamp: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(timestamp)) / 1000;
  if (Number.isNaN(seconds)) return 'at an unknown time';
  const size = Math.abs(seconds);
  for (const [unit, name] of UNITS) {
    if (size < unit) continue;
    const number = Math.floor(size / unit);
    const text = `${number} ${name}${number === 1 ? '' : 's'}`;
    return seconds < 0 ? `in ${text}` : `${text} ago`;
  }
  return seconds < 0 ? 'in less than a minute' : 'just now';
}

/** "2026-01-31 12:00:00" in the reader's time zone. */
export function fullTime(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return 'unknown';
  const two = (value: number) => String(value).padStart(2, '0');
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

/** "12:00:00" in the reader's time zone. */
export function clockTime(timestamp: string): string {
  return fullTime(timestamp).slice(11);
}

/** "Saturday, 31 January 2026" in the reader's time zone. */
export function dayName(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return 'At an unknown time';
  return date.toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
}
