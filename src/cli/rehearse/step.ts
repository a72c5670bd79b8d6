// One step of a rehearsal, and what a step may use.
import type Stripe from 'stripe';
import { type Config } from '../../config/index.js';
import { type Cli } from '../session.js';
import { type DaemonApi } from './daemon.js';
import { type Fact, type Observed } from './facts.js';
import { type Hands } from './hands.js';
import { type MorProbe } from './mor-probe.js';
import { type Rehearsal, type StepState } from './state.js';

export type Outcome = { readonly state: StepState; readonly detail: string };

export type Step = {
  readonly name: string;
  /** What it does, in one sentence. */
  readonly does: string;
  /** True: later steps do without it. */
  readonly optional?: true;
  readonly run: (stage: Stage) => Promise<Outcome>;
};

export type Stage = {
  readonly cli: Cli;
  readonly config: Config;
  readonly daemon: DaemonApi;
  readonly stripe: Stripe;
  readonly mor: MorProbe;
  readonly hands: Hands;
  readonly rehearsal: Rehearsal;
  readonly currency: string;
  /** Of the payment link; null: none is made. */
  readonly jurisdiction: string | null;
  readonly say: (text: string) => void;
  /** Keeps an id, in the file too, before anything else is done. */
  readonly keep: (name: string, id: string) => void;
  /** An id that an earlier step kept. Throws when there is none. */
  readonly id: (name: string) => string;
  readonly observe: (fact: Fact, observed: Observed) => void;
  /** Looks until the answer holds. Throws `NotArrived` after the patience, and `Interrupted` when the person ends it. */
  readonly until: <T>(what: string, look: () => Promise<T>, holds: (seen: T) => boolean, sec?: number) => Promise<T>;
};

export const passed = (detail: string): Outcome => ({ state: 'passed', detail });
export const failed = (detail: string): Outcome => ({ state: 'failed', detail });
export const skipped = (reason: string): Outcome => ({ state: 'skipped', detail: reason });

/** The key of a request, the same in each run of this rehearsal. */
export const keyOf = (stage: Stage, what: string): string => `rehearse-${stage.rehearsal.id}-${what}`;
