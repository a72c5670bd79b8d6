// Onboarding for the operators of a platform (Document 1): begin, describe, submit and watch merchants.
import { bareMerchantRequest, describeBusinessRequest, initiateRequest, productChoice } from '@crossbill/mor';
import {
  applyDecorators,
  Body,
  Controller,
  Get,
  HttpCode,
  Optional,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { MorBody, Problems, Repeatable } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { refusalProblem } from '../../frames/api/http/problem.js';
import { type Onboarded, OnboardingService } from './onboarding.service.js';
import { OnboardingView, onboardingView, RegionsView } from './onboarding.view.js';
import { REFUSALS } from './words.js';

const eitherWay = { schema: { oneOf: [initiateRequest.schema, bareMerchantRequest.schema] } };
const NOT_CONFIGURED = '`onboarding_not_configured`: there are no partner credentials.';
const UNAVAILABLE = '`mor_unavailable`: send the same request again; nothing is made twice.';
const DECIDED = '`invalid_status`: it is being reviewed or was decided.';

/** Describes a route about one merchant. */
const OneMerchant = (
  operation: { readonly operationId: string; readonly summary: string; readonly description?: string },
  { 409: conflict = '', ...problems }: Readonly<Record<number, string>> = {},
): MethodDecorator =>
  applyDecorators(
    ApiOperation(operation),
    ApiOkResponse({ type: OnboardingView }),
    Problems({ 404: '`not_found`', 409: `${NOT_CONFIGURED} ${conflict}`.trim(), 502: UNAVAILABLE, ...problems }),
  );

@ApiTags('Onboarding')
@Controller('v1/onboarding')
export class OnboardingController {
  /** `configured` is absent without partner credentials: every route then answers 409. */
  constructor(@Optional() private readonly configured?: OnboardingService) {}

  /** @throws Problem without partner credentials */
  service(): OnboardingService {
    if (this.configured === undefined) throw refusalProblem(REFUSALS.notConfigured);
    return this.configured;
  }

  @Get('regions')
  @MayRead('ops', 'onboarding.regions')
  @ApiOperation({ operationId: 'listRegions', summary: 'Regions and the products they support (role: ops)' })
  @ApiOkResponse({ type: RegionsView })
  @Problems({ 409: NOT_CONFIGURED, 502: UNAVAILABLE })
  async regions(): Promise<RegionsView> {
    const found = await this.service().regions();
    return { data: found.map(({ countryCode, ...r }) => (countryCode === null ? r : { ...r, countryCode })) };
  }

  @Post('merchants')
  @Repeatable()
  @MayChange('ops', 'onboarding.start', { made: 'reference' })
  @ApiOperation({
    operationId: 'createMerchant',
    summary: 'Begin a merchant’s application (role: ops)',
    description:
      'The MoR’s onboarding request without `mode`. `merchantReference` is the key: a repeat continues the application and makes no second merchant. If you do not know the company, `{merchantReference, withoutCompany: true, productCode?}` makes a merchant without company details, for good. 201 if this request began it, else 200.',
  })
  @ApiBody(eitherWay)
  @ApiCreatedResponse({ type: OnboardingView })
  @ApiOkResponse({
    type: OnboardingView,
    description: 'The merchant existed already; `notice` says what happened to the company details.',
  })
  @Problems({
    400: '`invalid_argument`, `validation_error`: each field named.',
    409: `${NOT_CONFIGURED} \`onboarding_begun\`: the MoR has not answered a request with company details yet.`,
    502: `${UNAVAILABLE} If the message says it would fail again, correct it first.`,
  })
  async start(
    @Body() body: unknown,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) res: Response,
  ): Promise<OnboardingView> {
    const done = await this.service().start(body, caller.name);
    res.status(done.made ? 201 : 200);
    return shown(done);
  }

  @Get('merchants')
  @MayRead('ops', 'onboarding.list')
  @ApiOperation({ operationId: 'listMerchants', summary: 'Merchants as last read, newest first (role: ops)' })
  @ApiOkResponse({ type: pageOf(OnboardingView) })
  @Problems({ 400: '`invalid_request`: `limit` or `cursor`.', 409: NOT_CONFIGURED })
  async list(@Query() query: PageQuery): Promise<PageView<OnboardingView>> {
    const page = pageRequest(query);
    return pageView(await this.service().list(page), (row) => onboardingView(row));
  }

  @Get('merchants/:reference')
  @MayRead('ops', 'onboarding.read')
  @OneMerchant({
    operationId: 'getMerchant',
    summary:
      'A merchant with its company and description; Crossbill asks the MoR until it approves or rejects the merchant (role: ops)',
  })
  async one(@Param('reference', IdPipe) reference: string): Promise<OnboardingView> {
    return shown(await this.service().status(reference));
  }

  @Put('merchants/:reference/product')
  @MayChange('ops', 'onboarding.product')
  @MorBody(productChoice)
  @OneMerchant(
    {
      operationId: 'chooseMerchantProduct',
      summary: 'Choose the regions: `{code, regions}` (role: ops)',
      description: '`code` must be the code of the first request.',
    },
    { 400: '`validation_error`', 409: DECIDED },
  )
  async product(@Param('reference', IdPipe) reference: string, @Body() body: unknown): Promise<OnboardingView> {
    return shown(await this.service().chooseProduct(reference, body));
  }

  @Patch('merchants/:reference/business')
  @MayChange('ops', 'onboarding.business')
  @MorBody(describeBusinessRequest)
  @OneMerchant(
    {
      operationId: 'describeMerchant',
      summary: 'Describe the business: `businessDescription`, `storeUrls`, `category` (role: ops)',
    },
    { 400: '`validation_error`', 409: DECIDED },
  )
  async business(@Param('reference', IdPipe) reference: string, @Body() body: unknown): Promise<OnboardingView> {
    return shown(await this.service().describeBusiness(reference, body));
  }

  @Post('merchants/:reference/submit')
  @Repeatable()
  @HttpCode(200)
  @MayChange('ops', 'onboarding.submit')
  @OneMerchant(
    {
      operationId: 'submitMerchant',
      summary: 'Submit for review (role: ops)',
      description: 'An application submitted before counts as submitted.',
    },
    { 400: '`incomplete_application`: one error per missing requirement.', 409: '`invalid_status`: it was rejected.' },
  )
  async submit(@Param('reference', IdPipe) reference: string): Promise<OnboardingView> {
    return shown(await this.service().submit(reference));
  }
}

function shown({ row, notice }: Onboarded): OnboardingView {
  return onboardingView(row, notice);
}
