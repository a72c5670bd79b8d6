// The console's pages to measure, each with its route: test/store/growth.test.ts checks the list is complete.

import { OF_CUSTOMER } from './fill-rows.js';

/** One page, measured on a database filled by `fillBooks`. */
export type PageAsked = {
  readonly what: string;
  /** The console's path below /console. */
  readonly route: string;
  readonly path: string;
  /** The expected status, if not 200. */
  readonly status?: 200 | 303 | 404 | 409;
  /** The daemon caches this page for less than these seconds, so the bench moves the daemon's clock ahead by them. */
  readonly freshSec?: number;
};

const DAY_MS = 86_400_000;

/** Routes of the console without a measurement, each with its reason. */
export const NOT_ASKED: Readonly<Record<string, string>> = {
  '/login': 'the form before login: it reads nothing of the books',
  '/assets/:version/:name': 'a file of the program',
  '/sso': 'leads to the identity provider',
  '/sso/callback': 'comes back from the identity provider',
  '/*path': 'answers for what is no page',
};

/**
 * The pages to measure.
 * @param count the number of a renewal from the middle of the old rows: a multiple of 100, because these have a refund
 */
export function consolePages(count: number): readonly PageAsked[] {
  const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  const [today, month] = [`since=${day(0)}`, `since=${day(400)}&until=${day(370)}`];
  const year = `since=${day(700)}&until=${day(335)}`;
  const customer = `cus_old${Math.floor(count / OF_CUSTOMER)}`;
  const named = day(385).slice(0, 7);
  const page = (what: string, route: string, query = '', more: Partial<PageAsked> = {}): PageAsked => ({
    what,
    route,
    path: `/console${route}${query === '' ? '' : `?${query}`}`,
    ...more,
  });
  const one = (what: string, route: string, id: string): PageAsked => ({
    what,
    route,
    path: `/console${route.replace(':id', id)}`,
  });
  const find = (what: string, sought: string, more: Partial<PageAsked> = {}): PageAsked =>
    page(`search: ${what}`, '/find', `q=${encodeURIComponent(sought)}`, more);
  const [exact, none, settled] = [{ status: 303 }, { status: 404 }, { status: 409 }] as const;
  return [
    page('overview', '', 'currency=EUR', { freshSec: 61 }),
    find('a whole invoice id', `in_old${count}`, exact),
    find('a whole payment id', `pay_old${count}`, exact),
    find('the beginning of every invoice', 'in_old'),
    find('a charge, of a payment and an invoice', `ch_old${count}`),
    find('the beginning of every charge', 'ch_old'),
    find('a whole invoice number', `OLD-${count}`, exact),
    find('the beginning of every invoice number', 'OLD-'),
    find('the number of a proforma invoice', `PF-${count - 50}`, exact),
    find('a refund at the MoR', `rfnd_old${count}`, exact),
    find('a customer of the MoR', `mcus_old${Math.floor(count / OF_CUSTOMER)}`, exact),
    find('an event of Stripe', `evt_old${count}`, exact),
    find('an amount with a point', '29.90'),
    find('an amount with a comma', '29,90'),
    find('an amount that there is not', '12.34', none),
    find('a word that is nowhere', 'zzzz-none', none),
    find('an e-mail address', 'ada@example.com', none),
    page('invoices', '/invoices', ''),
    page('open invoices', '/invoices', 'status=open'),
    page('void invoices, the newest far back', '/invoices', 'status=void'),
    page('paid invoices', '/invoices', 'status=paid'),
    page('invoices of today', '/invoices', today),
    page('invoices of a month', '/invoices', month),
    page('invoices of a year', '/invoices', year),
    page('paid invoices of a month in euros', '/invoices', `status=paid&currency=EUR&${month}`),
    page('invoices of an amount', '/invoices', 'amount=29.90&currency=EUR'),
    page('invoices of a customer', '/invoices', `customer_id=${customer}`),
    page('invoices, CSV', '/invoices', 'format=csv'),
    one('an invoice', '/invoices/:id', `in_old${count}`),
    one('payment link of an invoice', '/invoices/:id/payment-link', `in_old${count}`),
    one('another card asked for an invoice', '/invoices/:id/ask-card', `in_old${count}`),
    { ...one('retry of a paid invoice', '/invoices/:id/retry', `in_old${count}`), ...settled },
    one('proforma of an invoice', '/invoices/:id/proforma', `in_old${count}`),
    page('payments', '/payments', ''),
    page('failed payments', '/payments', 'status=failed'),
    page('payments to be confirmed, the newest far back', '/payments', 'status=requires_action'),
    page('payments of a month', '/payments', month),
    page('payments of a month in euros', '/payments', `currency=EUR&${month}`),
    page('payments of an amount that there is not', '/payments', 'amount=12.34&currency=EUR'),
    page('payments, CSV', '/payments', 'format=csv'),
    one('a payment', '/payments/:id', `pay_old${count}`),
    one('refund of a payment', '/payments/:id/refund', `pay_old${count}`),
    one('returned debit of a payment', '/payments/:id/returned', `pay_old${count}`),
    page('refunds', '/refunds', ''),
    page('failed refunds', '/refunds', 'status=failed'),
    page('refunds of a month', '/refunds', month),
    page('refunds, CSV', '/refunds', 'format=csv'),
    one('a refund', '/refunds/:id', `ref_old${count}`),
    page('customers', '/customers'),
    page('customers of a month', '/customers', month),
    page('customers, CSV', '/customers', 'format=csv'),
    page(
      'customers by their name at the MoR',
      '/customers',
      `mor_customer_id=mcus_old${Math.floor(count / OF_CUSTOMER)}`,
    ),
    one('a customer with all sums', '/customers/:id', customer),
    { ...one('a method that nobody set up', '/customers/:id/payment-method/confirmed', customer), ...settled },
    page('ledger', '/ledger', ''),
    page('ledger of today, money taken', '/ledger', `reason=payment_collected&${today}`),
    page('ledger of a month', '/ledger', month),
    page('ledger of a year, money taken in euros', '/ledger', `reason=payment_collected&currency=EUR&${year}`),
    page('ledger of a rare reason', '/ledger', 'reason=dispute_lost'),
    page('ledger of an invoice', '/ledger', `invoice_id=in_old${count}`),
    page('ledger of a customer', '/ledger', `customer_id=${customer}`),
    page('ledger, CSV', '/ledger', 'format=csv'),
    page('trial balance of a month', '/ledger/trial-balance', `month=${named}`),
    page('trial balance of this month', '/ledger/trial-balance'),
    page('events', '/events'),
    page('parked events', '/events', 'status=parked'),
    page('ignored events', '/events', 'status=ignored'),
    page('events of a rare type', '/events', 'type=payment.failed'),
    page('events of a month', '/events', month),
    one('an event', '/events/:id', `ie_${2 * count}`),
    page('reviews, open ones', '/reviews'),
    page('reviews of any status', '/reviews', 'status='),
    page('settled reviews', '/reviews', 'status=resolved'),
    page('reviews of a month', '/reviews', `status=&${month}`),
    page('reviews of a customer', '/reviews', `status=&customer_id=${customer}`),
    page('settled reviews of a kind, the newest first', '/reviews', 'status=resolved&kind=refund_gap&order=newest'),
    one('a review item', '/reviews/:id', `rev_old${count}`),
    page('disputes', '/disputes'),
    page('disputes of a customer', '/disputes', `customer_id=${customer}`),
    page('disputes of a month', '/disputes', month),
    page('lost disputes', '/disputes', 'status=lost'),
    page('disputes, CSV', '/disputes', 'format=csv'),
    one('a dispute', '/disputes/:id', `obj_dsp_old${count}`),
    { ...one('a dispute that there is not', '/disputes/:id', 'none'), ...none },
    {
      ...one('evidence sent for a dispute without an item', '/disputes/:id/evidence-sent', `obj_dsp_old${count}`),
      ...none,
    },
    page('retries', '/retries'),
    page('retries that are planned', '/retries', 'state=planned'),
    page('retries of a month', '/retries', month),
    page('retries that ended', '/retries', 'state=ended'),
    page('retries, CSV', '/retries', 'format=csv'),
    page('enrolment', '/enrolment'),
    page('enrolment of a customer', '/enrolment', `customer_id=${customer}`),
    page('enrolment of who has no renewal yet', '/enrolment', 'move=no_renewal_yet'),
    page('invoices left alone', '/enrolment/outside'),
    page('invoices left alone of a month', '/enrolment/outside', month),
    page('moves', '/moves'),
    page('deliveries', '/deliveries'),
    page('notifications', '/notifications'),
    page('notifications given up', '/notifications', 'status=dead'),
    page('notifications of a month', '/notifications', month),
    page('notifications, CSV', '/notifications', 'format=csv'),
    one('a notification', '/notifications/:id', `msg_told_old${count}`),
    page('verify', '/verify'),
    page('verify, CSV', '/verify', 'format=csv'),
    { ...one('a difference that there is not', '/verify/:id', 'none'), ...none },
    page('audit', '/audit'),
    page('audit of an actor', '/audit', 'actor=old-key'),
    page('audit of a month', '/audit', month),
    page('audit, CSV', '/audit', 'format=csv'),
    page('audit of an actor and an action', '/audit', 'actor=shop&action=signup.create'),
    page('sessions', '/sessions'),
    page('settings', '/settings'),
  ];
}
