// A customer and the MoR's own customer.
import { key, rowOf, type RowOf, text, time } from './row.js';

export const CUSTOMER_LINK = rowOf('customer_link', {
  customerId: key(),
  morCustomerId: key(),
  /** Null: the link comes from elsewhere. */
  signupId: text().orNull,
  /** The merchant's own word for it; null: none. */
  reference: text().orNull.personal(),
  /** `signup`, an API key's name, or a person at the command line. */
  linkedBy: text().first('signup'),
  linkedAt: time(),
});
export type CustomerLink = RowOf<typeof CUSTOMER_LINK>;
