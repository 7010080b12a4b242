// The reason of a refused charge, and what to do about it, in words.

import { countOf, numberOf, type Refusal } from '../api/messages';
import { quantityName } from './names';
import { count, counted, roundedDown, roundedUp } from './numbers';

/** "no room left under a cap", for the reason of a Refusal. */
export function reasonWords(reason: string | undefined): string {
  switch (reason) {
    case 'BUDGET_EXHAUSTED':
      return 'no room left under a cap';
    case 'BUDGET_FROZEN':
      return 'a budget is frozen';
    case 'CLOSED':
      return 'the session or a budget is closed';
    case 'NOT_IN_PLAN':
      return 'not in the plan';
    case 'ATTEMPT_FENCED':
      return 'a newer attempt was opened';
    case 'EVENT_NOT_CHARGEABLE':
      return 'the event has no finite cost here';
    case 'BATCH_REFUSED':
      return 'another item of the batch was refused';
    case 'POLICY_VIOLATION':
      return 'a policy does not allow it';
    case 'BUDGET_SUPERSEDED':
      return 'a budget was superseded';
    default:
      return 'for a reason that this page does not know';
  }
}

/** What was asked of which cell, as a sentence; empty if no cell decided. */
export function causeWords(refusal: Refusal): string {
  const { cell } = refusal;
  if (
    cell === undefined ||
    cell.quantity === undefined ||
    cell.quantity === 'QUANTITY_UNSPECIFIED'
  ) {
    return '';
  }
  const name = quantityName(cell.quantity, numberOf(cell.order));
  const asked = roundedUp(numberOf(refusal.requested) ?? NaN);
  const left = roundedDown(numberOf(cell.remaining) ?? NaN);
  const cap = roundedDown(numberOf(cell.cap) ?? NaN);
  if (numberOf(refusal.requested) === Infinity) {
    return `It has no finite cost in ${name}.`;
  }
  return `Asked for ${asked} in ${name}, where ${left} remains of ${cap}.`;
}

export function remedyWords(refusal: Refusal): string {
  if (refusal.remedy !== undefined && refusal.remedy !== '') return asSentence(refusal.remedy);
  const fit = countOf(refusal.stepsThatFit);
  switch (refusal.reason) {
    case 'BUDGET_EXHAUSTED':
      if (fit > 0) return `Ask for at most ${count(fit)} of it, or for more noise.`;
      return isLargerThanTheCap(refusal)
        ? 'It is larger than the whole cap, and no step of it fits: ask for more noise, or for a larger budget.'
        : 'No step of this size fits any more: ask for more noise, or stop.';
    case 'BUDGET_FROZEN':
      return 'Wait until the budget is thawed.';
    case 'CLOSED':
      return 'Use another session or budget.';
    case 'NOT_IN_PLAN':
      return fit > 0
        ? `Ask for at most ${counted(fit, 'step')} of it.`
        : "Charge what the session's plan holds.";
    case 'ATTEMPT_FENCED':
      return 'Charge under the newest attempt.';
    case 'EVENT_NOT_CHARGEABLE':
      return "Use an event that the cap's currency can count, or a budget in another currency.";
    case 'BATCH_REFUSED':
      return 'Look at the other items of the batch.';
    case 'POLICY_VIOLATION':
      return "Declare what the budget's policy wants.";
    case 'BUDGET_SUPERSEDED':
      return 'Open a session under the successor.';
    default:
      return 'A newer version of this page may know what to do.';
  }
}

function isLargerThanTheCap(refusal: Refusal): boolean {
  const cap = numberOf(refusal.cell?.cap) ?? 0;
  // The request is larger than the cap and its tolerance, which is 2^-32 of the cap.
  return cap > 0 && (numberOf(refusal.requested) ?? 0) > cap * (1 + 1e-9);
}

function asSentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** The server counts the refusals of a day up to this number. */
const MOST_COUNTED = 1000;

/** "12", or "1,000+" where there may be more. */
export function refusedCount(refused: number): string {
  return `${count(refused)}${refused >= MOST_COUNTED ? '+' : ''}`;
}
