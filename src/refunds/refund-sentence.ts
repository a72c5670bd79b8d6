// Describes the state of a refund in one sentence for people.
import { type RefundRow } from '../domain/model.js';
import { sayMoney } from '../domain/money.js';

type Said = { readonly tone: 'good' | 'wait' | 'bad'; readonly text: string };

export function refundAnswer(
  r: Pick<RefundRow, 'status' | 'morStatus' | 'amount' | 'currency' | 'failure' | 'mirror'>,
): Said {
  const what = sayMoney({ minor: r.amount, currency: r.currency });
  switch (r.status) {
    case 'succeeded': {
      const shown = { done: '; Stripe shows it.', parked: '; a person must say how Stripe shows it.', not_needed: '.' };
      const onStripe =
        r.mirror === 'done' || r.mirror === 'parked' || r.mirror === 'not_needed'
          ? shown[r.mirror]
          : '; Stripe is being told.';
      return { tone: r.mirror === 'parked' ? 'bad' : 'good', text: `Refunded ${what}${onStripe}` };
    }
    case 'joined':
      return { tone: 'good', text: `Refunded ${what}: it is a refund that was known already.` };
    case 'pending':
      if (r.morStatus !== null)
        return {
          tone: 'wait',
          text: `The MoR has the refund of ${what} as ${r.morStatus}, a status that Crossbill does not know. The amount stays reserved until its event comes.`,
        };
      return { tone: 'wait', text: `The MoR is refunding ${what}; with a bank debit that takes some days.` };
    case 'failed': {
      const why = r.failure === null ? '' : ` (${r.failure.message})`;
      return {
        tone: 'bad',
        text: `Not refunded: the MoR refused or failed it${why}. The amount can be refunded again.`,
      };
    }
    case 'requested':
    case 'unknown':
      return {
        tone: 'wait',
        text: `Asked for: the MoR has not answered yet about ${what}. The same request is sent until it does; no second refund is needed.`,
      };
  }
}
