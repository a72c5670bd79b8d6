// Sentences of items about enrolment and Stripe's own charges.
import { type FactOf, type Words } from '../../shared/domain/fact.js';
import { showIso } from '../../shared/domain/show-time.js';
import { type EnrolmentCode } from './facts.js';

export const enrolmentWords: Words<EnrolmentCode> = {
  'enrolment-unread': (f) => ({
    summary: `since ${showIso(f.since)} Crossbill cannot read from Stripe whether customer ${f.customer ?? ''} is enrolled. So it expects no payment for the invoice, and did not relay it to the MoR`,
    proposal:
      'Run `crossbill doctor`: STRIPE_API_KEY needs the right to read customers. Crossbill reads again automatically.',
  }),
  'stripe-would-charge': (f) => ({
    summary: `Stripe would charge this invoice (${f.methodType ?? 'method'} ${f.method}, ${WHERE[f.from]}), and the MoR charges customer ${f.customer ?? ''} for it too`,
    proposal: `${fixOf(f)} To stop only this charge: \`stripe invoices update ${f.invoice} -d auto_advance=false\`. Check also whether the customer can still pay at Stripe: in the customer portal, on the hosted invoice page, or by a link in an e-mail. Crossbill closes this item once Stripe would no longer charge.`,
  }),
};

type Charge = FactOf<'stripe-would-charge'>;

const WHERE: Readonly<Record<Charge['from'], string>> = {
  invoice: 'set on the invoice itself',
  subscription: "the subscription's default",
  customer: "the customer's default",
};

function fixOf({ from, invoice, subscription }: Charge): string {
  if (from === 'invoice')
    return `Take the method off the invoice: \`stripe invoices update ${invoice} -d default_payment_method=\`.`;
  if (subscription === null)
    return "On Stripe, remove the customer's default method, or make a custom payment method the default.";
  return `Make a custom payment method the default of the subscription: \`stripe subscriptions update ${subscription} -d default_payment_method=<pm_... of type custom>\`.`;
}
