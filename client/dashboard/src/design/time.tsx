import { fullTime, now, relativeTime } from '../format/times';

/** "3 minutes ago", with the full time behind it. */
export function Ago({ time }: { time: string | undefined }) {
  if (time === undefined || time === '') return <span class="muted">never</span>;
  return (
    <time class="nowrap" dateTime={time} title={fullTime(time)}>
      {relativeTime(time, now())}
    </time>
  );
}

export function At({ time }: { time: string | undefined }) {
  if (time === undefined || time === '') return <span class="muted">unknown</span>;
  return (
    <time class="nowrap" dateTime={time}>
      {fullTime(time)}
    </time>
  );
}
