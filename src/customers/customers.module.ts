// Customers, as the merchant and the MoR know them.
import { Module } from '@nestjs/common';
import { CustomersController } from './customers.controller.js';
import { ImportCustomersFlow } from './import-customers.flow.js';

@Module({
  controllers: [CustomersController],
  providers: [ImportCustomersFlow],
})
export class CustomersModule {}
