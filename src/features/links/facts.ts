// What payment links add to the facts of review items and to the calls.
import { type CodesIn } from '../../shared/domain/fact.js';
import { type OnObject, type Refused, type Seen } from '../../shared/domain/facts/parts.js';
import { type Money } from '../../shared/domain/money.js';
import { type LinkFacts as LinkMade } from '../../shared/domain/ports/mor-channels.js';

type LinkConflict =
  | ({ readonly code: 'link-paid' } & OnObject)
  /**
   * The MoR has no such payment link. `not-given`: the MoR refused to create the link. `gone`: a read of the link finds
   * nothing.
   */
  | ({ readonly code: 'link-lost'; readonly why: 'not-given' | 'gone'; readonly announced: boolean } & OnObject)
  | ({ readonly code: 'link-not-paid'; readonly status: string } & OnObject)
  | ({
      readonly code: 'link-unread';
      readonly announced: boolean;
      readonly ended: boolean;
      /** HTTP status and code of the last read. */
      readonly answer: string;
    } & OnObject)
  | ({
      readonly code: 'link-part-paid';
      readonly priced: Money;
      readonly outstanding: Money;
      readonly part: Money;
    } & OnObject)
  | {
      readonly code: 'further-announced';
      readonly further: readonly { readonly payment: string | null; readonly charge: string | null }[];
      readonly observations: readonly Seen[];
    };

type LinkFacts = {
  readonly conflicting_event: LinkConflict;
  readonly double_payment: {
    readonly code: 'further-on-link';
    readonly payment: string;
    readonly taken: Money;
    readonly observations: readonly Seen[];
  };
  readonly effect_failed: { readonly code: 'recovery-refused' } & Refused;
};

export type LinkCode = CodesIn<LinkFacts>;

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly links: LinkFacts;
  }
}

declare module '../../shared/domain/feature-calls.js' {
  interface FeatureCalls {
    readonly create_payment_link: { readonly link: LinkMade };
  }
}
