// The console's page of moves: the status of each subscription, and the reason if Crossbill left it as it is.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../../frames/api/http/page.js';
import { Page } from '../../frames/console/console.guard.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { type Html, html } from '../../frames/console/html.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';
import { CUSTOMER_FILTER, chosen } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { capital, count, facts } from '../../frames/console/show.js';
import { moveFields } from './move.fields.js';
import { MOVE_STATUSES } from './move.rules.js';
import { moveView } from './move.view.js';
import { type MoveCounts, MovesRepository } from './moves.repository.js';

const FILTERS = [{ name: 'status', label: 'Status', options: MOVE_STATUSES }, CUSTOMER_FILTER] as const;

@Pages('console/moves')
export class MovePages {
  constructor(
    private readonly moves: MovesRepository,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
  ) {}

  @Get()
  @Page('move.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Moves',
      section: 'moves',
      path: '/console/moves',
      filters: FILTERS,
      values,
      filter: (v) => given({ status: v.status, customerId: v.customer_id }),
      read: async (filter, page) => viewsOf(await this.moves.list(filter, page), moveView),
      caption: 'The newest rows first',
      fields: ['moves', moveFields],
      names: this.names,
      find: this.finder,
      above: countsPart(await this.moves.counts()),
      empty: {
        filtered: 'No moves match these filters.',
        yet: html`Each subscription that <code>crossbill move</code> looked at appears here, moved to the MoR or left on
          Stripe with the reason.`,
      },
    });
  }
}

function countsPart(counts: MoveCounts): Html {
  return facts(MOVE_STATUSES.map((s) => [capital(s), count(counts[s])]));
}
