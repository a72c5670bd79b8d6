// What a feature may give to the rest of Crossbill. A feature is one folder with one join file,
// `features/<name>/feature.ts`, and one line in `features.ts`.
import { type DynamicModule, type Type } from '@nestjs/common';
import { type Config } from './shared/config/index.js';
import { type Result } from './engine/commanded.js';
import { type TellStep } from './engine/decider.js';
import { type ErasedParts } from './engine/erasure.js';
import {
  type FeatureNotifications,
  type NewNotification,
  type NotifyAs,
  type Notice,
} from './shared/domain/notification.js';
import { type Ctx } from './engine/context.js';
import { type Lane } from './engine/lane.js';
import { type PaymentEvent, type EventOutcome } from './engine/event.js';
import { type Subject } from './engine/subject.js';
import {
  type MorServiceEvents,
  type MorServiceType,
  type ServiceEvent,
  type ServiceFacts,
} from './shared/domain/events/mor-service-event.js';
import { type LaneRows, type LaneState } from './shared/domain/model.js';
import { type ReviewRow } from './shared/domain/review-row.js';
import { type MorObjectRow } from './shared/domain/mor-object.js';
import { type ConfirmedMethod, type RetryOffer } from './shared/domain/retry.js';
import { type FeatureCalls } from './shared/domain/feature-calls.js';
import { type FactCode, type FeatureKind, type KindAndFact, type Words } from './shared/domain/fact.js';

/** The item about an event whose invoice nobody knows. `dueAt`: the person's deadline. */
export type HomelessItem = KindAndFact & { readonly dueAt?: Date | null };

/** Reads what the event has beyond the common facts; a type with nothing more needs no reader. Throws `Unreadable`. */
type Reader<K extends MorServiceType> = ServiceFacts extends MorServiceEvents[K]
  ? { readonly read?: (facts: ServiceFacts) => MorServiceEvents[K] }
  : { readonly read: (facts: ServiceFacts) => MorServiceEvents[K] };

/** What the feature does with one type of the MoR's service events. */
export type EventRow<K extends MorServiceType> = Reader<K> & {
  /** Records the facts of the event in the lane of its invoice. */
  readonly apply: (lane: Lane, event: ServiceEvent<K>) => EventOutcome;
  /** The item about the event if nobody knows its invoice. Null: the event needs no person. */
  readonly unknown: (event: ServiceEvent<K>) => HomelessItem | null;
  /** True: the invoice may still become known, because our own request for the object may be under way. */
  readonly mayBeUnderWay?: (event: ServiceEvent<K>) => boolean;
  /** What to tell a person about another event with the same id. The MoR builds event ids from object and topic. */
  readonly secondBody?: string;
};

/** A Nest module. With `of`, the settings decide what is in it. */
export type FeatureModule = Type & { readonly of?: (config: Config) => DynamicModule };

/** Makes notifications. */
export type Notify = {
  /** Gives one notification its id and its exact bytes. */
  readonly putDown: (notice: Notice, as: NotifyAs, at: Date) => NewNotification;
  /** Makes the notifications of a step. The lane gets a line in its timeline for each. */
  readonly putDownStep: (before: LaneState, after: LaneState, as: NotifyAs, at: Date) => ReturnType<TellStep>;
};

