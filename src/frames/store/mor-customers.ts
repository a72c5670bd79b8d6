// Finds the MoR's customers of a Stripe customer, for the queries of several stores.
import { type DataSource } from 'typeorm';

/** The SQL condition that the payment in `column` belongs to this customer. */
export function ofCustomer(column: string, customer: string): string {
  return `${column} = any (array(select p.id from payment p where p.customer_id = ${customer}))`;
}

/**
 * The SQL for the time a customer chose a signup's payment method: the reported confirmation. Without a report the
 * browser confirmed the method soon after the signup, and a charge proves it later, after days for a bank debit.
 */
export const CHOSEN_AT = 'coalesce(reported_at, created_at)';

/**
 * The MoR's current customer for each Stripe customer: from the last confirmed signup or imported link. If there is
 * neither, from the newest unconfirmed signup or link.
 */
export async function morCustomers(
  orm: DataSource,
  customerIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(customerIds.filter((id) => id !== null))];
  const found = await orm.query<{ customer_id: string; mor_customer_id: string }[]>(
    `select distinct on (customer_id) customer_id, mor_customer_id
       from (select customer_id, mor_customer_id, confirmed_at is not null as sure, ${CHOSEN_AT} as at, seq from signup
              where customer_id = any($1) and mor_customer_id is not null
             union all
             select customer_id, mor_customer_id, signup_id is null, linked_at, 0 from customer_link where customer_id = any($1)) m
      order by customer_id, sure desc, at desc, seq desc`,
    [known],
  );
  return new Map(found.map((r) => [r.customer_id, r.mor_customer_id]));
}
