// The API for the merchant's backend and for operators: every route, and what stands before all of them.
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccessGuard } from './access/access.guard.js';
import { AuditInterceptor } from './access/audit.interceptor.js';
import { Denials } from './access/denials.js';
import { KeyRing } from './access/key-ring.js';
import { ShadowInterceptor } from './access/shadow.interceptor.js';
import { AuditController } from '../audit/audit.controller.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { CustomersController } from '../customers/customers.controller.js';
import { EventsController } from '../events/events.controller.js';
import { Gauges } from '../health/gauges.js';
import { HealthController } from '../health/health.controller.js';
import { InputPipe } from './http/input.pipe.js';
import { JsonBodyInterceptor } from './http/json-body.interceptor.js';
import { ProblemFilter } from './http/problem.filter.js';
import { MorApiModule } from './mor-api.module.js';
import { InvoicesController } from '../renewals/invoices.controller.js';
import { LedgerController } from '../ledger/ledger.controller.js';
import { PaymentsController } from '../renewals/payments.controller.js';
import { MorModule } from '../mor/mor.module.js';
import { Readiness } from '../health/readiness.js';
import { RefundsController } from '../refunds/refunds.controller.js';
import { ReviewsController } from '../reviews/reviews.controller.js';
import { VerifyController } from '../verify/verify.controller.js';
import { SignupsController } from '../signups/signups.controller.js';

/**
 * Needs the ports of the store, the flows, the clock, the metrics and the settings from global modules. Guard, filter, pipe and
 * interceptors stand before every controller of the application: a route that names no role is open to nobody.
 */
@Module({
  imports: [MorModule, MorApiModule, ChannelsModule],
  controllers: [
    SignupsController,
    CustomersController,
    InvoicesController,
    PaymentsController,
    RefundsController,
    EventsController,
    ReviewsController,
    LedgerController,
    AuditController,
    VerifyController,
    HealthController,
  ],
  providers: [
    Readiness,
    KeyRing,
    Denials,
    Gauges,
    { provide: APP_FILTER, useClass: ProblemFilter },
    { provide: APP_GUARD, useClass: AccessGuard },
    // In this order: what is wrong with a body is an outcome too, and goes into the audit trail.
    { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ShadowInterceptor },
    { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
    { provide: APP_PIPE, useClass: InputPipe },
  ],
  exports: [Readiness, KeyRing, Denials],
})
export class ApiModule {}
