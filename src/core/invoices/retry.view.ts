// The refusals of an invoice and the steps after them, in the API's form.
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { showIso, showTime } from '../../shared/domain/show-time.js';
import { END_WORDS, REFUSAL_KINDS, RETRY_ENDS, type RetryHistory } from '../../shared/domain/retry.js';
import {
  Amount,
  Count,
  Flag,
  Many,
  Text,
  TextOrNull,
  Time,
  TimeOrNull,
  Word,
  WordOrNull,
} from '../../frames/api/http/docs.js';

const MEANS = ['charge', 'link'] as const;

export class RetryView {
  @Count('Counts from 1 for the invoice.') number!: number;
  @Time() at!: string;
  @Word(REFUSAL_KINDS) after!: string;
  @Word(MEANS) means!: string;
  @TextOrNull('Who asked for it, or reported the payment method; null: nobody, Crossbill made it automatically.')
  by!: string | null;
  @TextOrNull('Our id of the confirmed payment method behind it; null: none.')
  payment_method!: string | null;
  @Amount() amount!: number;
  @Text('The id of our event for the MoR, or our id of the payment link.') ref!: string;
  @Flag('Crossbill withdrew it before sending it; it does not count.') withdrawn!: boolean;
}

export class RetriesView {
  @Word(REFUSAL_KINDS, 'The kind of the last refusal.') decline_kind!: string;
  @TextOrNull("The processor's decline code.") decline_code!: string | null;
  @Time('When the MoR last refused the charge.') refused_at!: string;
  @Many(RetryView, 'Oldest first.') made!: RetryView[];
  @TimeOrNull('Since when Crossbill waits for the verdict on its last charge.') waiting_since!: string | null;
  @TimeOrNull('When the schedule ended.') ended_at!: string | null;
  @WordOrNull(RETRY_ENDS, 'What the end of the schedule does.')
  end!: string | null;
}

/** Null if the MoR never refused a charge of the invoice. */
export function retriesView(invoice: Pick<InvoiceRow, 'retries'>): RetriesView | null {
  return invoice.retries === null ? null : shown(invoice.retries);
}

function shown({ refusal, retries, waitingSince, ended }: RetryHistory): RetriesView {
  return {
    decline_kind: refusal.kind,
    decline_code: refusal.code,
    refused_at: refusal.at,
    made: retries.map(({ number, at, kind, means, by, minor, ref, method, withdrawn }) => ({
      number,
      at,
      after: kind,
      means,
      by,
      payment_method: method,
      amount: Number(minor),
      ref,
      withdrawn,
    })),
    waiting_since: waitingSince,
    ended_at: ended?.at ?? null,
    end: ended?.how ?? null,
  };
}

/** The next step in one sentence. Null if there is none. */
export function nextTryOf(invoice: Pick<InvoiceRow, 'retries' | 'nextTryAt' | 'status'>): string | null {
  if (invoice.retries === null || invoice.status === 'paid' || invoice.status === 'void') return null;
  const { waitingSince, ended, refusal } = invoice.retries;
  const said = `the last refusal was ${refusal.kind}${refusal.code === null ? '' : ` (${refusal.code})`}`;
  if (waitingSince !== null)
    return `${said}; Crossbill has waited for the MoR's verdict since ${showIso(waitingSince)}`;
  if (invoice.nextTryAt !== null) return `${said}; next try at ${showTime(invoice.nextTryAt)}`;
  if (ended === null) return `${said}; Crossbill does not try again for now`;
  return `${said}; the schedule of retries ended at ${showIso(ended.at)}${ended.why === null ? '' : ` (${ended.why})`}: ${END_WORDS[ended.how]}`;
}
