// Describes the state of a refund in one sentence for people.
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { sayMoney } from '../../shared/domain/money.js';
import { newerCode } from '../../shared/domain/sentence.js';

type Said = { readonly tone: 'good' | 'wait' | 'bad'; readonly text: string };

export function refundSentence(
  refund: Pick<RefundRow, 'status' | 'morStatus' | 'amount' | 'currency' | 'failure' | 'mirror' | 'beyondSale'>,
): Said {
  const what = sayMoney({ minor: refund.amount, currency: refund.currency });
  switch (refund.status) {
    case 'succeeded': {
      const beyond =
        refund.beyondSale === null ? null : sayMoney({ minor: refund.beyondSale, currency: refund.currency });
      const remaining = beyond === null ? '' : `, ${beyond} of it without a credit note`;
      const shown = {
        done: `; Stripe shows it${remaining}.`,
        parked: '; not on Stripe: see the review item.',
        not_needed: `${remaining}.`,
      };
      const onStripe =
        refund.mirror === 'done' || refund.mirror === 'parked' || refund.mirror === 'not_needed'
          ? shown[refund.mirror]
          : '; Stripe does not show it yet.';
      return { tone: refund.mirror === 'parked' ? 'bad' : 'good', text: `Refunded ${what}${onStripe}` };
    }
    case 'joined':
      return { tone: 'good', text: `Refunded ${what}: Crossbill had recorded this refund before.` };
    case 'pending':
      if (refund.morStatus !== null)
        return {
          tone: 'wait',
          text: `The MoR says the refund of ${what} is ${refund.morStatus}. Crossbill does not know this status. The amount stays reserved until the refund's event arrives.`,
        };
      return { tone: 'wait', text: `The MoR is refunding ${what}; for a bank debit this takes some days.` };
    case 'failed': {
      const why = refund.failure === null ? '' : ` (${refund.failure.message})`;
      return {
        tone: 'bad',
        text: `Not refunded: the refund failed${why}. You can refund the amount again.`,
      };
    }
    case 'requested':
    case 'unknown':
      return {
        tone: 'wait',
        text: `Requested: the MoR has not confirmed the refund of ${what} yet. The amount stays reserved: do not refund it a second time.`,
      };
  }
  return { tone: 'wait', text: newerCode('status', refund.status) };
}
