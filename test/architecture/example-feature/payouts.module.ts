// The page and the route of delayed payouts.
import { Controller, Get, Module, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { ReviewsModule } from '../../core/reviews/reviews.module.js';
import { ReviewsRepository } from '../../core/reviews/reviews.repository.js';
import { MayRead } from '../../frames/api/access/access.js';
import { Text, Time } from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { Page } from '../../frames/console/console.guard.js';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { sendPage } from '../../frames/console/layout.js';
import { table } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';

export class PayoutView {
  @Text('The review item.') review_id!: string;
  @Time() opened_at!: string;
}

@ApiTags('Payouts')
@Controller('v1/payouts')
export class PayoutsController {
  constructor(private readonly reviews: ReviewsRepository) {}

  @Get()
  @MayRead('read', 'payout.list')
  @ApiOperation({ operationId: 'listPayouts', summary: 'Delayed payouts without an answer (role: read)' })
  @ApiOkResponse({ type: [PayoutView] })
  async list(): Promise<readonly PayoutView[]> {
    const page = { limit: 100, cursor: null };
    const { data } = await this.reviews.list({ status: 'open', kind: 'payout_delayed' }, page, 'newest');
    return data.map(({ id, createdAt }) => ({ review_id: id, opened_at: timeOf(createdAt) }));
  }
}

@Pages('console/payouts')
export class PayoutPages {
  constructor(private readonly payouts: PayoutsController) {}

  @Get()
  @Page('payout.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const columns = [{ label: 'Item', cell: (row: PayoutView) => row.review_id }];
    const body = table('Delayed payouts', columns, await this.payouts.list(), 'No payout is delayed.');
    sendPage(req, res, { title: 'Payouts', section: null, body });
  }
}

@Module({
  imports: [ConsoleModule, ReviewsModule],
  controllers: [PayoutsController, PayoutPages],
  providers: [PayoutsController],
})
export class PayoutsModule {}