/** A frame opens a slot of its own here with `declare module`, so this file imports no frame. */
export interface Feature {
  readonly name: string;
  /** The Nest modules: routes, pages, services, timers. Loaded late: `crossbill --help` needs none of them. */
  readonly modules?: () => Promise<readonly FeatureModule[]>;
  /** How the feature joins the lanes of invoices. Its rules run before those of the core, if they are not `late`. */
  readonly lanes?: readonly Subject[];
  /** Its events of the MoR, by type. */
  readonly events?: { readonly [K in MorServiceType]?: EventRow<K> };
  /** What a person reads of its calls, by kind of call: still to do, and done. */
  readonly callWords?: { readonly [K in keyof FeatureCalls]?: { readonly toDo: string; readonly done: string } };
  /** The sentences of its facts. */
  readonly words?: Partial<Words<FactCode>>;
  /** Retries of refused renewals. At most one feature fills this slot. */
  readonly retries?: {
    readonly applyRefusal: (lane: Lane, event: PaymentEvent) => void;
    readonly offer: (lane: LaneRows, ctx: Pick<Ctx, 'now' | 'settings'>) => RetryOffer;
    readonly applyMethod: (lane: Lane, method: ConfirmedMethod) => Result<{ readonly id: string }>;
  };
  /** Makes the notifications to the merchant's backend, those of all features. At most one feature fills this slot. */
  readonly notify?: (features: readonly Feature[]) => Notify;
  /** Its notifications to the merchant's backend, by type. */
  readonly notifications?: { readonly [T in keyof FeatureNotifications]?: FeatureNotifications[T] };
  /** Finds its notifications in a step of a lane: compares the lane before and after. */
  readonly tell?: (before: LaneState, after: LaneState) => readonly Notice[];
  /** What an erasure of a customer must also cover. */
  readonly erased?: Partial<Pick<ErasedParts, 'rows' | 'texts' | 'mentions'>>;
  /** True if this review item asks about this object of the MoR. */
  readonly asksAbout?: (item: ReviewRow, object: MorObjectRow) => boolean;
  /** What is at stake in its own kinds of review items. */
  readonly impacts?: { readonly [K in FeatureKind]?: string };
}

/** Keeps the exact type of the feature, so that a table joined of all features knows what is in it. */
export const feature = <const F extends Feature>(of: F & NoOther<F>): F => of;

/** A slot that no frame opened is a mistake. A generic function alone would accept it. */
type NoOther<F> = { readonly [K in Exclude<keyof F, keyof Feature>]: never };

type Both<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;
type PartOf<F, K extends string> = F extends { readonly [P in K]: infer Part } ? Part : never;

/** The tables of one slot as one table. Without a feature: an empty table. */
export type Joined<F, K extends string> = Both<PartOf<F, K> | object>;

/** Joins the tables of one slot of all features. Throws if two features use the same name: that is a bug. */
export function join<F extends object, K extends string>(features: readonly F[], slot: K): Joined<F, K> {
  const rows = features.flatMap((of) =>
    Object.entries((of as Readonly<Record<string, object | undefined>>)[slot] ?? {}),
  );
  const names = new Set(rows.map(([name]) => name));
  if (names.size !== rows.length) throw new Error(`two features have the same name in "${slot}"`);
  return Object.fromEntries(rows) as Joined<F, K>;
}

/** Loads what the features have in a late slot, in order. */
export async function loadSlot<K extends LateSlot>(features: readonly Feature[], slot: K): Promise<readonly Late<K>[]> {
  const loaders = features.flatMap((of) => (of[slot] ?? []) as (() => Promise<Late<K>>) | readonly never[]);
  return Promise.all(loaders.map((load) => load()));
}

type Late<K extends keyof Feature> = Feature[K] extends (() => Promise<infer Part>) | undefined ? Part : never;
type LateSlot = { [K in keyof Feature]-?: Late<K> extends never ? never : K }[keyof Feature];

/** What the one feature with this slot has in it. Undefined: no feature fills it. */
export const onlySlot = <K extends 'retries' | 'notify'>(
  features: readonly Feature[],
  slot: K,
): Feature[K] | undefined => features.map((of) => of[slot]).find((part) => part !== undefined);

type LaneOf<F> = F extends { readonly lanes: readonly (infer L)[] } ? L : never;

/** The lanes of all features, in order, with their exact types. */
export function lanesOf<F extends Feature>(features: readonly F[]): readonly LaneOf<F>[] {
  return features.flatMap(({ lanes = [] }) => lanes) as LaneOf<F>[];
}
