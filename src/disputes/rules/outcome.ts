// Who won a dispute, and whether an alert was refunded, in the MoR's own words. Document 2 shows none of them.
import { type JsonObject } from '../../domain/events/json-body.js';
import { named, wordNamed } from '../../domain/events/payload-fields.js';

export type DisputeOutcome = 'won' | 'lost' | 'decided';

/** Words that say nothing by themselves. */
const FILLERS: ReadonlySet<string> = new Set(['', 'the', 'a', 'is', 'was', 'has', 'been']);

/**
 * The words of a code or a phrase, in lower case: those of `LOST_AFTER_REVIEW`, `merchantWon` and "Not refunded". What else stands in
 * the text (a question mark, an apostrophe, letters of another script) stays part of a word, which is then not known.
 */
function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_.,:;-]+/)
    .filter((word) => !FILLERS.has(word));
}

const BUYER = '(?:customer|cardholder|buyer|issuer|bank)';
const SELLER = '(?:merchant|seller)';
const favour = (whose: string): string => `(?:in )?favou?r(?: of)? ${whose}`;

/** One of these is the whole phrase, but for where it stands in the case ("dispute closed: …", "… after review"). */
function phrases(...those: string[]): RegExp {
  return new RegExp(
    `^(?:(?:dispute|chargeback|case) )?(?:(?:decided|resolved|closed) )?(?:${those.join('|')})(?: after review)?$`,
  );
}

const WON = phrases(`(?:(?:${SELLER}|you) )?won`, `won by ${SELLER}`, `${BUYER} lost`, favour(SELLER));
const LOST = phrases(
  `(?:(?:${SELLER}|you) )?(?:lost|lose)`,
  `lost by ${SELLER}`,
  `${BUYER} won`,
  `won by ${BUYER}`,
  favour(BUYER),
  'charged ?back',
);
/** A payment, funds or a defence may be reversed or withdrawn as well, to the other end. */
const DROPPED = /^(?:dispute|chargeback) (?:reversed|withdrawn|cancell?ed)$/;
/** By the merchant, when nothing else is said: a representment or evidence that was accepted is no loss. */
const CONCEDED = 'accepted';

/**
 * What became of a dispute. `decided`: anything but a whole phrase that surely says who won. A loss is booked for good and a win closes
 * the item, so a wrong guess costs more than a question to a person. `said`: the MoR's own.
 */
export function outcomeIn(data: JsonObject): { readonly outcome: DisputeOutcome; readonly said: string | null } {
  const said = wordNamed(data, 'outcome', 'result', 'resolution', 'status');
  const phrase = wordsOf(said ?? '').join(' ');
  if (WON.test(phrase) || DROPPED.test(phrase)) return { outcome: 'won', said };
  return { outcome: LOST.test(phrase) || phrase === CONCEDED ? 'lost' : 'decided', said };
}

/** What an outcome of an alert may say beside these, so that it is understood. */
const OF_REFUNDS: ReadonlySet<string> = new Set([
  ...['refund', 'refunded', 'refundable', 'payment', 'alert', 'customer', 'full', 'fully', 'partial', 'partially'],
  ...['issued', 'made', 'handled', 'and', 'notified', 'further', 'to'],
]);
const NO_REFUND: ReadonlySet<string> = new Set([
  ...['not', 'no', 'non', 'without', 'unable', 'unrefunded', 'failed', 'failure', 'cancelled', 'canceled'],
  ...['refused', 'denied', 'declined', 'rejected', 'ignored'],
]);
const DECLINED: ReadonlySet<string> = new Set(['declined', 'rejected', 'ignored']);

/** Whether an alert's outcome says that the payment was given back; null when it does not say, or has a word that is not known. */
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
  const words = wordsOf(wordNamed(data, 'outcome', 'result', 'resolution', 'status') ?? '');
  const speaks = words.some((word) => word.includes('refund') || DECLINED.has(word));
  if (!speaks || !words.every((word) => OF_REFUNDS.has(word) || NO_REFUND.has(word))) return null;
  return !words.some((word) => NO_REFUND.has(word));
}
