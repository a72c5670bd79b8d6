// Who won a dispute, and whether an alert was refunded, in the MoR's own words.
import { type JsonObject } from '../../domain/events/json-body.js';
import { named, plain, textNamed } from '../../channels/rules/channel-fields.js';

export type DisputeOutcome = 'won' | 'lost' | 'decided';

/** The words of a code or a phrase, in lower case: those of `LOST_AFTER_REVIEW`, `merchantWon` and "Not refunded". */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z]+/),
  );
}

/**
 * What became of a dispute. `decided`: in words that do not surely say who won, since a loss is booked for good and a win closes the
 * item. `said`: the MoR's own.
 */
export function outcomeIn(data: JsonObject): { readonly outcome: DisputeOutcome; readonly said: string | null } {
  const said = textNamed(data, 'outcome', 'result', 'resolution', 'status');
  const words = wordsOf(said ?? '');
  const has = (...wanted: string[]): boolean => wanted.some((word) => words.has(word));
  const buyer = has('customer', 'cardholder', 'buyer', 'issuer', 'bank');
  const [favour, seller] = [has('favor', 'favour'), has('merchant', 'seller')];
  const wins = has('won') || (favour && (buyer || seller));
  const loses = has('lost', 'lose');
  const dropped = has('withdrawn', 'cancelled', 'canceled') || (has('reversed') && !buyer);
  const won = dropped || (buyer ? loses : wins);
  const lost = has('accepted', 'chargedback') || (has('charged') && has('back')) || (buyer ? wins : loses);
  const sure = won !== lost && !has('not', 'evidence') && !(buyer && seller);
  return { outcome: sure ? (won ? 'won' : 'lost') : 'decided', said };
}

/** Whether an alert's outcome says that the payment was given back; null when it does not say. */
export function refundedIn(data: JsonObject): boolean | null {
  const flag = named(data, ['refunded', 'paymentrefunded', 'isrefunded', 'wasrefunded'], (value) => {
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    return typeof value === 'string' && /^(true|false|yes|no)$/i.test(value)
      ? /^(true|yes)$/i.test(value)
        ? 'yes'
        : 'no'
      : null;
  });
  if (flag !== null) return flag === 'yes';
  const text = textNamed(data, 'outcome', 'result', 'resolution', 'status') ?? '';
  const said = plain(text);
  if (/(not|non|un)refunded|norefund|declined|ignored|rejected/.test(said)) return false;
  if (!said.includes('refund')) return null;
  const words = wordsOf(text);
  return !['not', 'no', 'without', 'failed', 'failure', 'refused'].some((word) => words.has(word));
}
