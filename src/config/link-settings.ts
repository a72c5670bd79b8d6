// The settings of payment links that are made by themselves.
import { httpUrl, integer, matching } from './parsers.js';
import { optional, withDefault } from './setting.js';

export const recoveryLinks = {
  recoveryLinkJurisdiction: optional(
    {
      name: 'RECOVERY_LINK_JURISDICTION',
      type: 'country code (ISO 3166-1 alpha-2)',
      example: 'GB',
      description:
        'With RECOVERY_LINK_RETURN_URL: a renewal that failed, or that needs authentication, gets a payment link by itself: at once, or when RETRY_SCHEDULE says so. A link is asked for in the country of the customer, as Stripe has it on the invoice; this one is used where that is not known, or where the MoR does not collect. Left out, links are made on request only.',
    },
    matching(/^[A-Z]{2}$/, 'a country code of two capital letters'),
  ),
  recoveryLinkReturnUrl: optional(
    {
      name: 'RECOVERY_LINK_RETURN_URL',
      type: 'http or https URL',
      example: 'https://shop.example/thanks',
      description: 'Where the customer goes after paying such a link. It proves no payment.',
    },
    httpUrl('endpoint'),
  ),
  recoveryLinkExpiresSec: withDefault(
    {
      name: 'RECOVERY_LINK_EXPIRES_SEC',
      type: 'seconds, 60 to 31536000',
      description: 'How long such a link can be paid. The default is a week.',
    },
    '604800',
    integer(60, 31_536_000),
  ),
};
