// The pages of a refund: the form for amount and reason, the confirmation, and the result.
import { paymentName } from '../../shared/domain/payment-name.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { disputeWarning } from '../mor-objects/dispute-link.view.js';
import { decimalFromMinor, decimalsOf } from '../../shared/domain/money.js';
import { refundSentence } from './refund-sentence.js';
import { type ListedRefund } from '../../engine/read-model.js';
import { actLink, actRow, fold, headline, outsideLink, stripeUrl } from '../../frames/console/acts.js';
import { type Names } from '../../frames/console/fields.js';
import { hiddenFields, requestFields } from '../../frames/console/form-fields.js';
import { type Html, html } from '../../frames/console/html.js';
import { formToken } from '../../frames/console/layout.js';
import { type Session } from '../../frames/console/session.js';
import { choiceField, inputField, type Typed } from '../../frames/console/typed.js';
import {
  amount,
  customerLink,
  facts,
  foreign,
  id,
  invoiceNumberLink,
  moneyLink,
  shownOnStripe,
  status,
  time,
  words,
} from '../../frames/console/show.js';
import { shownStatus } from './refund.view.js';

/**
 * A refund requested by a form. `key` identifies this refund: a second submit of the same form makes no second refund.
 */
export type Asked = { readonly minor: bigint; readonly reason: string; readonly key: string };

/** A payment with its refundable part (`rest`) and the names of customer, invoice and payment (`about`). */
export type Refundable = {
  readonly payment: PaymentRow;
  readonly rest: bigint;
  readonly disputes: readonly MorObjectRow[];
  readonly about: readonly (readonly [string, Html])[];
};

export function aboutPayment(payment: PaymentRow, invoiceNumber: string | null, names: Names): Refundable['about'] {
  const taken = moneyLink('payments', paymentName(payment), payment.amount, payment.currency);
  return [
    ['Customer', customerLink(payment.customerId, names.get(payment.customerId))],
    ['Invoice', invoiceNumberLink(payment.invoiceId, invoiceNumber)],
    ['Payment', html`${taken}, ${time(payment.succeededAt, 'not taken')}`],
  ];
}

/** The field of a confirmation with a warning: the person has seen it. A later dispute is refused without this field. */
export const DESPITE = 'despite_dispute';

/** The refund reasons in Document 3. */
const REASONS = ['requested_by_customer', 'duplicate', 'fraudulent'] as const;

export function amountStep(
  session: Session,
  { payment: p, rest: remaining, disputes, about }: Refundable,
  typed: Typed,
): Html {
  const decimals = decimalsOf(p.currency);
  const name = paymentName(p);
  return html`${disputeWarning(disputes)}${facts([
      ['Taken', amount(p.amount, p.currency)],
      ['Refunded so far', amount(p.amountRefunded, p.currency)],
      ['Can be refunded', amount(remaining, p.currency)],
      ...about,
    ])}
    <form class="card" action="/console/payments/${encodeURIComponent(name)}/refund" method="post">
      ${requestFields(session, typed)}
      ${inputField(
        typed,
        {
          name: 'amount',
          label: `Amount in ${p.currency}`,
          hint: `At most ${decimalFromMinor(remaining, p.currency)} ${p.currency}${decimals > 0 ? ', with a comma or a dot before the decimals' : ''}.`,
        },
        html`required inputmode="decimal" autocomplete="off"
        pattern="${decimals === 0 ? '[0-9]+' : `[0-9]+([.,][0-9]{1,${decimals}})?`}"`,
        decimalFromMinor(remaining, p.currency),
      )}
      ${choiceField(typed, { name: 'reason', label: 'Reason' }, [
        ...REASONS.map((r): [string, string] => [r, words(r)]),
        ['', 'none given'],
      ])}
      <p class="buttons">
        <button>Continue</button>
        <a href="/console/payments/${encodeURIComponent(name)}">Cancel</a>
      </p>
      <p class="hint">This refunds nothing yet: the next page asks you to confirm.</p>
    </form>`;
}

