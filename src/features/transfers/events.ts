// The MoR's events about proforma invoices (Document 2, "Events").
import { Fields, isId, parseMoney, partOf, Unreadable } from '@crossbill/mor/read.js';
import { type ServiceFacts } from '../../shared/domain/events/mor-service-event.js';
import { type Money } from '../../shared/domain/money.js';
import { freeText } from '../../shared/masks/card-numbers.js';

export type ProformaSettled = ServiceFacts & {
  readonly proformaInvoiceId: string;
  readonly settledAt: Date;
  readonly total: Money;
  /** The amount the customer transferred. After a partial payment it differs from the total. */
  readonly amountReceived: Money;
  readonly recipientName: string | null;
};

declare module '../../shared/domain/events/mor-service-event.js' {
  interface MorServiceEvents {
    readonly 'proforma_invoice.issued': ServiceFacts;
    readonly 'proforma_invoice.issuance_failed': ServiceFacts;
    readonly 'proforma_invoice.settled': ProformaSettled;
  }
}

/** Takes the proforma invoice's id from the event's id, where the data has none: Document 2 builds event ids from it. */
export const idAfter =
  (prefix: string) =>
  (facts: ServiceFacts): ServiceFacts => {
    const id = facts.eventId.startsWith(prefix) ? facts.eventId.slice(prefix.length) : null;
    return { ...facts, proformaInvoiceId: facts.proformaInvoiceId ?? (isId(id) ? id : null) };
  };

/**
 * Reads the members Document 2 shows: `proformaInvoiceId`, `status`, `settledAt`, `total`, `amountReceived`,
 * `recipient.legalName`. Throws `Unreadable`.
 */
export function readSettled(facts: ServiceFacts): ProformaSettled {
  const data = new Fields(facts.data);
  data.oneOf('status', ['SETTLED']);
  return {
    ...facts,
    proformaInvoiceId: data.id('proformaInvoiceId'),
    settledAt: data.time('settledAt'),
    total: readMoney(data, 'total'),
    amountReceived: readMoney(data, 'amountReceived'),
    recipientName: freeText(partOf(data.raw('recipient'))['legalName']),
  };
}

/** Reads `{amount, currency}`: a decimal string above zero, exact in the smallest unit of the currency. */
function readMoney(data: Fields, name: string): Money {
  const money = data.must(name, parseMoney);
  if (money.minor < 1n) throw new Unreadable(name, 'an exact amount above zero');
  return money;
}
