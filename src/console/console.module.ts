// The console as a Nest module: pages for operators, on the API's own keys, audit and flows.
import { Module } from '@nestjs/common';
import { ApiModule } from '../api/api.module.js';
import { ConsoleAudit } from './console-audit.js';
import { Figures } from './figures.js';
import { LoginController, LogoutController } from './login.controller.js';
import { LoginThrottle } from './login-throttle.js';
import { BookPages } from './pages/books.controller.js';
import { EventPages } from './pages/events.controller.js';
import { InvoicePages } from './pages/invoices.controller.js';
import { OverviewController } from './pages/overview.controller.js';
import { PaymentPages } from './pages/payments.controller.js';
import { RefundPages } from './pages/refunds.controller.js';
import { VerifyPages } from './pages/verify.controller.js';
import { ReviewPages } from './pages/reviews.controller.js';
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
