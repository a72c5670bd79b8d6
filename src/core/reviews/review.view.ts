// A review item in the API's form: story, stake, proposal, choices.
import { REVIEW_KINDS } from './rules/impact.js';
import { factView } from './fact.view.js';
import { proposalOf, proposedOf, resolutionsOf } from './rules/choices.js';
import { sentencesOf } from './rules/words.js';
import { RESOLUTIONS, type ReviewRow } from '../../shared/domain/review-row.js';
import {
  Example,
  Open,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeOrNull,
  Word,
  WordOrNull,
  Words,
} from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';

export const REVIEW_STATUSES = ['open', 'resolved'] as const;

export class ReviewView {
  @Example('rev_123') @Text() id!: string;
  @Word(REVIEW_KINDS) kind!: string;
  @Word(REVIEW_STATUSES) status!: string;
  @TextIfAny() invoice_id?: string | undefined;
  @TextIfAny() payment_id?: string | undefined;
  @TextIfAny() refund_id?: string | undefined;
  @Open(
    'Why the item is open: `code` is stable, and the other fields depend on it. If several sources report money, `observations` lists each report.',
  )
  fact!: { readonly code: string; readonly [field: string]: unknown };
  @Words(RESOLUTIONS, 'The choices now; empty: a resolved item has none.')
  actions!: readonly string[];
  @WordOrNull(RESOLUTIONS, 'The proposed action; null: a person must find something out first.')
  proposed!: string | null;
  @Example('the MoR took 29.90 EUR, but the invoice is in USD')
  @Text('What happened, made from the fact.')
  summary!: string;
  @Example('Refund 29.90 EUR.') @Text('What to do, made from the fact.') proposal!: string;
  @TimeOrNull('Until when somebody must act, for example on a dispute; null: no deadline.') due_at!: string | null;
  @Time() created_at!: string;
  @TimeOrNull() resolved_at!: string | null;
  @TextOrNull('The name of the person or API key; `crossbill`: the cause went away.') resolved_by!: string | null;
  @TextOrNull('`cleared` when the cause went away.') resolution!: string | null;
  @TextOrNull() note!: string | null;
}

/**
 * True if Crossbill knows the MoR's id of the item's payment.
 * @param name the payment's public id; null: the item has no payment
 */
export function isNamed(item: ReviewRow, name: string | null): boolean {
  return item.paymentRowId !== null && name !== null && name !== item.paymentRowId;
}

/**
 * An item for the API.
 * @param names public payment ids, by our row ids
 */
export function reviewView(item: ReviewRow, names: ReadonlyMap<string, string>): ReviewView {
  const { paymentRowId } = item;
  const named = isNamed(item, names.get(paymentRowId ?? '') ?? null);
  return {
    id: item.id,
    kind: item.kind,
    status: item.status,
    invoice_id: item.invoiceId ?? undefined,
    payment_id: paymentRowId === null ? undefined : (names.get(paymentRowId) ?? paymentRowId),
    refund_id: item.refundId ?? undefined,
    fact: factView(item.fact),
    actions: item.status === 'open' ? resolutionsOf(item, named) : [],
    proposed: item.status === 'open' ? proposedOf(item, named) : null,
    summary: sentencesOf(item).summary,
    proposal: proposalOf(item, named),
    due_at: timeOf(item.dueAt),
    created_at: timeOf(item.createdAt),
    resolved_at: timeOf(item.resolvedAt),
    resolved_by: item.resolvedBy,
    resolution: item.resolution,
    note: item.note,
  };
}
