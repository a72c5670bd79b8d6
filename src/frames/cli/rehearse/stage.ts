// The tools of a rehearsal's steps, and the outcomes of a step.
import type Stripe from 'stripe';
import { type Config } from '../../../shared/config/index.js';
import { type Cli } from '../cli.js';
import { CliError, EXIT } from '../exit-codes.js';
import { plain } from '../table.js';
import { type DaemonApi } from './daemon.js';
import { type ManualSteps } from './manual-steps.js';
import { type MorCheck } from './mor-check.js';
import { type Fact, Interrupted, NotArrived, observe, type Observed, type Rehearsal, type StepState } from './state.js';

export type Outcome = { readonly state: StepState; readonly detail: string };
export const passed = (detail: string): Outcome => ({ state: 'passed', detail });
export const failed = (detail: string): Outcome => ({ state: 'failed', detail });
export const skipped = (reason: string): Outcome => ({ state: 'skipped', detail: reason });

export type Step = {
  readonly name: string;
  /** One sentence about the step's work. */
  readonly does: string;
  /** True: the rehearsal continues even after a failure of this step, because no later step needs it. */
  readonly optional?: true;
  readonly run: (stage: Stage) => Promise<Outcome>;
};

const POLL_MS = 250;

type Parts = {
  readonly cli: Cli;
  readonly config: Config;
  readonly daemon: DaemonApi;
  readonly stripe: Stripe;
  readonly mor: MorCheck;
  readonly manual: ManualSteps;
  readonly rehearsal: Rehearsal;
  readonly currency: string;
  /** The tax country of the payment link. Null: the rehearsal makes no link. */
  readonly jurisdiction: string | null;
  readonly waitSec: number;
  /** Writes state and report to their files. */
  readonly save: () => void;
};

export type Stage = ReturnType<typeof stageOf>;

export function stageOf(parts: Parts) {
  const { cli, rehearsal, save } = parts;
  /** Makes an idempotency key, the same in each run of this rehearsal. */
  const key = (what: string): string => `rehearse-${rehearsal.id}-${what}`;
  return {
    ...parts,
    key,
    once: (what: string) => ({ idempotencyKey: key(what) }),
    email: `rehearsal-${rehearsal.id}@example.com`,
    say: (text: string): void => say(cli, text),
    /** Stores an id in the rehearsal's file, so a later run finds it. */
    keep(name: string, id: string): void {
      rehearsal.ids[name] = id;
      save();
    },
    /** Returns an id from an earlier step. */
    id(name: string): string {
      const id = rehearsal.ids[name];
      if (id === undefined)
        throw new CliError(EXIT.failed, 'step_missing', `An earlier step must make "${name}" first.`);
      return id;
    },
    observe: (fact: Fact, observed: Observed): void => observe(rehearsal, fact, observed),
    /**
     * Repeats `read` until `holds` accepts its result. Throws NotArrived after `sec` seconds, and Interrupted if the
     * person stops the rehearsal.
     */
    async until<T>(what: string, read: () => Promise<T>, holds: (seen: T) => boolean, sec = parts.waitSec): Promise<T> {
      const end = performance.now() + sec * 1000;
      for (;;) {
        const seen = await read();
        if (holds(seen)) return seen;
        if (cli.io.signal.aborted) throw new Interrupted();
        if (performance.now() > end) throw new NotArrived(`Waited ${sec} s. Not true yet: ${what}.`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
  };
}

export function say(cli: Cli, text: string): void {
  cli.io.err(`${text.split('\n').map(plain).join('\n')}\n`);
}
