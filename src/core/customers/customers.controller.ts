// Customers: their link between Stripe and the MoR, and everything Crossbill knows about them.
import { Body, Controller, Get, HttpStatus, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { CustomersRepository } from './customers.repository.js';
import { ReadModel } from '../../engine/read-model.js';
import { CustomerLinksRepository } from './customer-links.repository.js';
import { PaymentMethodsRepository } from './payment-methods.repository.js';
import { Requests } from '../../frames/store/requests.js';
import { SignupsRepository } from '../signups/signups.repository.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { Example, KeyHeader, Many, Problems, Text, TextOrNull } from '../../frames/api/http/docs.js';
import { customerOf, spanOf } from '../../frames/api/http/filters.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { idempotencyConflict, idempotencyKey, requestName } from '../../frames/api/http/idempotency.js';
import { pageOf, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { notFound, Problem } from '../../frames/api/http/problem.js';
import { CustomerLinkView, linkView } from './customer-link.view.js';
import { methodView, PaymentMethodView } from './payment-method.view.js';
import { CustomersQuery, LinkCustomerDto } from './customers.dto.js';
import { SignupView, signupView } from '../signups/signup.view.js';

class CustomerView {
  @Example('cus_123') @Text("The merchant's own id.") customer_id!: string;
  @Example('mc_123')
  @TextOrNull("The MoR's customer of the current payment method; null: no link.")
  mor_customer_id!: string | null;
  @Example(['mc_123']) @Many(String, 'All its links to the MoR, newest first.') mor_customer_ids!: string[];
  @Many(SignupView, 'Newest first, at most 100.') signups!: SignupView[];
  @Many(PaymentMethodView, 'Newest first.') payment_methods!: PaymentMethodView[];
  @Example(['in_123']) @Many(String, 'Newest first, at most 100.') invoice_ids!: string[];
}

const PATH = '/v1/customers';

@ApiTags('Customers')
@Controller('v1/customers')
export class CustomersController {
  constructor(
    private readonly books: ReadModel,
    private readonly customers: CustomersRepository,
    private readonly links: CustomerLinksRepository,
    private readonly requests: Requests,
    private readonly signups: SignupsRepository,
    private readonly methods: PaymentMethodsRepository,
  ) {}

  @Get()
  @MayRead('read', 'customer.list')
  @ApiOperation({
    operationId: 'listCustomers',
    summary: 'Customers with their customers at the MoR, the newest links first (role: read)',
  })
  @ApiOkResponse({ type: pageOf(CustomerLinkView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: CustomersQuery): Promise<PageView<CustomerLinkView>> {
    const filter = { ...spanOf(query), customerId: customerOf(query), morCustomerId: query.mor_customer_id };
    const page = await this.links.list(filter, pageRequest(query));
    const methods = await this.methods.of(page.data.map((l) => l.customerId));
    return pageView(page, (l) => linkView(l, methods.get(l.customerId) ?? []));
  }

  @Post()
  @MayChange('ops', 'customer.link', { outside: false, made: 'customer_id' })
  @ApiOperation({
    operationId: 'linkCustomer',
    summary: 'Link a customer to an existing customer of the MoR (role: ops)',
    description:
      'With `ENROLMENT=linked` the customer is enrolled from the next invoice on. 201 for a new link, 200 for a known one. Only a later setup can link the customer to another customer of the MoR (`POST …/payment-method`, or another signup). Crossbill does not check these ids with Stripe or the MoR, and never removes a link.',
  })
  @KeyHeader(false)
  @ApiCreatedResponse({ type: CustomerLinkView })
  @ApiOkResponse({ type: CustomerLinkView, description: 'The link was known.' })
  @Problems({
    400: '`invalid_request`',
    409: '`customer_linked_otherwise`: the customer, or the customer at the MoR, is linked to another; `idempotency_conflict`',
  })
  async link(
    @Body() dto: LinkCustomerDto,
    @Req() req: Request,
    @Res({ passthrough: true }) res: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<CustomerLinkView> {
    const key = idempotencyKey(req);
    const name = key === null ? null : requestName(caller, PATH, key, req.body);
    if (name !== null) {
      const before = await this.requests.remember(name, name.bodySha256, dto.customer_id);
      if (before.known && !before.sameBody) throw idempotencyConflict();
    }
    const { customer_id: customerId, mor_customer_id: morCustomerId, reference = null } = dto;
    const { outcome, link } = await this.links.link({ customerId, morCustomerId, reference, linkedBy: caller.name });
    if (outcome === 'otherwise') {
      const isOfCustomer = link.customerId === customerId;
      const next = isOfCustomer
        ? ' You cannot change a link. For another method, make a setup with POST …/payment-method.'
        : '';
      const message = `Customer ${link.customerId} is already linked to ${link.morCustomerId} at the MoR.${next}`;
      const field = isOfCustomer ? 'mor_customer_id' : 'customer_id';
      throw new Problem(409, 'customer_linked_otherwise', message, [{ field, message }]);
    }
    res.status(outcome === 'made' ? HttpStatus.CREATED : HttpStatus.OK);
    return linkView(link, (await this.methods.of([link.customerId])).get(link.customerId) ?? []);
  }

  @Get(':id')
  @MayRead('read', 'customer.read')
  @ApiOperation({ operationId: 'getCustomer', summary: "A customer by the merchant's own id (role: read)" })
  @ApiOkResponse({ type: CustomerView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<CustomerView> {
    const found = await this.customers.find(id);
    if (found === null) throw notFound('customer');
    const proven = await this.signups.proven(found.signups.map((s) => s.id));
    const methods = (await this.methods.of([id])).get(id) ?? [];
    const names = await this.books.paymentNames(found.signups.flatMap((s) => s.paymentRowId ?? []));
    return {
      customer_id: found.customerId,
      mor_customer_id: found.morCustomerId,
      mor_customer_ids: [...found.morCustomerIds],
      signups: found.signups.map((s) => {
        const name = s.paymentRowId === null ? undefined : names.get(s.paymentRowId);
        return signupView(s, name === undefined ? null : { name, row: null }, proven.has(s.id));
      }),
      payment_methods: methods.map(methodView),
      invoice_ids: [...found.invoiceIds],
    };
  }
}
