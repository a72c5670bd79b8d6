// The console's trial balance: a month on one page, ready for print.
import { Get, Inject, Optional, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { invalid } from '../../frames/api/http/problem.js';
import { Page } from '../../frames/console/console.guard.js';
import { type Html, html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { type Column, queryText, table } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { plainAmount, sendText, wantsCsv } from '../../frames/console/selection.js';
import { mistakeNote } from '../../frames/console/typed.js';
import { amount, capital, headed, section, time, words, month as monthName } from '../../frames/console/show.js';
import { Differences, NOTHING_COMPARED } from '../../shared/domain/ports/differences.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import {
  type LedgerSum,
  type AccountLine,
  moneyOf,
  openEnds,
  type TrialBalance,
  trialBalances,
} from '../../core/ledger/rules/trial-balance.js';
import { LedgerSumsRepository } from '../../core/ledger/sums.repository.js';
import { decideMonth, type MonthAgreement, sayAgreement } from '../../core/ledger/rules/month-agreement.js';
import { type Month, monthBeside, monthOf, nameOf } from '../../core/ledger/rules/month.js';

const PATH = '/console/ledger/trial-balance';

@Pages('console/ledger')
export class TrialBalancePages {
  constructor(
    private readonly sums: LedgerSumsRepository,
    private readonly clock: Clock,
    @Optional() @Inject(Differences) private readonly differences: Differences = NOTHING_COMPARED,
  ) {}

  @Get('trial-balance')
  @Page('ledger.trial_balance')
  async month(@Req() req: Request, @Res() res: Response): Promise<void> {
    const asked = queryText(req, 'month');
    const month = monthOf(asked === '' ? this.clock.now().toISOString().slice(0, 7) : asked);
    if (month === null) {
      if (wantsCsv(req)) throw invalid('month', NO_MONTH);
      const form = monthForm(asked, null);
      return sendPage(req, res, { title: 'Trial balance', section: 'ledger/trial-balance', body: form }, 400);
    }
    const balances = trialBalances(await this.sums.between(month));
    if (wantsCsv(req)) return sendTrialCsv(res, month, balances);
    const body = html`${monthForm(nameOf(month), month)}
      <p class="dim">
        An entry belongs to the month in which the MoR moved the money, in UTC. Debits are positive, credits negative.
      </p>
      ${balances.length === 0 && html`<div class="empty">No money had moved by the end of this month.</div>`}
      ${verdictPart(decideMonth(month, balances, await this.differences.ofMonth(month)))} ${moneyPart(month, balances)}
      ${balances.map((b) => balancePart(month, b))}`;
    sendPage(req, res, { title: `Trial balance of ${monthName(month.since)}`, section: 'ledger/trial-balance', body });
  }
}

const NO_MONTH = 'must be a month such as 2026-11';

/** The list of the month's entries. */
const ledgerOf = (month: Month): string => `/console/ledger?month=${nameOf(month)}`;

/** A sum as a link to its entries. */
const entriesOf = (month: Month, currency: string, reason: string, sum: Html): Html =>
  html`<a href="${ledgerOf(month)}&amp;currency=${currency}&amp;reason=${reason}">${sum}</a>`;

/** A sum as a link to the currency's part of the page (`section`). */
const partLink = (currency: string, sum: Html): Html => html`<a href="#${currency.toLowerCase()}">${sum}</a>`;

/** `month` null: the typed month is none. */
function monthForm(typed: string, month: Month | null): Html {
  const link = (to: Month): string => `${PATH}?month=${nameOf(to)}`;
  return html`<form class="filters" action="${PATH}" method="get">
    <p>
      <label for="month">Month</label>
      <input
        id="month"
        name="month"
        type="${month === null ? 'text' : 'month'}"
        value="${typed}"
        required
        ${month === null && html`aria-invalid="true" aria-describedby="month-mistake" autofocus`}
      />
      ${mistakeNote('month-mistake', month === null && `${capital(NO_MONTH)}.`)}
    </p>
    <p class="buttons">
      <button>Show</button>
      ${
        month !== null &&
        html`<a href="${link(month)}&amp;format=csv" download>CSV</a>
          <a href="${ledgerOf(month)}">The month's ledger</a>
          <a href="${ledgerOf(month)}&amp;format=csv" download>Export the ledger</a>
          <a href="${link(monthBeside(month, -1))}" rel="prev">The month before</a>
          <a href="${link(monthBeside(month, 1))}" rel="next">The month after</a>`
      }
    </p>
  </form>`;
}

const TONES: Readonly<Record<MonthAgreement['state'], string>> = {
  agrees: 'good',
  differs: 'bad',
  unfinished: 'warn',
  not_compared: 'warn',
};

function verdictPart(agreement: MonthAgreement): Html {
  const compared =
    agreement.comparedAt === null ? html`no complete run yet` : html`last compared ${time(agreement.comparedAt)}`;
  return html`<p class="message ${TONES[agreement.state]}" role="status">
    <strong>${sayAgreement(agreement)}</strong> <a href="/console/verify">Verify</a>: ${compared}.
  </p>`;
}

/** The month in short: taken, refunded, lost to banks, and kept. */
function moneyPart(month: Month, balances: readonly TrialBalance[]): Html | null {
  const rows = balances
    .map((b) => ({ currency: b.currency, ...moneyOf(b) }))
    .filter((r) => r.taken !== 0n || r.refunded !== 0n || r.lost !== 0n);
  if (rows.length === 0) return null;
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { label: 'Currency', cell: (r) => r.currency, phone: 'lead' },
    {
      label: 'Taken',
      cell: (r) => headed('taken', entriesOf(month, r.currency, 'payment_collected', amount(r.taken, r.currency))),
      number: true,
    },
    {
      label: 'Refunded',
      cell: (r) => headed('refunded', entriesOf(month, r.currency, 'refund_paid', amount(r.refunded, r.currency))),
      number: true,
    },
    {
      label: 'Lost to banks',
      // the sum of several reasons: each of them leads to its entries
      cell: (r) => headed('lost to banks', partLink(r.currency, amount(r.lost, r.currency))),
      number: true,
    },
    {
      label: 'Kept',
      cell: (r) => headed('kept', partLink(r.currency, amount(r.kept, r.currency))),
      number: true,
      phone: 'side',
    },
  ];
  return section('Money of the month', table('What the MoR took and gave back', columns, rows, ''));
}

