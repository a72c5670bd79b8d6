// Loads a customer with links, signups and invoices.
import { Injectable } from '@nestjs/common';
import { Database } from '../../frames/store/database.js';
import { CustomerLinkEntity, InvoiceEntity, SignupEntity } from '../../frames/store/entities.js';
import { morCustomers } from '../../frames/store/mor-customers.js';
import { INVOICE_AT, newestFirst } from '../../frames/store/newest-first.js';
import { type SignupRow } from '../../shared/domain/signup.js';

export type CustomerView = {
  readonly customerId: string;
  /** The customer's id at the MoR. Null: no link. */
  readonly morCustomerId: string | null;
  readonly morCustomerIds: readonly string[];
  readonly signups: readonly SignupRow[];
  readonly invoiceIds: readonly string[];
};

const OF_CUSTOMER_AT_MOST = 100;

@Injectable()
export class CustomersRepository {
  constructor(private readonly db: Database) {}

  /** Loads a customer. Null if no row of the database names this customer. */
  async find(customerId: string): Promise<CustomerView | null> {
    const { orm } = this.db;
    const first = { limit: OF_CUSTOMER_AT_MOST, cursor: null };
    const indexes = [['customerId']];
    const [links, { data: signups }, { data: invoices }] = await Promise.all([
      orm.getRepository(CustomerLinkEntity).find({ where: { customerId }, order: { linkedAt: 'DESC' } }),
      newestFirst(orm.getRepository(SignupEntity), 'seq', { customerId }, { page: first, indexes }),
      newestFirst(orm.getRepository(InvoiceEntity), 'seq', { customerId }, { page: first, indexes, at: INVOICE_AT }),
    ]);
    if (links.length === 0 && signups.length === 0 && invoices.length === 0) return null;
    const morCustomerIds = [...new Set(links.map((l) => l.morCustomerId))];
    return {
      customerId,
      morCustomerId: (await morCustomers(orm, [customerId])).get(customerId) ?? null,
      morCustomerIds,
      signups: signups.filter((s) => s.kind !== 'method'),
      invoiceIds: invoices.map((i) => i.invoiceId),
    };
  }
}
