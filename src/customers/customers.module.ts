// Customers, as the merchant and the MoR know them.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { EngineModule } from '../engine/engine.module.js';
import { MorModule } from '../mor/mor.module.js';
import { SignupFlow } from '../signups/signup.flow.js';
import { CustomersAtStripe } from './at-stripe.flow.js';
import { CustomersController } from './customers.controller.js';
import { CustomerPages } from './customers.pages.js';
import { ImportCustomersFlow } from './import-customers.flow.js';
import { AnnounceMethods } from './announce-methods.js';
import { PaymentMethodPages } from './payment-methods.pages.js';
import { PaymentMethodsController } from './payment-methods.controller.js';
import { PaymentMethodsFlow } from './payment-methods.flow.js';

@Module({
  imports: [ConsoleModule, EngineModule, MorModule],
  controllers: [CustomersController, PaymentMethodsController, CustomerPages, PaymentMethodPages],
  providers: [ImportCustomersFlow, CustomersAtStripe, SignupFlow, PaymentMethodsFlow, AnnounceMethods],
})
export class CustomersModule {}
