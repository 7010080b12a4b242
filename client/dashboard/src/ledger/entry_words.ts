// An entry of the ledger as a sentence: "Ada froze the budget people". The server describes each
// entry in one line (server/core/describe.cc); what this page does not know is shown as it is.

import type { Actor, AuditEntry, Cap, MechanismEvent } from '../api/messages';
import { exponential } from '../format/caps';
import { eventWords } from '../format/events';
import { reasonWords } from '../format/refusals';
import { count, counted } from '../format/numbers';

/** What a filter can choose. */
export const KINDS = {
  charge: 'charges',
  refusal: 'refusals',
  budget: 'budgets',
  session: 'sessions',
  attempt: 'attempts',
  proposal: 'proposals and approvals',
  lease: 'leases',
  audit: 'audits of privacy',
  price: 'prices',
  other: 'other',
} as const;
export type EntryKind = keyof typeof KINDS;

export interface EntryWords {
  kind: EntryKind;
  /** Begins with a verb: "froze the budget people". */
  text: string;
  /** What it is about: "people" or "people/first"; empty if that is not known. */
  about: string;
  /** Why: the reason that somebody gave, or what was refused for. */
  reason: string;
}

type Parts = Record<string, string | undefined>;
/** Returns the cap of a budget by its id, if it is known. */
export type CapOf = (id: string) => Cap | undefined;
type Rule = [pattern: RegExp, kind: EntryKind, text: (parts: Parts, capOf: CapOf) => string];

const REASON = '(?:: "(?<reason>.*)")?$';
const NAME = '(?<about>[^ /]+)';
const SESSION = '(?<about>[^ ]+/[^ ]+)';

function rule(pattern: string, kind: EntryKind, text: Rule[2]): Rule {
  return [new RegExp(`^${pattern}`), kind, text];
}

const PHASES: Record<string, string> = { ACTIVE: 'thawed', FROZEN: 'froze', CLOSED: 'closed' };

const RULES: Rule[] = [
  rule(`budget ${NAME}(?: below (?<parent>[^ ]+))? created: (?<cap>.*), of "(?<unit>.*)"$`, 'budget',
    (p) => `created the budget ${p['about']}${p['parent'] === undefined ? '' : ` below ${p['parent']}`}: ${capText(p['cap'])}; one unit is one ${p['unit']}`),
  rule(`budget ${NAME} is (?<phase>ACTIVE|FROZEN|CLOSED)${REASON}`, 'budget',
    (p) => `${PHASES[p['phase'] ?? ''] ?? 'changed'} the budget ${p['about']}`),
  rule(`budget ${NAME} superseded by (?<next>[^ :]+): (?<cap>[^"]*?)${REASON}`, 'budget',
    supersededText),
  rule(`budget ${NAME} is called "(?<name>.*)", (?<labels>\\d+) labels, (?<alerts>\\d+) alert thresholds$`, 'budget',
    (p) => `described the budget ${p['about']}${p['name'] === '' ? '' : ` as “${p['name']}”`}: ${counted(p['labels'], 'label')}, ${counted(p['alerts'], 'alert threshold')}`),
  rule(`budget ${NAME} is to guard (?<what>.*)$`, 'budget',
    (p) => `made these changes of the budget ${p['about']} need two people: ${lower(p['what'])}`),
  rule(`proposal (?<id>[^ ]+) for budget ${NAME} (?<how>approved|rejected) by "(?<who>[^"]*)"${REASON}`, 'proposal',
    (p) => `${p['how']} the proposal ${p['id']} for the budget ${p['about']}`),
  rule(`proposal (?<id>[^ ]+) for budget ${NAME}: (?<what>[^"]*?)${REASON}`, 'proposal',
    (p) => `proposed for the budget ${p['about']}: ${p['what']}`),
  rule(`session ${SESSION} created, (?<mode>ADAPTIVE|DECLARED)(?<more>.*)$`, 'session',
    (p) => `opened the session ${p['about']}${p['mode'] === 'DECLARED' ? ' with a plan' : ''}${p['more'] ?? ''}`),
  rule(`session ${SESSION} refused: (?<why>[A-Z_]+)(?<more>.*)$`, 'refusal',
    (p) => `was refused the session ${p['about']}`),
  rule(`${SESSION} attempt (?<n>\\d+) opened(?<more>.*)$`, 'attempt',
    (p) => `began attempt ${p['n']} of ${p['about']}${p['more'] ?? ''}`),
  rule(`${SESSION} attempt \\d+ charged (?<count>\\d+) x (?<event>.*) as "(?<id>.*)"$`, 'charge',
    (p) => `charged ${p['about']} for ${counted(p['count'], 'step')}: ${describedWords(p['event'])}`),
  rule(`${SESSION} attempt \\d+ was refused (?<count>\\d+) x (?<event>.*) as "(?<id>.*)": (?<why>[A-Z_]+)(?<more>.*)$`, 'refusal',
    (p) => `was refused ${counted(p['count'], 'step')} in ${p['about']}: ${describedWords(p['event'])}`),
  rule(`${SESSION} attempt \\d+ holds "(?<id>.*)" as a lease$`, 'lease',
    (p) => `holds ${p['id']} as a lease of ${p['about']}`),
  rule(`${SESSION} attempt \\d+ settled the lease "(?<id>.*)", (?<used>\\d+) used$`, 'lease',
    (p) => `settled the lease ${p['id']} of ${p['about']}: ${counted(p['used'], 'step')} used`),
  rule(`${SESSION} closed${REASON}`, 'session', (p) => `closed the session ${p['about']}`),
  rule(`${SESSION} audited: (?<what>.*?)${REASON}`, 'audit', (p) => `recorded an audit of ${p['about']}: ${p['what']}`),
  rule(`(?:budget )?(?<about>[^ ]+) counts units of (?<event>.*): (?<units>\\d+) fit$`, 'price',
    (p) => `fixed the unit of ${p['about']}: ${describedWords(p['event'])}; ${p['units']} of them fit`),
  rule(`${SESSION} event \\d+ priced: (?<what>.*)$`, 'price',
    (p) => `had an event of ${p['about']} priced: ${p['what']}`),
  rule(`${SESSION} priced (?<event>.*)$`, 'price',
    (p) => `had an event of ${p['about']} priced: ${describedWords(p['event'])}`),
];

