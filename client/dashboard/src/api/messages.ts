// The JSON of epsledger.v1 (proto/epsledger/v1), as far as it is used here. It is proto3 JSON:
// 64-bit integers are strings, infinity is "Infinity", enum values are their names, and unset
// fields may be absent. tests/proto/dashboard_messages_test.py holds every field against the
// protos.

/** "12": a 64-bit integer. */
export type Int64 = string;
/** 1.5, "Infinity", "-Infinity" or "NaN". Read it with numberOf. */
export type Double = number | 'Infinity' | '-Infinity' | 'NaN';
/** "2026-01-31T12:00:00.000001Z". */
export type Timestamp = string;
/** Base64. */
export type Bytes = string;

/** A double as a number; undefined stays undefined. */
export function numberOf(value: Double): number;
export function numberOf(value: Double | undefined): number | undefined;
export function numberOf(value: Double | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** A 64-bit integer as a number: counts here are at most 2^53. Absent is 0, as in proto3. */
export function countOf(value: Int64 | undefined): number {
  return value === undefined ? 0 : Number(value);
}

export type AccountantKind =
  | 'BASIC'
  | 'ADVANCED'
  | 'OPTIMAL'
  | 'RENYI'
  | 'MOMENTS'
  | 'MOMENTS_HOLDER'
  | 'MOMENTS_AS_PUBLISHED'
  | 'ZCDP'
  | 'GAUSSIAN'
  | 'CLT'
  | 'PLD'
  | 'TRADE_OFF'
  | 'BEST'
  | 'KIND_UNSPECIFIED';

export type RelationKind =
  | 'ADD_OR_REMOVE_ONE'
  | 'REPLACE_ONE'
  | 'REPLACE_SPECIAL'
  | 'KIND_UNSPECIFIED';

export interface Guarantee {
  kind?: 'UPPER_BOUND' | 'LOWER_BOUND' | 'APPROXIMATION' | 'KIND_UNSPECIFIED';
  accountant?: AccountantKind;
  theorem?: string;
  upper?: Double;
  lower?: Double;
  value?: Double;
  logUpper?: Double;
  logLower?: Double;
  order?: Double;
  containsUnverifiedClaim?: boolean;
}

export interface AccountantReading {
  accountant?: AccountantKind;
  guarantee?: Guarantee;
  reasonUnavailable?: string;
}

/** One key: "gaussian", "poissonSampled", ... and the parameters of that kind. */
export type MechanismEvent = Record<string, unknown>;

export interface CountedEvent {
  event?: MechanismEvent;
  count?: Int64;
}

export type Quantity =
  | 'EPSILON'
  | 'DELTA'
  | 'EPSILON_SQUARED'
  | 'RHO'
  | 'MU_SQUARED'
  | 'RENYI_DIVERGENCE'
  | 'PLAN_COUNT'
  | 'NO_GUARANTEE'
  | 'UNITS'
  | 'RESERVE'
  | 'QUANTITY_UNSPECIFIED';

export interface CellBalance {
  quantity?: Quantity;
  order?: Double;
  cap?: Double;
  spent?: Double;
  remaining?: Double;
}

export interface Cap {
  pureEpsilon?: { epsilon?: Double };
  approximateDp?: {
    epsilon?: Double;
    delta?: Double;
    filter?: string;
    order?: Double;
    reference?: MechanismEvent;
  };
  zcdp?: { rho?: Double };
  gaussianDp?: { mu?: Double };
  renyi?: { order?: Double; divergence?: Double };
  tradeOffCurve?: { points?: { epsilon?: Double; delta?: Double }[] };
  noGuarantee?: Record<string, never>;
  units?: {
    reference?: MechanismEvent;
    count?: string;
    delta?: Double;
    guarantee?: { epsilon?: Double; delta?: Double }[];
  };
}

export type BudgetState = 'ACTIVE' | 'FROZEN' | 'CLOSED' | 'SUPERSEDED' | 'STATE_UNSPECIFIED';

export interface Policy {
  allowedSamplers?: string[];
  provenanceRequired?: boolean;
  allowedNormalizers?: string[];
  knownFaultsRefused?: boolean;
}

export interface ApprovalPolicy {
  guarded?: string[];
}

export interface Budget {
  name: string;
  parent?: string;
  cap?: Cap;
  neighboringRelation?: RelationKind;
  privacyUnit?: string;
  displayName?: string;
  state?: BudgetState;
  cells?: CellBalance[];
  allCellsMustFit?: boolean;
  theorem?: string;
  spentFraction?: Double;
  leasedFraction?: Double;
  acceptedChargeCount?: Int64;
  refusedChargeCount?: Int64;
  createTime?: Timestamp;
  partition?: { function?: string };
  labels?: Record<string, string>;
  alertThresholds?: number[];
  policy?: Policy;
  supersededBy?: string;
  supersedes?: string;
  stateReason?: string;
  approvalPolicy?: ApprovalPolicy;
}

export interface Claim {
  status?: 'PROVEN' | 'NOT_PROVEN' | 'COUNTEREXAMPLE_KNOWN' | 'STATUS_UNSPECIFIED';
  epsilon?: Double;
  delta?: Double;
  source?: string;
  label?: string;
  counterexampleKnown?: boolean;
}

export interface Provenance {
  sampler?: string;
  clipNorm?: Double;
  library?: string;
  libraryVersion?: string;
  normalizer?: string;
}

export interface SessionAudit {
  method?: string;
  hypothesis?: string;
  epsilonLowerBound?: Double;
  delta?: Double;
  confidence?: Double;
  trials?: Int64;
  muLowerBound?: Double;
  claimedEpsilon?: Double;
  source?: string;
  exceedsClaim?: boolean;
  sequence?: Int64;
  createTime?: Timestamp;
}

export interface Session {
  name: string;
  mode?: 'DECLARED' | 'ADAPTIVE' | 'MODE_UNSPECIFIED';
  neighboringRelation?: RelationKind;
  ownCap?: Cap;
  noOwnCap?: boolean;
  plan?: { events?: CountedEvent[] };
  planDelta?: Double;
  displayName?: string;
  state?: 'ACTIVE' | 'CLOSED' | 'STATE_UNSPECIFIED';
  currentAttempt?: Int64;
  history?: CountedEvent[];
  cells?: CellBalance[];
  allCellsMustFit?: boolean;
  planGuarantee?: Guarantee;
  ticketsLeft?: Int64[];
  acceptedChargeCount?: Int64;
  refusedChargeCount?: Int64;
  createTime?: Timestamp;
  group?: string;
  labels?: Record<string, string>;
  claim?: Claim;
  stateReason?: string;
  openLeases?: Lease[];
  eventsOmitted?: boolean;
  stepCount?: string;
  provenance?: Provenance;
  audits?: SessionAudit[];
  auditCount?: Int64;
}

export interface Attempt {
  name: string;
  number?: Int64;
  clientDescription?: string;
  provenance?: Provenance;
  sequence?: Int64;
}

export interface Refusal {
  reason?: string;
  limitingResource?: string;
  cell?: CellBalance;
  requested?: Double;
  stepsThatFit?: Int64;
  remedy?: string;
}

export interface Charge {
  name: string;
  event?: MechanismEvent;
  /** For a refused charge whose event the ledger does not keep. */
  eventDescription?: string;
  count?: Int64;
  decision?: 'ACCEPTED' | 'REFUSED' | 'DECISION_UNSPECIFIED';
  refusal?: Refusal;
  sequence?: Int64;
  createTime?: Timestamp;
  hash?: Bytes;
}

export interface Lease {
  name: string;
  event?: MechanismEvent;
  grantedCount?: Int64;
  usedCount?: Int64;
  wastedCount?: Int64;
  expireTime?: Timestamp;
  settled?: boolean;
  sequence?: Int64;
}

export interface Proposal {
  name: string;
  createChild?: { budgetId: string; budget?: Budget };
  supersede?: { successorId: string; cap?: Cap };
  close?: object;
  thaw?: object;
  setApprovalPolicy?: ApprovalPolicy;
  reason?: string;
  expireTime?: string;
  proposedBy?: string;
  sequence?: Int64;
}
export interface ListProposalsResponse {
  proposals?: Proposal[];
}

export interface ListBudgetsResponse {
  budgets?: Budget[];
  nextPageToken?: string;
}
export interface GetBudgetTreeResponse {
  budgets?: Budget[];
  nextPageToken?: string;
}
export interface ListSessionsResponse {
  sessions?: Session[];
  nextPageToken?: string;
}
export interface ListChargesResponse {
  charges?: Charge[];
  nextPageToken?: string;
}

export interface ListRefusalsResponse {
  charges?: Charge[];
  /** Plans that did not fit: each with a refusedSession. */
  refusedSessions?: LedgerChange[];
  nextPageToken?: string;
}

/** A budget with what it was charged so far. */
export interface BudgetReading {
  budget: Budget;
  /** Of `reading`. */
  delta?: Double;
  /** BEST. */
  reading?: AccountantReading;
  truePositiveRateUpper?: Double;
  sessionCount?: Int64;
  activity?: BudgetActivity;
}
export interface ListBudgetReadingsResponse {
  budgets?: BudgetReading[];
  nextPageToken?: string;
}
/** A session with what it was charged so far, without its events. */
export interface SessionReading {
  session: Session;
  /** BEST. */
  reading?: AccountantReading;
  renyiDivergence?: Guarantee;
}
export interface ListSessionReadingsResponse {
  sessions?: SessionReading[];
  nextPageToken?: string;
  sessionCount?: Int64;
}

export interface BudgetGuarantees {
  readings?: AccountantReading[];
  sequence?: Int64;
  sessionCount?: Int64;
  /** With typeOneError: at most this true positive rate at that false positive rate. */
  truePositiveRateUpper?: Double;
}

export interface SessionGuarantees {
  readings?: AccountantReading[];
  sequence?: Int64;
  stepsThatFit?: Int64;
}

export interface BudgetActivity {
  lastChargeTime?: Timestamp;
  /** In the window. */
  refusedChargeCount?: Int64;
  /** "86400s" */
  window?: string;
  sequence?: Int64;
  /** By day of UTC, "2026-01-31": what was spent at its end; on the newest day: now. */
  spentByDay?: Record<string, Double>;
}

export interface SeriesPoint {
  steps?: Int64;
  epsilon?: Guarantee;
  time?: Timestamp;
  sequence?: Int64;
}

export interface SeriesAttempt {
  number?: Int64;
  stepsBefore?: Int64;
  sequence?: Int64;
  time?: Timestamp;
}

/** Epsilon at a delta against the steps of a session. */
export interface EpsilonSeries {
  /** Ascending; the first is at 0 steps. */
  points?: SeriesPoint[];
  /** If the last event repeats until nothing fits; the first point is the last one of points. */
  ahead?: SeriesPoint[];
  attempts?: SeriesAttempt[];
  steps?: Int64;
  /** Charged in open leases and not settled. */
  leasedSteps?: Int64;
  /** Absent if the cap that limits is not an epsilon at this delta. */
  epsilonCap?: Double;
  /** Its owner: the session, or a budget above, which other sessions spend too. */
  epsilonCapResource?: string;
  sequence?: Int64;
}

export interface CompareAccountantsResponse {
  readings?: AccountantReading[];
  winner?: AccountantKind;
}

export interface PrivacyProfilePoint {
  epsilon?: Double;
  delta?: Guarantee;
}
export interface GetPrivacyProfileResponse {
  points?: PrivacyProfilePoint[];
}

export interface TradeOffPoint {
  typeOneError?: Double;
  typeTwoError?: Guarantee;
  truePositiveRateUpper?: Double;
  truePositiveRateLower?: Double;
}
export interface GetTradeOffCurveResponse {
  points?: TradeOffPoint[];
}

export interface ComputeResponse {
  upper?: Double;
  lower?: Double;
  value?: Double;
  logUpper?: Double;
  logLower?: Double;
  kind?: Guarantee['kind'];
  accountant?: AccountantKind;
  theorem?: string;
  order?: Double;
  containsUnverifiedClaim?: boolean;
  /** Of a gaussianDpMu query: what is lost when the curve of mu is stated. */
  regret?: Double;
}

export interface LedgerHead {
  rootBudget?: string;
  sequence?: Int64;
  hash?: Bytes;
  merkleRoot?: Bytes;
}

export interface Actor {
  principal?: string;
  door?: 'DOOR_UNSPECIFIED' | 'GRPC' | 'HTTP' | 'OFFLINE' | 'SERVER';
  client?: string;
}
export interface AuditEntry {
  sequence?: Int64;
  previousHash?: Bytes;
  hash?: Bytes;
  content?: Bytes;
  description?: string;
  time?: Timestamp;
  actor?: Actor;
}
export interface ListAuditEntriesResponse {
  entries?: AuditEntry[];
  lastSequence?: Int64;
}

export interface VerifyLedgerResponse {
  valid?: boolean;
  firstBadSequence?: Int64;
  head?: LedgerHead;
  problem?: string;
}

export interface PrivacyStatement {
  head?: LedgerHead;
  text?: string;
  json?: string;
  html?: string;
  signature?: Bytes;
  publicKey?: Bytes;
}

export interface Denial {
  time?: Timestamp;
  principal?: string;
  method?: string;
  reason?: string;
  count?: Int64;
}
export interface ListDenialsResponse {
  denials?: Denial[];
}

export interface Caller {
  tenant?: string;
  role?: 'VIEWER' | 'TRAINER' | 'ADMIN' | 'KIND_UNSPECIFIED';
  principal?: string;
  /** The caller's limits; missing: none. */
  grants?: { resource: string }[];
}

export interface ServerInfo {
  version?: string;
  storage?: string;
  startTime?: Timestamp;
  notServingReason?: string;
  budgetCount?: Int64;
  sessionCount?: Int64;
  entryCount?: Int64;
  accessControl?: boolean;
  statementPublicKey?: Bytes;
  incarnations?: Incarnation[];
  quarantines?: Quarantine[];
}

/** One life of the stored ledgers; the present one is the last. */
export interface Incarnation {
  id?: Bytes;
  beginTime?: Timestamp;
  reason?: string;
}

/** A ledger that takes no commands. */
export interface Quarantine {
  rootBudget?: string;
  reason?: string;
  canBeLifted?: boolean;
}

/** What /v1/events reports about one entry of a ledger. One of the last six is set. */
export interface LedgerChange {
  /** The resource of the watch: "budgets/people". */
  watched?: string;
  sequence?: Int64;
  time?: Timestamp;
  budget?: Budget;
  session?: Session;
  attempt?: Attempt;
  charge?: Charge;
  lease?: Lease;
  refusedSession?: { name?: string; refusal?: Refusal };
}
