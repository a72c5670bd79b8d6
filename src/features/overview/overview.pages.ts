// The first page: work for a person, today's money, the paid renewals, and the money of each day.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { notFound } from '../../frames/api/http/problem.js';
import { startOfDay } from '../../shared/domain/day.js';
import { parseCurrency } from '../../shared/domain/money.js';
import { type DayMoney, type DayRenewals } from './days.repository.js';
import { Page } from '../../frames/console/console.guard.js';
import { DAYS_SHOWN, Figures } from './figures.js';
import { type Html, html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { queryText, table } from '../../frames/console/list.js';
import { amount, count, facts, headed, section, time } from '../../frames/console/show.js';
import { moneyChart } from './money-chart.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { customersOf, needsYou } from './needs.js';

const EVERY_SEC = 15;

@Pages('console')
export class OverviewController {
  constructor(
    private readonly figures: Figures,
    private readonly names: CustomerNames,
  ) {}

  @Get()
  @Page('console.overview')
  async overview(@Req() req: Request, @Res() res: Response): Promise<void> {
    const [{ at, money, waiting }, trend] = await Promise.all([this.figures.now(), this.figures.trend()]);
    const names = await this.names.of(customersOf(waiting));
    const currency = parseCurrency(queryText(req, 'currency'));
    sendPage(req, res, {
      title: 'Overview',
      section: '',
      body: null,
      live: {
        html: html`${needsYou(waiting, names, at)} ${section('Money today', moneyToday(money, at))}`,
        everySec: EVERY_SEC,
      },
      after: html`${section('Renewals paid', renewalsPaid(trend.renewals))}
      ${section('Money by day', moneyChart(trend.money, trend.days, currency))}`,
    });
  }

  @Get('*path')
  @Page('console.unknown')
  unknown(): never {
    throw notFound('page');
  }
}

function moneyToday(money: readonly DayMoney[], at: Date): Html {
  const today = startOfDay(at).toISOString().slice(0, 10);
  const list = (reason: string, currency: string, what: Html): Html =>
    html`<a href="/console/ledger?reason=${reason}&amp;currency=${currency}&amp;since=${today}">${what}</a>`;
  return html`<p class="dim">
      As of ${time(at)}. A day is a UTC day. Crossbill counts money on the day the MoR moved it.
    </p>
    ${table(
      'Taken and refunded by the MoR since midnight UTC',
      [
        { label: 'Currency', cell: (m) => m.currency, phone: 'lead' },
        {
          label: 'Payments',
          cell: (m) =>
            html`${count(m.payments)}<span class="on-phone"> ${m.payments === 1 ? 'payment' : 'payments'}</span>`,
          number: true,
        },
        {
          label: 'Taken',
          cell: (m) => list('payment_collected', m.currency, amount(m.collected, m.currency)),
          number: true,
          phone: 'side',
        },
        {
          label: 'Refunded',
          cell: (m) => headed('refunded', list('refund_paid', m.currency, amount(m.refunded, m.currency))),
          number: true,
        },
      ],
      money,
      'Money the MoR takes or refunds today appears here, by currency.',
    )}`;
}

function renewalsPaid(days: readonly DayRenewals[]): Html {
  const sum = (what: 'paid' | 'unpaid' | 'waiting'): number => days.reduce((n, d) => n + d[what], 0);
  const [paid, unpaid, waiting] = [sum('paid'), sum('unpaid'), sum('waiting')];
  if (paid + unpaid + waiting === 0) {
    return html`<div class="empty">
      The share of paid renewals in the last ${DAYS_SHOWN} days appears here.
      ${days.length === 0 ? 'The daemon counts them a few minutes after its start.' : 'There were no renewals.'}
    </div>`;
  }
  return html`${facts([
      [
        'Paid',
        paid === 0 ? 0 : `${count(paid)}: ${((paid / (paid + unpaid)) * 100).toFixed(1)}% of those with a verdict`,
      ],
      ['Not paid', count(unpaid)],
      ['No verdict yet', count(waiting)],
    ])}
    <p class="dim">
      Renewals of the last ${DAYS_SHOWN} days. <a href="/console/invoices?status=open">Open invoices</a> ·
      <a href="/console/retries">Retries</a>
    </p>`;
}
