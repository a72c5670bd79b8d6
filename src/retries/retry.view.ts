// The refusals of an invoice and the steps after them, in the API's form.
import { type InvoiceRow } from '../domain/model.js';
import { END_WORDS, REFUSAL_KINDS, RETRY_ENDS, type RetryTrail } from '../domain/retry.js';
import { Amount, Count, Flag, Many, Text, TextOrNull, Time, TimeOrNull, Word, WordOrNull } from '../api/http/docs.js';

const MEANS = ['charge', 'link'] as const;

export class RetryView {
  @Count('Counts from 1 for the invoice.') number!: number;
  @Time() at!: string;
  @Word(REFUSAL_KINDS) after!: string;
  @Word(MEANS) means!: string;
  @TextOrNull('Who asked for it, or reported the payment method; null: nobody, Crossbill did it of its own accord.')
  by!: string | null;
  @TextOrNull('Our id of the confirmed payment method behind it; null: none.')
  payment_method!: string | null;
  @Amount() amount!: number;
  @Text('The id of our event for the MoR, or our id of the payment link.') ref!: string;
  @Flag('Taken back before it was sent; it does not count.') withdrawn!: boolean;
}

export class RetriesView {
  @Word(REFUSAL_KINDS, 'What the last refusal calls for.') decline_kind!: string;
  @TextOrNull("The processor's decline code.") decline_code!: string | null;
  @Time('When we learned of the last refusal.') refused_at!: string;
  @Many(RetryView, 'Oldest first.') made!: RetryView[];
  @TimeOrNull('Crossbill asked the MoR to charge again then, and waits for the verdict.') waiting_since!: string | null;
  @TimeOrNull('The schedule ended then.') ended_at!: string | null;
  @WordOrNull(RETRY_ENDS, 'What the end of the schedule does.')
  end!: string | null;
}

/** Null if the MoR never refused a charge of the invoice. */
export function retriesView(i: Pick<InvoiceRow, 'retries'>): RetriesView | null {
  return i.retries === null ? null : shown(i.retries);
}

function shown({ refusal, retries, waitingSince, ended }: RetryTrail): RetriesView {
  return {
    decline_kind: refusal.kind,
    decline_code: refusal.code,
    refused_at: refusal.heardAt,
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
export function nextTryOf(i: Pick<InvoiceRow, 'retries' | 'nextTryAt' | 'status'>): string | null {
  if (i.retries === null || i.status === 'paid' || i.status === 'void') return null;
  const { waitingSince, ended, refusal } = i.retries;
  const said = `refused last as ${refusal.kind}${refusal.code === null ? '' : ` (${refusal.code})`}`;
  if (waitingSince !== null) return `${said}; the MoR's verdict has been awaited since ${waitingSince}`;
  if (i.nextTryAt !== null) return `${said}; tried again at ${i.nextTryAt.toISOString()}`;
  if (ended === null) return `${said}; Crossbill does not try again for now`;
  return `${said}; the schedule of retries ended at ${ended.at}${ended.why === null ? '' : ` (${ended.why})`}: ${END_WORDS[ended.how]}`;
}