/** "raised the cap of team from epsilon 3 to 4 at delta 1e-5: team-2 takes its place". */
function supersededText(p: Parts, capOf: CapOf): string {
  const before = capOf(p['about'] ?? '')?.approximateDp;
  const after = capOf(p['next'] ?? '')?.approximateDp;
  if (before === undefined || after === undefined || before.delta !== after.delta) {
    return `replaced the budget ${p['about']} by ${p['next']}, with the cap ${capText(p['cap'])}`;
  }
  const [from, to] = [Number(before.epsilon ?? 0), Number(after.epsilon ?? 0)];
  const how =
    from === to
      ? `kept the cap of ${p['about']} at epsilon ${to}`
      : `${from < to ? 'raised' : 'lowered'} the cap of ${p['about']} from epsilon ${from} to ${to}`;
  return `${how} at delta ${exponential(after.delta)}: ${p['next']} takes its place`;
}

export function entryWords(entry: AuditEntry, capOf: CapOf = () => undefined): EntryWords {
  const description = entry.description ?? '';
  for (const [pattern, kind, text] of RULES) {
    const parts = pattern.exec(description)?.groups;
    if (parts === undefined) continue;
    const why = parts['why'] === undefined ? '' : `${reasonWords(parts['why'])}${(parts['more'] ?? '').replace(/\d{4,}(?= would fit)/, count)}`;
    return { kind, text: text(parts, capOf), about: parts['about'] ?? '', reason: parts['reason'] ?? why };
  }
  return { kind: 'other', text: description, about: '', reason: '' };
}

/** Who asked for a change: "Somebody on this machine" on a server without access control. */
export function whoWords(actor: Actor | undefined): string {
  const principal = actor?.principal ?? '';
  if (actor?.door === 'SERVER') return 'The server';
  if (principal === '') return 'Somebody (not recorded)';
  if (principal === 'anybody on this machine') return 'Somebody on this machine';
  return principal.replace(/^tokens\//, 'Token ');
}

/** How the call came in, if that says more than the name. */
export function doorWords(actor: Actor | undefined): string {
  if (actor?.door === 'OFFLINE') return 'on the files';
  return actor?.door === 'HTTP' ? 'over HTTP' : '';
}

/** Returns where a text names what it is about, as a whole word; -1: nowhere. */
export function placeOfName(text: string, about: string): number {
  if (about === '') return -1;
  for (const before of ['budget ', ' ']) {
    const at = text.indexOf(before + about);
    const end = at + before.length + about.length;
    if (at >= 0 && /^$|^[\s:;,]/.test(text.slice(end))) return at + before.length;
  }
  return -1;
}

/** True if an entry is about a budget or session, or about a session of the budget. */
export function isAbout(words: EntryWords, wanted: string): boolean {
  return words.about === wanted || words.about.startsWith(`${wanted}/`);
}

function lower(text: string | undefined): string {
  return (text ?? '').toLowerCase().replaceAll('_', ' ');
}

/** "(3, 1e-05)-DP by a portfolio, add-or-remove-one" with the delta as people write it. */
function capText(text: string | undefined): string {
  return (text ?? '').trim().replace(/e-0(\d)/g, 'e-$1');
}

/** "gaussian{noiseMultiplier: 1.1}" in the words of the other pages; as it is if it is not read. */
export function describedWords(text: string | undefined): string {
  const reader = { text: text ?? '', at: 0 };
  try {
    const event = readEvent(reader);
    if (reader.at === reader.text.length) return eventWords(event);
  } catch {
    // It is cut, or of a kind that is written in another way.
  }
  return reader.text;
}

interface Reader {
  text: string;
  at: number;
}

function take(reader: Reader, pattern: RegExp): string {
  const sticky = new RegExp(pattern.source, 'y');
  sticky.lastIndex = reader.at;
  const found = sticky.exec(reader.text)?.[0];
  if (found === undefined) throw new SyntaxError(`at ${reader.at}`);
  reader.at += found.length;
  return found;
}

function readEvent(reader: Reader): MechanismEvent {
  const name = take(reader, /[a-zA-Z]+/);
  return { [name]: readFields(reader) };
}

function readFields(reader: Reader): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  take(reader, /\{/);
  while (reader.text[reader.at] !== '}') {
    const name = take(reader, /[a-zA-Z]+/);
    take(reader, /: /);
    fields[name] = readValue(reader);
    if (reader.text[reader.at] === ',') take(reader, /, /);
  }
  reader.at += 1;
  return fields;
}

function readValue(reader: Reader): unknown {
  const next = reader.text[reader.at] ?? '';
  if (next === '"') return JSON.parse(take(reader, /"(?:[^"\\]|\\.)*"/));
  if (next === '{') return readFields(reader);
  if (next === '[') {
    const items: unknown[] = [];
    take(reader, /\[/);
    while (reader.text[reader.at] !== ']') {
      items.push(readValue(reader));
      if (reader.text[reader.at] === ',') take(reader, /, /);
    }
    reader.at += 1;
    return items;
  }
  const word = take(reader, /[^,{}[\]]+/);
  if (reader.text[reader.at] === '{') return { [word]: readFields(reader) };
  return word;
}
