// A customer link: a customer of the merchant, and the same customer at the MoR.
import { key, rowOf, type RowOf, text, time } from './row.js';

export const CUSTOMER_LINK = rowOf('customer_link', {
  customerId: key(),
  morCustomerId: key(),
  /** The signup behind the link. Null: an import or a person made the link. */
  signupId: text().orNull,
  /** The merchant's own word for the link, such as `batch 1`. Null: none. */
  reference: text().orNull.said(),
  /** Who made the link: `signup`, the name of an API key, or a person at the command line. */
  linkedBy: text().first('signup'),
  linkedAt: time(),
});
export type CustomerLink = RowOf<typeof CUSTOMER_LINK>;
