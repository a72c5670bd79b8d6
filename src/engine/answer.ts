// What the peers answered to a stored call, by its kind.
import { type LinkFacts, type ProformaMade } from '../domain/ports/mor-channels.js';
import { type BillingAnswer } from '../domain/ports/billing-platform.js';
import { type RefundAnswer } from '../domain/ports/payment-gateway.js';
import { type OutboxKind } from '../domain/model.js';

export type ChannelAnswer =
  | { readonly kind: 'create_proforma'; readonly made: ProformaMade }
  | { readonly kind: 'create_payment_link'; readonly link: LinkFacts };

export type Answer =
  | BillingAnswer
  | ChannelAnswer
  | { readonly kind: 'create_refund'; readonly refund: RefundAnswer }
  | { readonly kind: 'relay_event' }
  | { readonly kind: 'retry_charge' };

/** The answer to a call of this kind. */
export type AnswerTo<K extends OutboxKind> = Extract<Answer, { readonly kind: K }>;
