// Onboarding for the operators of a platform (Document 1): begin, describe, submit and watch merchants.
import { bareMerchantRequest, describeBusinessRequest, initiateRequest, productChoice } from '@crossbill/mor';
import { Body, Controller, Get, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { type Onboarded, type OnboardingDone, OnboardingFlow } from './onboarding.flow.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { MorBody, Problems, Repeatable } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { morProblem, Problem } from '../../frames/api/http/problem.js';
import { OnboardingView, onboardingView, RegionsView } from './onboarding.view.js';

const eitherWay = { schema: { oneOf: [initiateRequest.schema, bareMerchantRequest.schema] } };
const NOT_CONFIGURED = '`onboarding_not_configured`: there are no partner credentials.';
const UNAVAILABLE = '`mor_unavailable`: send the same request again; nothing is made twice.';

@ApiTags('Onboarding')
@Controller('v1/onboarding')
export class OnboardingController {
  constructor(private readonly flow: OnboardingFlow) {}

  @Get('regions')
  @MayRead('ops', 'onboarding.regions')
  @ApiOperation({ operationId: 'listRegions', summary: 'Regions and the products they support (role: ops)' })
  @ApiOkResponse({ type: RegionsView })
  @Problems({ 409: NOT_CONFIGURED, 502: UNAVAILABLE })
  async regions(): Promise<RegionsView> {
    const found = onboardedOrProblem(await this.flow.regions());
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
    const done = onboardedOrProblem(await this.flow.start(body, caller.name));
    res.status(done.made ? 201 : 200);
    return shown(done);
  }

  @Get('merchants')
  @MayRead('ops', 'onboarding.list')
  @ApiOperation({ operationId: 'listMerchants', summary: 'Merchants as last read, newest first (role: ops)' })
  @ApiOkResponse({ type: pageOf(OnboardingView) })
  @Problems({ 400: '`invalid_request`: `limit` or `cursor`.', 409: NOT_CONFIGURED })
  async list(@Query() query: PageQuery): Promise<PageView<OnboardingView>> {
    return pageView(onboardedOrProblem(await this.flow.list(pageRequest(query))), (row) => onboardingView(row));
  }

  @Get('merchants/:reference')
  @MayRead('ops', 'onboarding.read')
  @ApiOperation({
    operationId: 'getMerchant',
    summary:
      'A merchant with its company and description; Crossbill asks the MoR until it approves or rejects the merchant (role: ops)',
  })
  @ApiOkResponse({ type: OnboardingView })
  @Problems({ 404: '`not_found`', 409: NOT_CONFIGURED, 502: UNAVAILABLE })
  async one(@Param('reference', IdPipe) reference: string): Promise<OnboardingView> {
    return shown(onboardedOrProblem(await this.flow.status(reference)));
  }

  @Put('merchants/:reference/product')
  @MayChange('ops', 'onboarding.product')
  @ApiOperation({
    operationId: 'chooseMerchantProduct',
    summary: 'Choose the regions: `{code, regions}` (role: ops)',
    description: '`code` must be the code of the first request.',
  })
  @MorBody(productChoice)
  @ApiOkResponse({ type: OnboardingView })
  @Problems({
    400: '`validation_error`',
    404: '`not_found`',
    409: `${NOT_CONFIGURED} \`invalid_status\`: it is being reviewed or was decided.`,
    502: UNAVAILABLE,
  })
  async product(@Param('reference', IdPipe) reference: string, @Body() body: unknown): Promise<OnboardingView> {
    return shown(onboardedOrProblem(await this.flow.chooseProduct(reference, body)));
  }

  @Patch('merchants/:reference/business')
  @MayChange('ops', 'onboarding.business')
  @ApiOperation({
    operationId: 'describeMerchant',
    summary: 'Describe the business: `businessDescription`, `storeUrls`, `category` (role: ops)',
  })
  @MorBody(describeBusinessRequest)
  @ApiOkResponse({ type: OnboardingView })
  @Problems({
    400: '`validation_error`',
    404: '`not_found`',
    409: `${NOT_CONFIGURED} \`invalid_status\`: it is being reviewed or was decided.`,
    502: UNAVAILABLE,
  })
  async business(@Param('reference', IdPipe) reference: string, @Body() body: unknown): Promise<OnboardingView> {
    return shown(onboardedOrProblem(await this.flow.describeBusiness(reference, body)));
  }

  @Post('merchants/:reference/submit')
  @Repeatable()
  @HttpCode(200)
  @MayChange('ops', 'onboarding.submit')
  @ApiOperation({
    operationId: 'submitMerchant',
    summary: 'Submit for review (role: ops)',
    description: 'An application submitted before counts as submitted.',
  })
  @ApiOkResponse({ type: OnboardingView })
  @Problems({
    400: '`incomplete_application`: one error per missing requirement.',
    404: '`not_found`',
    409: `${NOT_CONFIGURED} \`invalid_status\`: it was rejected.`,
    502: UNAVAILABLE,
  })
  async submit(@Param('reference', IdPipe) reference: string): Promise<OnboardingView> {
    return shown(onboardedOrProblem(await this.flow.submit(reference)));
  }
}

function shown({ row, notice }: Onboarded): OnboardingView {
  return onboardingView(row, notice);
}

/** Returns the result. Throws the refusal, or an error if the MoR did not reply. */
export function onboardedOrProblem<T>(done: OnboardingDone<T>): T {
  if (done.ok) return done.value;
  if (done.why === 'refused') throw new Problem(done.status, done.code, done.message, done.errors);
  if (done.again) throw morProblem(done.failure);
  const message =
    'The MoR could not read this request (500 internal_error). A repeat would fail again: correct it first.';
  throw new Problem(502, 'mor_unavailable', message, done.failure.errors);
}
