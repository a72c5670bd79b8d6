// Payment methods in the console: the part of a customer's page with their history, and the page that reports the
// customer's confirmation of a new one.
import { actLink, actRow, confirmForm } from '../../frames/console/acts.js';
import { type Html, html } from '../../frames/console/html.js';
import { type Column, table } from '../../frames/console/list.js';
import { type Session } from '../../frames/console/session.js';
import { count, facts, foreign, headed, id, moneyLink, section, status, time } from '../../frames/console/show.js';
import { mayDo } from '../../frames/api/access/roles.js';
import { type PaymentMethod, type RefusedRenewal } from './payment-methods.repository.js';

/** The data of this part. `refused`: the customer's open renewals refused by the MoR. */
export type MethodsShown = {
  readonly customerId: string;
  readonly methods: readonly PaymentMethod[];
  readonly refused: readonly RefusedRenewal[];
  readonly relay: boolean;
  readonly session: Session;
};

export function methodsPart(methodsShown: MethodsShown): Html {
  const none = 'Each signup and each later setup of this customer appears here.';
  return section(
    'Payment methods',
    html`${confirmAct(methodsShown)}${table('Newest first', METHODS, methodsShown.methods, none)}`,
  );
}

const pathOf = (customerId: string): string => `/console/customers/${encodeURIComponent(customerId)}`;

/**
 * The setup whose confirmation a person can report: the newest one, until somebody reports it. Null: there is none.
 */
export function findToReport({ methods }: Pick<MethodsShown, 'methods'>): PaymentMethod | null {
  const [newest] = methods;
  const isReported = newest?.confirmedAt !== null && newest?.confirmedBy !== 'charge';
  return newest === undefined || newest.id === null || isReported ? null : newest;
}

/** Draws the link to report the customer's confirmation of a new payment method. */
function confirmAct(methodsShown: MethodsShown): Html | null {
  if (findToReport(methodsShown) === null || !mayDo(methodsShown.session.role, 'ops')) return null;
  return html`${actRow([actLink(`${pathOf(methodsShown.customerId)}/payment-method/confirmed`, 'Method confirmed…')])}
    <p class="dim">
      Use this if the customer has confirmed the newest setup, but your backend has not reported it.
      ${sayFollows(methodsShown)}
    </p>`;
}

function sayFollows({ refused: { length }, relay }: MethodsShown): string {
  const how = relay ? 'the MoR charges it once more' : 'it gets a payment link';
  const renewals = length === 1 ? 'the open refused renewal' : `each of the ${count(length)} open refused renewals`;
  return length === 0 ? 'No refused renewal is open.' : `Crossbill then retries ${renewals} at once: ${how}.`;
}

/** The page before the report, because the MoR then charges every open refused renewal. */
export function confirmPart(method: PaymentMethod, methodsShown: MethodsShown): Html {
  const back = pathOf(methodsShown.customerId);
  // Without a setup intent the newest method is a signup's payment intent, and the report needs no name.
  const named = method.setupIntentId === null ? {} : { setup_intent_id: method.setupIntentId };
  return html`<p>Has the customer confirmed this setup? ${sayFollows(methodsShown)}</p>
    ${facts([
      ['Setup', id(method.setupIntentId ?? method.paymentIntentId)],
      ['Made', time(method.createdAt)],
      ...methodsShown.refused.map((r): [string, Html] => [
        'Open renewal',
        moneyLink('invoices', r.invoiceId, r.due, r.currency),
      ]),
    ])}
    ${confirmForm(methodsShown.session, { action: `${back}/payment-method/confirmed`, label: 'Method confirmed', back }, named)}`;
}

const ORIGINS = { signup: 'signup', change: 'another method', import: 'linked elsewhere' } as const;

const METHODS: readonly Column<PaymentMethod>[] = [
  { label: 'Setup', cell: (m) => id(m.setupIntentId ?? m.paymentIntentId), phone: 'none' },
  { label: 'From', cell: (m) => ORIGINS[m.origin], phone: 'lead' },
  { label: 'State', cell: stateOf, phone: 'side' },
  { label: 'Made', cell: (m) => headed('made', time(m.createdAt)) },
  { label: 'Confirmed', cell: (m) => headed('confirmed', time(m.confirmedAt, 'not known')) },
  { label: 'Source', cell: (m) => (m.confirmedBy === 'charge' ? 'a charge' : foreign(m.confirmedBy)), phone: 'none' },
  { label: 'Customer at the MoR', cell: (m) => id(m.morCustomerId), phone: 'none' },
];

function stateOf(method: PaymentMethod): Html {
  return status(method.current ? 'current' : method.confirmedAt === null ? 'unconfirmed' : 'earlier');
}
