// What a feature may give to the rest of Crossbill. A feature is one folder with one join file,
// `features/<name>/feature.ts`, and one line in `features.ts`.
import { type Type } from '@nestjs/common';

/** A frame opens a slot of its own here with `declare module`, so this file imports no frame. */
export interface Feature {
  readonly name: string;
  /** The Nest modules: routes, pages, flows, timers. Loaded late: `crossbill --help` needs none of them. */
  readonly modules?: () => Promise<readonly Type[]>;
}

/** Keeps the exact type of the feature, so that a table joined of all features knows what is in it. */
export const feature = <const F extends Feature>(of: F & NoOther<F>): F => of;

/** A slot that no frame opened is a mistake. A generic function alone would accept it. */
type NoOther<F> = { readonly [K in Exclude<keyof F, keyof Feature>]: never };
