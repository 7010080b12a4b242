// Numbers for people, rounded to the safe side. A displayed epsilon is never below the true one, and
// what remains is never above it: rounding works on the decimal digits, not on floating point.

export type Direction = 'up' | 'down';

export const INFINITE = 'no finite bound';

interface Decimal {
  negative: boolean;
  /** Without leading zeros: the value is 0.DIGITS * 10^exponent. Empty for 0. */
  digits: string;
  exponent: number;
}

/** Reads the shortest decimal text of a number ("1.5e-7", "0.1"), which is what JSON carries. */
function decimalOf(value: number): Decimal {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value));
  const whole = match?.[2] ?? '';
  const all = whole + (match?.[3] ?? '');
  const digits = all.replace(/^0+/, '');
  const exponent = whole.length - (all.length - digits.length) + Number(match?.[4] ?? 0);
  return { negative: match?.[1] === '-', digits: digits.replace(/0+$/, ''), exponent };
}

/** Adds 1 at the last place: "99" becomes "100". */
function increment(digits: string): string {
  return (BigInt(digits) + 1n).toString();
}

/**
 * The value at `significant` digits, rounded towards +infinity ('up') or -infinity ('down'):
 * rounded(1.8301, 'up') is "1.84". A value with fewer digits stays as it is: "3".
 */
export function rounded(value: number, direction: Direction, significant = 3): string {
  if (Number.isNaN(value)) return 'unknown';
  if (value === Infinity) return INFINITE;
  if (value === -Infinity) return `-${INFINITE}`;
  const decimal = decimalOf(value);
  if (decimal.digits === '') return '0';
  let { digits, exponent } = decimal;
  if (digits.length > significant) {
    // Away from 0, if the direction points there.
    const away = (direction === 'up') !== decimal.negative;
    digits = digits.slice(0, significant);
    if (away) {
      const next = increment(digits);
      if (next.length > digits.length) exponent += 1;
      digits = next.slice(0, significant);
    }
  }
  return (decimal.negative ? '-' : '') + plain(digits, exponent);
}

/** 0.DIGITS * 10^exponent as people write it; very large and very small as 1.5e-7. */
function plain(digits: string, exponent: number): string {
  if (exponent > 6 || exponent < -3) {
    const rest = digits.slice(1).replace(/0+$/, '');
    return `${digits.charAt(0)}${rest === '' ? '' : `.${rest}`}e${exponent - 1}`;
  }
  if (exponent <= 0) return `0.${'0'.repeat(-exponent)}${digits}`;
  if (digits.length <= exponent) return digits + '0'.repeat(exponent - digits.length);
  return `${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}

/** For what is spent, and for epsilon: never below the value. */
export function roundedUp(value: number, significant = 3): string {
  return rounded(value, 'up', significant);
}

/** For what remains, and for lower bounds: never above the value. */
export function roundedDown(value: number, significant = 3): string {
  return rounded(value, 'down', significant);
}

/** A share as a percentage: percent(0.0412, 'up') is "4.2%". */
export function percent(share: number, direction: Direction, significant = 2): string {
  if (!Number.isFinite(share)) return 'unknown';
  const decimal = decimalOf(share);
  if (decimal.digits === '') return '0%';
  // The exact value a hundred times larger: by its digits, not by a multiplication.
  const sign = decimal.negative ? '-' : '';
  const hundredfold = Number(`${sign}0.${decimal.digits}e${decimal.exponent + 2}`);
  // Distinguishes 100% and 99.96%.
  const places = Math.abs(hundredfold) > 99 ? significant + 2 : significant;
  return `${rounded(hundredfold, direction, places)}%`;
}

/** True from 80% on, as percent() shows it, if anything is left. */
export function isNearlySpent(share: number): boolean {
  return share < 1 && Math.ceil(share * 100 - 1e-9) >= 80;
}

/** "12,345": an integer, exactly; also from the text of a 64-bit one. */
export function count(value: number | string | undefined): string {
  if (value === undefined) return '0';
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** "1 charge", "12 charges". */
export function counted(value: number | string | undefined, one: string, many = `${one}s`): string {
  const text = count(value);
  return `${text} ${text === '1' ? one : many}`;
}

/** "epsilon 1.84 at delta 1e-5": delta is part of every label. */
export function epsilonAtDelta(epsilon: number | undefined, deltaText: string): string {
  if (epsilon === undefined) return `no epsilon at delta ${deltaText}`;
  if (epsilon === Infinity) return `no finite epsilon at delta ${deltaText}`;
  return `epsilon ${roundedUp(epsilon)} at delta ${deltaText}`;
}
