// Moves on the console: how far each subscription is, and why it was left.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../api/http/page.js';
import { Page } from '../console/console.guard.js';
import { type Html, html } from '../console/html.js';
import { sendList } from '../console/list-page.js';
import { chosen, type Column } from '../console/list.js';
import { Pages } from '../console/pages.js';
import { type CsvColumn, plainTime } from '../console/selection.js';
import { count, customerLink, facts, id, status, time } from '../console/show.js';
import { type MoveEntity } from './move.entity.js';
import { MOVE_STATUSES, renderMoveFact } from './move.rules.js';
import { type MoveCounts, MovesStore } from './moves.store.js';

const FILTERS = [
  { name: 'status', label: 'Status', options: MOVE_STATUSES },
  { name: 'customer_id', label: 'Customer' },
] as const;

const COLUMNS: readonly Column<MoveEntity>[] = [
  { label: 'Subscription', cell: (m) => id(m.subscriptionId), phone: 'lead' },
  { label: 'Status', cell: (m) => status(m.status), phone: 'side' },
  { label: 'Why', cell: (m) => (m.fact === null ? '' : renderMoveFact(m.fact)) },
  { label: 'Customer', cell: (m) => customerLink(m.customerId) },
  { label: 'Renews', cell: (m) => time(m.renewsAt, 'not known'), phone: 'none' },
  { label: 'Changed', cell: (m) => time(m.updatedAt), phone: 'none' },
];

const CSV: readonly CsvColumn<MoveEntity>[] = [
  ['subscription_id', (m) => m.subscriptionId],
  ['customer_id', (m) => m.customerId],
  ['status', (m) => m.status],
  ['code', (m) => m.fact?.code ?? ''],
  ['renews_at', (m) => plainTime(m.renewsAt)],
  ['moved_at', (m) => plainTime(m.movedAt)],
  ['changed_by', (m) => m.changedBy],
  ['updated_at', (m) => plainTime(m.updatedAt)],
];

@Pages('console/moves')
export class MovePages {
  constructor(private readonly moves: MovesStore) {}

  @Get()
  @Page('move.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    const filter = given({ status: values.status, customerId: values.customer_id });
    await sendList(req, res, {
      title: 'Moves',
      section: 'moves',
      path: '/console/moves',
      filters: FILTERS,
      values,
      read: (page) => this.moves.list(filter, page),
      caption: 'The newest rows first',
      columns: COLUMNS,
      csv: ['moves', CSV],
      above: countsPart(await this.moves.counts()),
      empty: {
        filtered: 'No moves match these filters.',
        yet: html`Each subscription that <code>crossbill move</code> looked at will stand here, moved to the MoR or left
          on Stripe with the reason.`,
      },
    });
  }
}

function countsPart(counts: MoveCounts): Html {
  return facts(MOVE_STATUSES.map((s) => [`${s.charAt(0).toUpperCase()}${s.slice(1)}`, count(counts[s])]));
}
