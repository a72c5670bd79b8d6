// Customers, as the merchant and the MoR know them.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { CustomersAtStripe } from './at-stripe.flow.js';
import { CustomersController } from './customers.controller.js';
import { CustomerPages } from './customers.pages.js';
import { ImportCustomersFlow } from './import-customers.flow.js';

@Module({
  imports: [ConsoleModule],
  controllers: [CustomersController, CustomerPages],
  providers: [ImportCustomersFlow, CustomersAtStripe],
})
export class CustomersModule {}
