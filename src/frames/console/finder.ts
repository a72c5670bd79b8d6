// Finds a customer or an invoice as people name it: an e-mail address, a name, a number. Crossbill stores no name.
import { Inject, Injectable } from '@nestjs/common';
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { BillingReader, type CustomerFacts } from '../../shared/domain/ports/billing-reader.js';
import { type CallOutcome, codesOf } from '../../shared/domain/ports/call.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { LOG, type Logger } from '../../shared/observe/index.js';
import { CONSOLE_TIMEOUT_MS } from '../../shared/policy.js';
import { Database } from '../store/database.js';
import { LOOKED_THROUGH } from '../store/walk.js';

export type FoundCustomer = Pick<CustomerFacts, 'customerId' | 'name' | 'email'>;
export type FoundInvoice = Pick<InvoiceRow, 'invoiceId' | 'number' | 'status' | 'currency'> & {
  readonly amountDue: bigint | null;
  readonly at: Date;
};

/** One object, or the reason why the text names none. `choices`: the objects it may mean. */
export type Sought =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly why: string; readonly choices: readonly Choice[] };
export type Choice = { readonly id: string; readonly said: string };

/** The shortest part of a name that Stripe searches (Stripe docs, "Search query language"). */
export const SHORTEST_NAME = 3;
const INVOICES_MOST = 5;

const nobody = (why: string): Sought => ({ ok: false, why, choices: [] });
const UNREAD = "Couldn't read customers from Stripe";
const NO_REPLY = 'Stripe did not reply: try again in a moment, or give the id';

@Injectable()
export class Finder {
  constructor(
    private readonly reader: BillingReader,
    private readonly clock: Clock,
    private readonly db: Database,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Reads one customer from Stripe. `unknown`: Stripe has no such customer. Null: Stripe did not reply in time. */
  async read(customerId: string): Promise<FoundCustomer | 'unknown' | null> {
    const reply = await this.inTime(this.reader.readCustomer(customerId));
    return reply === null ? null : (reply.value ?? 'unknown');
  }

  /** Finds the one customer with this id, e-mail address or name. */
  async customer(text: string): Promise<Sought> {
    if (await this.isKnown(text)) return { ok: true, id: text };
    if (text.startsWith('cus_')) {
      // Without a reply the list still answers for the id.
      return (await this.read(text)) === 'unknown' ? nobody(`Stripe has no customer ${text}`) : { ok: true, id: text };
    }
    const isEmail = text.includes('@');
    if (!isEmail && text.length < SHORTEST_NAME) return nobody(`give at least ${SHORTEST_NAME} letters of a name`);
    const found = await this.customers(text);
    const of = isEmail ? 'this e-mail address' : 'this name';
    if (found === null) return nobody(NO_REPLY);
    return oneOf(
      found.map((c) => ({ id: c.customerId, said: sayCustomer(c) })),
      `Stripe has no customer with ${of}`,
      `${found.length} customers have ${of}: choose one`,
    );
  }

  /** Finds the one invoice with this id or number. A number may lack its prefix: "0012" finds "AB12CD-0012". */
  async invoice(text: string): Promise<Sought> {
    if ((await this.db.pool.query('select from invoice where invoice_id = $1', [text])).rowCount === 1)
      return { ok: true, id: text };
    const found = await this.invoices(text);
    return oneOf(
      found.map((i) => ({ id: i.invoiceId, said: i.number ?? i.invoiceId })),
      `Crossbill knows no invoice with this id or number`,
      `${found.length} invoices end with this number: choose one`,
    );
  }

  /** Finds customers by e-mail address or by a part of their name. Null: Stripe did not reply in time. */
  async customers(text: string): Promise<readonly FoundCustomer[] | null> {
    const by = text.includes('@') ? 'email' : 'name';
    return (await this.inTime(this.reader.findCustomers(by, text)))?.value ?? null;
  }

  /**
   * Finds the invoices with this number, or else those whose number ends with it, after the prefix. No index has the end
   * of a number, so Crossbill looks through the newest invoices alone.
   */
  async invoices(number: string): Promise<readonly FoundInvoice[]> {
    if (!/^[0-9A-Za-z-]{1,26}$/.test(number)) return []; // the characters and the length of Stripe's numbers
    const whole = await this.listInvoices('i.number in ($1, upper($1))', [number], 'invoice');
    if (whole.length > 0) return whole;
    const end = `-0*${number.replace(/^0+(?=.)/, '')}$`;
    const newest = `(select * from invoice order by coalesce(platform_created_at, first_seen_at) desc, seq desc limit ${LOOKED_THROUGH})`;
    return this.listInvoices('i.number ~* $1', [end], newest);
  }

  private async listInvoices(where: string, values: readonly string[], from: string): Promise<readonly FoundInvoice[]> {
    const { rows } = await this.db.pool.query<Omit<FoundInvoice, 'amountDue'> & { readonly amountDue: string | null }>(
      `select i.invoice_id as "invoiceId", i.number, i.status, i.currency, i.amount_due as "amountDue",
              coalesce(i.platform_created_at, i.first_seen_at) as at
         from ${from} i where ${where} order by at desc, i.seq desc limit ${INVOICES_MOST}`,
      [...values],
    );
    return rows.map((r) => ({ ...r, amountDue: r.amountDue === null ? null : BigInt(r.amountDue) }));
  }

  private async isKnown(customerId: string): Promise<boolean> {
    const { rowCount } = await this.db.pool.query(
      `select where exists (select from invoice where customer_id = $1) or exists (select from payment where customer_id = $1)
                 or exists (select from customer_link where customer_id = $1)`,
      [customerId],
    );
    return rowCount === 1;
  }

  private async inTime<T>(asked: Promise<CallOutcome<T>>): Promise<{ readonly value: T } | null> {
    const timeout = new AbortController();
    const late = this.clock.sleep(CONSOLE_TIMEOUT_MS, timeout.signal).then(() => null);
    try {
      const reply = await Promise.race([asked, late]);
      if (reply?.ok === true) return reply;
      const why = reply === null ? 'no answer in time' : codesOf(reply);
      this.log.warn({ event: 'customers.unread', why }, UNREAD);
    } catch (err) {
      this.log.warn({ event: 'customers.unread', err }, UNREAD);
    } finally {
      timeout.abort();
    }
    return null;
  }
}

function oneOf(choices: readonly Choice[], none: string, many: string): Sought {
  const [only] = choices;
  if (only === undefined) return nobody(none);
  return choices.length === 1 ? { ok: true, id: only.id } : { ok: false, why: many, choices };
}

/** A customer as "Ada Lovelace, ada@example.com", or by the id alone. */
export function sayCustomer({ name, email, customerId }: FoundCustomer): string {
  return [name, email].filter((x) => x !== null && x !== '').join(', ') || customerId;
}
