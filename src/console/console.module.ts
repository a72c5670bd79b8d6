// The console as a Nest module: pages for operators, on the API's own keys, audit and flows.
import { Module } from '@nestjs/common';
import { ApiModule } from '../api/api.module.js';
import { ConsoleAudit } from './console-audit.js';
import { Figures } from './figures.js';
import { LoginController, LogoutController } from './login.controller.js';
import { LoginThrottle } from './login-throttle.js';
import { BookPages } from '../ledger/ledger.pages.js';
import { EventPages } from '../events/events.pages.js';
import { InvoicePages } from '../renewals/invoices.pages.js';
import { OverviewController } from './overview.pages.js';
import { PaymentPages } from '../renewals/payments.pages.js';
import { RefundPages } from '../refunds/refunds.pages.js';
import { VerifyPages } from '../verify/verify.pages.js';
import { ReviewPages } from '../reviews/reviews.pages.js';
import { RootController } from './root.controller.js';
import { Sessions } from './session.js';

/** Needs what ApiModule needs, and the ports that verify writes to. */
@Module({
  imports: [ApiModule],
  controllers: [
    RootController,
    LoginController,
    LogoutController,
    InvoicePages,
    PaymentPages,
    RefundPages,
    ReviewPages,
    EventPages,
    BookPages,
    VerifyPages,
    OverviewController, // last: it answers for every page that is none
  ],
  providers: [Sessions, LoginThrottle, Figures, ConsoleAudit],
})
export class ConsoleModule {}
