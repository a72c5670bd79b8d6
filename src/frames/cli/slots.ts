// What a feature gives to the command line: its commands, its part of `crossbill status`, its checks of
// `crossbill doctor`. Each is loaded late.
import { type Cli } from './cli.js';
import { type CommandRow, type Task } from './commands.js';
import { type Check } from './doctor/check.js';
import { type Block } from './fit.js';
import { type Peers } from './peers.js';
import { type AppContext } from './app-context.js';

/** The feature's commands, under the operator's task. */
export type CommandRows = { readonly [T in Task]?: readonly CommandRow[] };

export type StatusSaid = {
  /** Members of the JSON. Two parts may fill one object. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The same for a person. Empty: there is nothing to say. */
  readonly text: string | readonly Block[];
  /** A sentence about the whole installation. It stands before everything else. */
  readonly notice?: string;
};

/** Looks at the feature's part of the installation. */
export type StatusPart = (app: AppContext) => Promise<StatusSaid>;

export type Examination = {
  readonly cli: Cli;
  readonly app: AppContext;
  readonly peers: Peers;
  /** Whose subscriptions to read. `none`: a rehearsal minds only its own customer. */
  readonly customers: 'newest' | 'all' | 'none';
};

/** Checks the feature's part of the installation. `json`: further members of doctor's JSON. */
export type FeatureChecks = (
  of: Examination,
) => Promise<{ readonly checks: readonly Check[]; readonly json?: Readonly<Record<string, unknown>> }>;

declare module '../../feature.js' {
  interface Feature {
    readonly commands?: CommandRows;
    readonly status?: () => Promise<StatusPart>;
    readonly checks?: () => Promise<FeatureChecks>;
  }
}
