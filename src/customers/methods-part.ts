// The part of a customer's page about payment methods: their history, and a button to report the customer's
// confirmation of a new one.
import { actForm, actRow } from '../console/acts.js';
import { type Html, html } from '../console/html.js';
import { type Column, table } from '../console/list.js';
import { type Session } from '../console/session.js';
import { count, foreign, headed, id, section, status, time } from '../console/show.js';
import { mayDo } from '../api/access/caller.js';
import { type PaymentMethod } from './payment-methods.store.js';

/** The data of this part. `refused`: the number of the customer's open renewals refused by the MoR. */
export type MethodsShown = {
  readonly customerId: string;
  readonly methods: readonly PaymentMethod[];
  readonly refused: number;
  readonly relay: boolean;
  readonly shadow: boolean;
  readonly session: Session;
};

export function methodsPart(m: MethodsShown): Html {
  const none = 'Each signup and each later setup of this customer appears here.';
  return section('Payment methods', html`${confirmAct(m)}${table('Newest first', METHODS, m.methods, none)}`);
}

/**
 * Draws the button to report the customer's confirmation of the newest payment method on this page. Only the first
 * report has an effect.
 */
function confirmAct({ customerId, methods, refused, relay, shadow, session }: MethodsShown): Html | null {
  const [newest] = methods;
  const isReported = newest?.confirmedAt !== null && newest?.confirmedBy !== 'charge';
  if (newest === undefined || newest.id === null || isReported || shadow || !mayDo(session.role, 'ops')) return null;
  const path = `/console/customers/${encodeURIComponent(customerId)}/payment-method/confirmed`;
  const how = relay ? 'the MoR charges it once more' : 'it gets a payment link';
  const renewals = refused === 1 ? 'the open refused renewal' : `each of the ${count(refused)} open refused renewals`;
  const follows = refused === 0 ? 'No refused renewal is open.' : `Crossbill then retries ${renewals} at once: ${how}.`;
  // Without a setup intent the newest method is a signup's payment intent, and the report needs no name.
  const shown = newest.setupIntentId === null ? {} : { setup_intent_id: newest.setupIntentId };
  return html`${actRow([actForm(session, path, 'Method confirmed', shown)])}
    <p class="dim">
      Use this if the customer has confirmed the newest setup, but your backend has not reported it. ${follows}
    </p>`;
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

function stateOf(m: PaymentMethod): Html {
  return status(m.current ? 'current' : m.confirmedAt === null ? 'unconfirmed' : 'earlier');
}