/** Sends one line for each account and currency, in the page's order. The page leaves out accounts without money. */
function sendTrialCsv(res: Response, month: Month, balances: readonly TrialBalance[]): void {
  const lines = balances.flatMap((b) =>
    [...b.accounts.map((l) => ({ ...l, name: l.account })), { ...b.total, name: 'total' }].map((l) => [
      nameOf(month),
      b.currency,
      l.name,
      ...[l.opening, l.debit, l.credit, l.closing].map((minor) => plainAmount(minor, b.currency)),
    ]),
  );
  const heads = ['month', 'currency', 'account', 'opening', 'debit', 'credit', 'closing'];
  sendText(res, `trial-balance-${nameOf(month)}`, [heads, ...lines]);
}

const TOTAL = 'Total';
type Line = Omit<AccountLine, 'account' | 'clearing'> & { readonly name: string };

function balancePart(month: Month, balance: TrialBalance): Html {
  const { currency } = balance;
  const money =
    (name: string, of: (line: Line) => bigint): Column<Line>['cell'] =>
    (l) =>
      html`<span class="on-phone">${name} </span>${amount(of(l), currency)}`;
  const columns: readonly Column<Line>[] = [
    { label: 'Account', cell: (l) => (l.name === TOTAL ? html`<strong>${TOTAL}</strong>` : l.name), phone: 'lead' },
    { label: 'Opening', cell: money('opening', (l) => l.opening), number: true },
    { label: 'Debit', cell: money('debit', (l) => l.debit), number: true },
    { label: 'Credit', cell: money('credit', (l) => l.credit), number: true },
    { label: 'Closing', cell: money('closing', (l) => l.closing), number: true, phone: 'side' },
  ];
  const moved: readonly Column<LedgerSum>[] = [
    { label: 'Reason', cell: (m) => words(m.reason), phone: 'lead' },
    { label: 'From', cell: (m) => html`<span class="on-phone">from </span>${words(m.credit)}` },
    { label: 'To', cell: (m) => html`<span class="on-phone">to </span>${words(m.debit)}` },
    { label: 'Entries', cell: (m) => m.entries, number: true, phone: 'none' },
    {
      label: 'Amount',
      cell: (m) => entriesOf(month, currency, m.reason, amount(m.during, currency)),
      number: true,
      phone: 'side',
    },
  ];
  const hasMoney = (account: AccountLine): boolean =>
    [account.opening, account.debit, account.credit, account.closing].some((minor) => minor !== 0n);
  const lines = balance.accounts.filter(hasMoney).map((l) => ({ ...l, name: words(l.account) }));
  return section(
    currency,
    html`${table('Accounts', columns, [...lines, { ...balance.total, name: TOTAL }], 'None.')} ${endsOf(balance)}
    ${table('What moved in the month', moved, balance.moved, 'Nothing moved in this month.')}`,
  );
}

function endsOf(balance: TrialBalance): Html {
  const ends = openEnds(balance);
  if (ends.length === 0)
    return html`<p class="after">Stripe shows all money taken and given back by the end of the month.</p>`;
  return html`<ul class="after">
    ${ends.map(
      ({ amount: minor, what }) =>
        html`<li>
          ${amount(minor, balance.currency)} ${what}: see <a href="/console/reviews?status=open">open review items</a>.
        </li>`,
    )}
  </ul>`;
}