export function confirmStep(
  session: Session,
  { payment: p, rest: remaining, disputes, about }: Refundable,
  { minor, reason, key }: Asked,
): Html {
  const name = paymentName(p);
  const seen: Readonly<Record<string, string>> = disputes.length > 0 ? { [DESPITE]: 'yes' } : {};
  return html`${disputeWarning(disputes)}
    <div class="card">
      <p>
        The MoR will refund <strong>${amount(minor, p.currency)}</strong> to the customer. If this payment paid the
        invoice, Stripe will then show the refund.
      </p>
      ${facts([
        ['Can be refunded now', amount(remaining, p.currency)],
        ['This refund', amount(minor, p.currency)],
        ['Left after this refund', amount(remaining - minor, p.currency)],
        ['Reason', reason === '' ? html`<span class="dim">none given</span>` : foreign(words(reason))],
        ...about,
      ])}
      <form action="/console/payments/${encodeURIComponent(name)}/refunds" method="post">
        ${formToken(session)} ${hiddenFields({ key, amount: decimalFromMinor(minor, p.currency), reason, ...seen })}
        <p class="buttons">
          <button class="danger">
            Refund ${decimalFromMinor(minor, p.currency)} ${p.currency}${disputes.length > 0 && ' despite the dispute'}
          </button>
          <a href="/console/payments/${encodeURIComponent(name)}">Cancel</a>
        </p>
      </form>
    </div>`;
}

/**
 * Shows one refund: its state, its links and its ids.
 * @param who the reader's role, and Stripe's mode (null: unknown)
 */
export function refundPart(
  { refund: r, payment, invoiceNumber }: ListedRefund,
  who: { readonly ops: boolean; readonly live: boolean | null; readonly names: Names },
): Html {
  const said = refundSentence(r);
  const about = html`Invoice ${invoiceNumberLink(r.invoiceId, invoiceNumber)} · customer
  ${customerLink(payment.customerId, who.names.get(payment.customerId))} · payment of
  ${moneyLink('payments', paymentName(payment), payment.amount, payment.currency)} · recorded ${time(r.createdAt)}`;
  return html`<div role="status">
      ${headline(amount(r.amount, r.currency), status(shownStatus(r), 'Refund'), said, about)}
    </div>
    ${refundActs(r, payment, who)}
    ${facts([
      ['Shown on Stripe', shownOnStripe(r.mirror)],
      r.creditNoteId === null ? null : ['Credit note', status('issued')],
      ['Reason', foreign(r.reason === null ? null : words(r.reason))],
      ['Requested', r.origin === 'api' ? 'through Crossbill' : 'elsewhere'],
      ['Recorded', time(r.createdAt)],
      ['Succeeded', time(r.succeededAt, 'no')],
      ['Rest of the payment', amount(remaining(payment), payment.currency)],
    ])}
    ${fold(
      'details',
      'Details and ids',
      null,
      facts([
        ['Refund', id(r.id)],
        ['Refund at the MoR', id(r.morRefundId)],
        ['Refund at the processor', id(r.processorRefundId)],
        ['Credit note on Stripe', id(r.creditNoteId)],
        ['Invoice', id(r.invoiceId)],
        ['Payment', id(paymentName(payment))],
      ]),
    )}`;
}

function refundActs(
  refund: RefundRow,
  payment: PaymentRow,
  { ops, live }: { readonly ops: boolean; readonly live: boolean | null },
): Html | null {
  const again = `/console/payments/${encodeURIComponent(paymentName(payment))}/refund`;
  return actRow([
    ops && refund.status === 'failed' && payment.paymentId !== null ? actLink(again, 'Refund again…') : null,
    outsideLink(stripeUrl(live, 'invoices', refund.invoiceId), 'Open the invoice in Stripe'),
  ]);
}

/** The part of the payment without a refund. Null: the amount is unknown. */
function remaining(payment: PaymentRow): bigint | null {
  return payment.amount === null ? null : payment.amount - payment.amountRefunded;
}
