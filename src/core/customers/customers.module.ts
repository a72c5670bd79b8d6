// Customers and their links between Stripe and the MoR.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { CustomersController } from './customers.controller.js';
import { CustomerPages } from './customers.pages.js';
import { ImportCustomersService } from './import-customers.service.js';
import { AnnounceMethods } from './announce-methods.js';
import { PaymentMethodPages } from './payment-methods.pages.js';
import { PaymentMethodsController } from './payment-methods.controller.js';
import { PaymentMethodsService } from './payment-methods.service.js';
import { CustomerLinksRepository } from './customer-links.repository.js';
import { PaymentMethodsRepository } from './payment-methods.repository.js';
import { SignupsModule } from '../signups/signups.module.js';
import { InvoicesModule } from '../invoices/invoices.module.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { RefundsModule } from '../refunds/refunds.module.js';
import { CustomerParts } from './customer-parts.js';
import { CustomersRepository } from './customers.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule, MorModule, SignupsModule, InvoicesModule, PaymentsModule, RefundsModule],
  controllers: [CustomersController, PaymentMethodsController, CustomerPages, PaymentMethodPages],
  providers: [
    CustomerParts,
    CustomersRepository,
    ImportCustomersService,
    PaymentMethodsService,
    AnnounceMethods,
    CustomerLinksRepository,
    PaymentMethodsRepository,
  ],
  exports: [CustomerParts, PaymentMethodsRepository],
})
export class CustomersModule {}
