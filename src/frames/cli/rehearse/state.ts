// The state of a rehearsal. Its file is also the report for programs: ids, results and facts, without a secret.
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, EXIT } from '../exit-codes.js';
import { replaceFile } from '../into-file.js';
import { listOf, objectOf, textAt } from './json.js';

// Questions left open by the MoR's documents. The report lists each question, with or without observed answers.
export const FACTS = {
  setup_customer: 'How does a setup intent name its customer, and does the saved method then pay for them?',
  draft_charge: 'When is a renewal charged: while the invoice is a draft, or once it is open?',
  renewal_tax: 'Which amount does a renewal charge, with which tax?',
  trial_tax: 'Which tax does the first charge after a trial bear, once its calculation has expired?',
  grown_draft: 'A draft grows after invoice.created: which amount is charged?',
  trial_order: 'Two trials are confirmed in the other order: does each card pay for its own customer?',
  relayed_again: 'Does another invoice.created for a refused invoice start another charge?',
  signatures: 'Which form do the signatures have?',
  charge_lookup: 'What does GET /api/payments/invoice?psp_reference= answer for a charge, and when?',
  unknown_charge: 'What does GET /api/payments/invoice answer for an unknown charge?',
  refund_ids: 'Which ids are in the answer to a refund, and in its event?',
  event_fields: 'Which members do the events have?',
  link_ids: 'Which ids name the payment of a payment link?',
  error_bodies: "Which shape do Document 3's errors have?",
  retry_after: 'Where does the MoR send Retry-After?',
  key_life: 'How long is an Idempotency-Key remembered?',
} as const;

export type Fact = keyof typeof FACTS;
export const FACT_NAMES = Object.keys(FACTS) as readonly Fact[];

/** One observation: codes, counts, ids of the test accounts and names of members. No secret, no personal data. */
export type Observed = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export type StepState = 'passed' | 'failed' | 'skipped';
export type StepResult = {
  readonly name: string;
  readonly state: StepState;
  readonly detail: string;
  readonly at: string;
};

export type Rehearsal = {
  readonly rehearsal: 1;
  /** A random id, part of the rehearsal's keys and object names. */
  readonly id: string;
  readonly startedAt: string;
  readonly accountId: string;
  versions: Readonly<Record<string, string>>;
  /** Ids of the objects made by the rehearsal, by short names such as `customer` or `clock`. */
  readonly ids: Record<string, string>;
  readonly steps: StepResult[];
  readonly facts: Record<Fact, Observed[]>;
};

const MOST_OBSERVED = 40;

export function newRehearsal(id: string, accountId: string, now: Date): Rehearsal {
  const facts = Object.fromEntries(FACT_NAMES.map((name) => [name, [] as Observed[]])) as Record<Fact, Observed[]>;
  return { rehearsal: 1, id, startedAt: now.toISOString(), accountId, versions: {}, ids: {}, steps: [], facts };
}

/** Reads a rehearsal's file. Returns null for an unreadable file. Throws a CliError if the file is no rehearsal. */
export function loadRehearsal(path: string): Rehearsal | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return null;
  }
  const message = `${path} is no rehearsal. Move it away, or name another folder with --dir.`;
  const unreadable = new CliError(EXIT.failed, 'not_a_rehearsal', message);
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw unreadable;
  }
  const [id, startedAt, accountId] = ['id', 'startedAt', 'accountId'].map((name) => textAt(file, name));
  const read = objectOf(file);
  if (read['rehearsal'] !== 1 || !id || !startedAt || !accountId) throw unreadable;
  const known = newRehearsal(id, accountId, new Date(startedAt));
  for (const [name, value] of Object.entries(objectOf(read['ids'])))
    if (typeof value === 'string') known.ids[name] = value;
  for (const step of listOf(read['steps'])) {
    const [name, state, detail, at] = ['name', 'state', 'detail', 'at'].map((n) => textAt(step, n));
    if (name && (state === 'passed' || state === 'failed' || state === 'skipped'))
      known.steps.push({ name, state, detail: detail ?? '', at: at ?? startedAt });
  }
  for (const fact of FACT_NAMES) known.facts[fact].push(...(listOf(objectOf(read['facts'])[fact]) as Observed[]));
  return known;
}

/** Replaces the file in one step: an interrupted write leaves the old file. Only the owner of a new file may read it. */
export function saveFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, text);
}

/** Stores an observation, unless an equal one exists or the limit is reached. */
export function observe(rehearsal: Rehearsal, fact: Fact, observed: Observed): void {
  const all = rehearsal.facts[fact];
  const same = all.some((one) => JSON.stringify(one) === JSON.stringify(observed));
  if (!same && all.length < MOST_OBSERVED) all.push(observed);
}

/** The error of a step after too long a wait. */
export class NotArrived extends Error {
  readonly code = 'not_arrived';
}

/** The error after the person stopped the rehearsal. */
export class Interrupted extends Error {
  readonly code = 'interrupted';
}
