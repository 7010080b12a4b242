// Small signs beside words, never instead of them: hidden from screen readers.

const PATHS = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  frozen: 'M8 2v12M2.800 5l10.400 6M13.200 5L2.800 11M6 3l2 2 2-2M6 13l2-2 2 2',
  closed: 'M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500',
  replaced: 'M3 6h9l-2.500-2.500M13 10H4l2.500 2.500',
  warning: 'M8 2.500l6 11H2zM8 6.500v3.500M8 12v.1',
  info: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.500v3.500M8 5v.1',
  live: 'M8 6.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3M4.500 4.500a5 5 0 0 0 0 7M11.500 4.500a5 5 0 0 1 0 7',
  broken: 'M4.500 4.500a5 5 0 0 0 0 7M11.500 4.500a5 5 0 0 1 0 7M3 13L13 3',
  paused: 'M5.500 4v8M10.500 4v8',
  sun: 'M8 5.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600M8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1',
  moon: 'M12.500 9.800A5.500 5.500 0 0 1 6.200 3.500a5.200 5.200 0 1 0 6.300 6.300z',
  screen: 'M2.500 3.500h11v7.500h-11zM6 13.500h4',
  copy: 'M5.500 5.500h7v8h-7zM3.500 10.500v-8h7',
  download: 'M8 2.500v7M5 7l3 3 3-3M3 13h10',
  none: 'M3 8h10',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" fill="none">
      <path
        d={PATHS[name]}
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
