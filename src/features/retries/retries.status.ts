// What `crossbill status` says of refused renewals: those with nothing planned wait for a person.
import { amountOf } from '../../frames/api/http/values.js';
import { type StatusPart } from '../../frames/cli/slots.js';
import { type Block } from '../../frames/cli/fit.js';
import { amount, time } from '../../frames/cli/table.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { RetriesRepository, type UnplannedInvoice } from './retries.repository.js';

const SHOWN = 10;

export const status: StatusPart = async (app) => {
  const unplanned = await app.get(RetriesRepository).unplanned(SHOWN + 1);
  const shown = unplanned.slice(0, SHOWN).map(refusedView);
  const isMore = unplanned.length > SHOWN;
  return { json: { refusedWithoutPlan: shown, moreRefusedWithoutPlan: isMore }, text: render(shown, isMore) };
};

/** A refused renewal with nothing planned. `amount`: what is left to pay, in smallest units; null: not known. */
function refusedView({ invoiceId, customerId, minor, currency, refusal }: UnplannedInvoice) {
  const why = refusalWords({ ...refusal, declineCode: refusal.code, failureMessage: null });
  return { invoiceId, customerId, amount: amountOf(minor), currency, refusedAt: refusal.at, code: refusal.code, why };
}

function render(shown: readonly ReturnType<typeof refusedView>[], isMore: boolean): readonly Block[] {
  if (shown.length === 0) return [];
  const rows = shown.map((i) => [
    i.invoiceId,
    amount(i.amount === null ? null : BigInt(i.amount), i.currency),
    time(new Date(i.refusedAt)),
    i.why,
    i.customerId ?? 'unknown',
  ]);
  const more = isMore ? 'There are more: `crossbill invoices --status open`.\n' : '';
  const heads = ['invoice', 'amount', 'refused', 'why', 'customer'];
  return [
    '\nRefused renewals with nothing planned\n',
    { heads, rows },
    `${more}\`crossbill retry <invoice>\` tries again.\n`,
  ];
}
