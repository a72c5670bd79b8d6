// The console's first page, its search, and the trial balance.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { CountRenewals } from './count-renewals.js';
import { DeliveryPages } from './deliveries.pages.js';
import { Figures } from './figures.js';
import { Search } from './search.js';
import { SearchPages } from './search.pages.js';
import { OverviewController } from './overview.pages.js';
import { DaysRepository } from './days.repository.js';
import { SearchRepository } from './search.repository.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { TrialBalancePages } from './trial-balance.pages.js';
import { EngineModule } from '../../engine/engine.module.js';
import { InvoicesModule } from '../../core/invoices/invoices.module.js';
import { PaymentsModule } from '../../core/payments/payments.module.js';
import { RefundsModule } from '../../core/refunds/refunds.module.js';
import { ReviewsModule } from '../../core/reviews/reviews.module.js';
import { EventsModule } from '../../core/events/events.module.js';
import { HealthModule } from '../../core/health/health.module.js';

/** The application imports this module last: its routes serve every unknown page of the console. */
@Module({
  imports: [
    HealthModule,
    EventsModule,
    ReviewsModule,
    RefundsModule,
    PaymentsModule,
    InvoicesModule,
    EngineModule,
    ConsoleModule,
    LedgerModule,
  ],
  controllers: [TrialBalancePages, DeliveryPages, SearchPages, OverviewController],
  providers: [Figures, CountRenewals, Search, DaysRepository, SearchRepository],
})
export class OverviewModule {}
