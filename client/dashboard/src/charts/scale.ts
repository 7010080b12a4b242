// Scales of an axis: from a value to a place on the screen and back, with the values that get a
// mark.

export interface Tick {
  value: number;
  label: string;
}

export interface Scale {
  // The place of a value; values outside the domain are placed outside the range, NaN stays NaN.
  place(value: number): number;
  // The value at a place; the inverse of `place`.
  value(place: number): number;
  // About `count` marks inside the domain, rising.
  ticks(count: number): Tick[];
}

export type ScaleKind =
  | 'linear'
  | 'logarithmic'
  // Values are powers of ten already: -400 is 1e-400, which no number can hold.
  | 'powers';

export interface Interval {
  first: number;
  last: number;
}

// Round steps 1, 2, 2.5, 5 times a power of ten that give at most `count` intervals.
export function roundStep(span: number, count: number): number {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 2.5, 5]) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// The number of decimals that distinguishes the multiples of `step`.
function decimalsOf(step: number): number {
  for (let decimals = 0; decimals <= 15; ++decimals) {
    const scaled = step * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6) return decimals;
  }
  return 15;
}

// REQUIRES: domain.first < domain.last, both finite.
export function linearScale(domain: Interval, range: Interval): Scale {
  const slope = (range.last - range.first) / (domain.last - domain.first);
  return {
    place: (value) => range.first + (value - domain.first) * slope,
    value: (place) => domain.first + (place - range.first) / slope,
    ticks(count) {
      const step = roundStep(domain.last - domain.first, count);
      const decimals = decimalsOf(step);
      const ticks: Tick[] = [];
      const from = Math.ceil(domain.first / step - 1e-9);
      const to = Math.floor(domain.last / step + 1e-9);
      for (let i = from; i <= to; ++i) {
        const value = Number((i * step).toFixed(decimals));
        ticks.push({ value, label: tickLabel(value, decimals) });
      }
      return ticks;
    },
  };
}

// REQUIRES: 0 < domain.first < domain.last < inf.
export function logarithmicScale(domain: Interval, range: Interval): Scale {
  const inner = powerScale(
    { first: Math.log10(domain.first), last: Math.log10(domain.last) },
    range,
  );
  return {
    place: (value) => inner.place(value > 0 ? Math.log10(value) : -Infinity),
    value: (place) => 10 ** inner.value(place),
    ticks: (count) =>
      inner.ticks(count).map(({ value, label }) => ({ value: Number(`1e${value}`), label })),
  };
}

// The same as linearScale, for powers of ten.
export function powerScale(domain: Interval, range: Interval): Scale {
  return {
    ...linearScale(domain, range),
    ticks: (count) =>
      decades(domain, count).map((exponent) => ({ value: exponent, label: powerLabel(exponent) })),
  };
}

// Exponents of ten inside the domain, every one, or every second, third, fifth, ... so that at most
// `count` + 1 remain.
function decades(domain: Interval, count: number): number[] {
  const from = Math.ceil(domain.first - 1e-9);
  const to = Math.floor(domain.last + 1e-9);
  const stride = [1, 2, 3, 5, 10, 20, 25, 50, 100].find((s) => (to - from) / s <= count) ?? 200;
  const exponents: number[] = [];
  for (let e = Math.ceil(from / stride) * stride; e <= to; e += stride) exponents.push(e);
  return exponents;
}

export function makeScale(kind: ScaleKind, domain: Interval, range: Interval): Scale {
  switch (kind) {
    case 'linear':
      return linearScale(domain, range);
    case 'logarithmic':
      return logarithmicScale(domain, range);
    case 'powers':
      return powerScale(domain, range);
  }
}

// The smallest interval with round ends that holds `interval`.
export function roundOut(interval: Interval, count: number): Interval {
  if (!(interval.last > interval.first)) return { first: interval.first, last: interval.first + 1 };
  const step = roundStep(interval.last - interval.first, count);
  return {
    first: Math.floor(interval.first / step + 1e-9) * step,
    last: Math.ceil(interval.last / step - 1e-9) * step,
  };
}

// Returns "12,000" for 12000; a tick is a round number, so nothing is rounded here.
export function tickLabel(value: number, decimals: number): string {
  if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-4)) {
    return value.toExponential().replace('e+', 'e');
  }
  const [whole = '', fraction] = Math.abs(value).toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${value < 0 ? '-' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

// "0.01" near one, "1e-6" further away.
export function powerLabel(exponent: number): string {
  if (exponent >= 0 && exponent <= 4) return tickLabel(10 ** exponent, 0);
  if (exponent < 0 && exponent >= -3) return (10 ** exponent).toFixed(-exponent);
  return `1e${exponent}`;
}
