// A subscription's move in the form of the API and the command line.
import { Example, OpenOrNull, Text, TextOrNull, Time, TimeOrNull, Word } from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { type MoveEntity } from './move.entity.js';
import { MOVE_STATUSES, renderMoveFact } from './move.rules.js';

export class MoveView {
  @Example('sub_123') @Text("Stripe's `sub_…`.") subscription_id!: string;
  @Example('cus_123') @Text("The merchant's own id.") customer_id!: string;
  @Word(
    MOVE_STATUSES,
    '`moving`, `returning`: a run works on it, or the next run will continue; `returned`: Stripe charges it again.',
  )
  status!: string;
  @OpenOrNull('The reason for the status: a stable `code` and its fields; null: no reason.') fact!: object | null;
  @TextOrNull('The fact in words.') reason!: string | null;
  @Word(
    ['custom_method', 'send_invoice'],
    '`custom_method`: a custom payment method is its default. `send_invoice`: Stripe mails its invoices and charges nothing.',
  )
  way!: string;
  @TextOrNull('The payment method of the subscription before the move; `--back` restores it.')
  before_payment_method!: string | null;
  @TextOrNull('The collection method before the move.') before_collection_method!: string | null;
  @TimeOrNull('The next renewal, as Stripe showed it last.') renews_at!: string | null;
  @TimeOrNull('When Stripe stopped charging it.') moved_at!: string | null;
  @Text('Who ran the command last.') changed_by!: string;
  @Time() created_at!: string;
  @Time() updated_at!: string;
}

export function moveView(move: MoveEntity): MoveView {
  return {
    subscription_id: move.subscriptionId,
    customer_id: move.customerId,
    status: move.status,
    fact: move.fact,
    reason: move.fact === null ? null : renderMoveFact(move.fact),
    way: move.way,
    before_payment_method: move.before?.methodId ?? null,
    before_collection_method: move.before?.collectionMethod ?? null,
    renews_at: timeOf(move.renewsAt),
    moved_at: timeOf(move.movedAt),
    changed_by: move.changedBy,
    created_at: timeOf(move.createdAt),
    updated_at: timeOf(move.updatedAt),
  };
}
