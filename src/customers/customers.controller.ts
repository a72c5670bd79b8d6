// Customers: how the merchant's customer and the MoR's are linked, and what is known of them.
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Books } from '../domain/ports/books.js';
import { Signups } from '../domain/ports/signups.js';
import { MayRead } from '../api/access/access.js';
import { Many, Problems, Text, TextOrNull } from '../api/http/docs.js';
import { IdPipe } from '../api/http/id.pipe.js';
import { notFound } from '../api/http/problem.js';
import { SignupView, signupView } from '../signups/signup.view.js';

class CustomerView {
  @Text("The merchant's own id.") customer_id!: string;
  @TextOrNull("The MoR's customer of the newest signup; null: no signup through us.") mor_customer_id!: string | null;
  @Many([String], 'All it ever had, newest first.') mor_customer_ids!: string[];
  @Many(SignupView, 'Newest first, at most 100.') signups!: SignupView[];
  @Many([String], 'Newest first, at most 100.') invoice_ids!: string[];
}

@ApiTags('Customers')
@Controller('v1/customers')
export class CustomersController {
  constructor(
    private readonly books: Books,
    private readonly signups: Signups,
  ) {}

  @Get(':id')
  @MayRead('read', 'customer.read')
  @ApiOperation({ summary: "A customer by the merchant's own id (role: read)" })
  @ApiOkResponse({ type: CustomerView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<CustomerView> {
    const found = await this.books.customer(id);
    if (found === null) throw notFound('customer');
    const proven = await this.signups.proven(found.signups.map((s) => s.id));
    const names = await this.books.paymentNames(found.signups.flatMap((s) => s.paymentRowId ?? []));
    return {
      customer_id: found.customerId,
      mor_customer_id: found.morCustomerId,
      mor_customer_ids: [...found.morCustomerIds],
      signups: found.signups.map((s) => {
        const name = s.paymentRowId === null ? undefined : names.get(s.paymentRowId);
        return signupView(s, name === undefined ? null : { name, row: null }, proven.has(s.id));
      }),
      invoice_ids: [...found.invoiceIds],
    };
  }
}
