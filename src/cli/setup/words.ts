// What `crossbill setup` says.
import { Stripe } from 'stripe';
import { plain } from '../table.js';
import { type Plan, type Step } from './plan.js';

/** What a restricted key needs, by the names of Stripe's page "Create restricted key". */
export const KEY_PERMISSIONS = {
  read: ['Events', 'Invoices', 'Subscriptions', 'Customers', 'Payment Methods', 'Credit Notes', 'Payment Records'],
  write: ['Invoices', 'Payment Records', 'Credit Notes'],
  /** For one run; can be taken away afterwards. */
  write_for_setup: ['Webhook Endpoints'],
} as const;

export function shownStep(step: Step): string {
  switch (step.do) {
    case 'create-stripe-endpoint':
      return `Stripe: make a webhook endpoint for ${step.url} with ${step.events.length} events, API version ${Stripe.API_VERSION}, and write its secret into STRIPE_WEBHOOK_SECRETS`;
    case 'add-stripe-events':
      return `Stripe: let ${step.id} get ${step.missing.join(', ')} as well`;
    case 'create-mor-endpoint':
      return `The MoR: make a webhook endpoint for ${step.url} with ${step.events.length} events, and write its secret into MOR_EVENT_WEBHOOK_SECRETS`;
  }
}

type About = { readonly url: string; readonly file: string; readonly isNew: boolean; readonly dryRun: boolean };

export function shownPlan({ steps, stands, byHand }: Plan, { url, file, isNew, dryRun }: About): string {
  const list = (head: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [head, ...lines.map((l) => `  - ${plain(l)}`), ''];
  const { read, write, write_for_setup: once } = KEY_PERMISSIONS;
  return [
    `Crossbill at ${plain(url)}, settings in ${plain(file)}${isNew ? ' (new)' : ''}.`,
    '',
    ...list('Right already:', stands),
    ...list(dryRun ? 'Would be done:' : 'To be done:', steps.map(shownStep)),
    ...(steps.length === 0 ? ['Stripe and the MoR need no change.', ''] : []),
    ...list('By hand:', byHand),
    'A restricted key of Stripe needs:',
    `  Read   ${read.filter((r) => !write.some((w) => w === r)).join(', ')}`,
    `  Write  ${write.join(', ')}`,
    `  Write  ${once.join(', ')}, for this run only`,
    '',
  ].join('\n');
}
