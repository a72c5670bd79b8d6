// Routes for webhook addresses at the MoR (Document 2): register, list, delete. Only a registration shows the secret.
import { type WebhookEndpoint, webhookEndpointRequest, WebhookEndpoints } from '@crossbill/mor';
import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { Example, Many, MorBody, Problems, Text, TextIfAny, TimeIfAny } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { answeredOrThrow, checkedRequest } from '../../frames/api/http/mor-reply.js';
import { morProblem, Problem } from '../../frames/api/http/problem.js';

export class EndpointView {
  @Example('wh_123') @Text('`wh_…`') id!: string;
  @Example('https://billing.example/webhooks/mor/events') @Text() url!: string;
  @Example(['payment.captured']) @Many(String) events!: readonly string[];
  @Example('ACTIVE') @Text('`ACTIVE`, `DISABLED` or another word of the MoR.') status!: string;
  @TimeIfAny() createdAt?: string;
}

export class EndpointMadeView extends EndpointView {
  @TextIfAny('It signs every delivery. Only this answer shows it.') secret?: string;
  @Example('Add the secret to MOR_EVENT_WEBHOOK_SECRETS.') @Text('Your next step, in one sentence.') next!: string;
}

export class EndpointsView {
  @Many(EndpointView) data!: readonly EndpointView[];
}

@ApiTags('MoR webhooks')
@Controller('v1/mor/webhooks')
export class MorWebhooksController {
  constructor(private readonly endpoints: WebhookEndpoints) {}

  @Post()
  @HttpCode(201)
  @MayChange('ops', 'mor_webhook.create')
  @ApiOperation({
    operationId: 'createMorWebhook',
    summary: 'Register an address for the MoR’s events (role: ops)',
    description:
      'Give `url` (this daemon’s /webhooks/mor/events), `events` and perhaps `description`. Only this answer shows `secret`: Crossbill keeps no copy.',
  })
  @MorBody(webhookEndpointRequest)
  @ApiCreatedResponse({ type: EndpointMadeView })
  @Problems({
    400: '`unknown_event`, `invalid_url`, `validation_error`',
    409: '`webhook_endpoint_limit_exceeded`: at most 10 active endpoints.',
    502: '`mor_unavailable`: the message says whether the MoR lists the endpoint now.',
  })
  async create(@Body() body: unknown): Promise<EndpointMadeView> {
    const request = checkedRequest(webhookEndpointRequest.check(body));
    // A registration has no idempotency key. If its reply is lost, a comparison with this list finds the new endpoint.
    const before = answeredOrThrow(await this.endpoints.list());
    const made = await this.endpoints.create(request);
    if (!made.ok) {
      if (made.kind !== 'unknown') throw morProblem(made);
      throw await this.unanswered(request, before);
    }
    const { endpoint, secret } = made.value;
    if (secret === null) return { ...endpointView(endpoint), next: withoutSecret(endpoint.id) };
    return {
      ...endpointView(endpoint),
      secret: secret.reveal(),
      next: 'Paste the secret into MOR_EVENT_WEBHOOK_SECRETS and restart; Crossbill shows it only now.',
    };
  }

  @Get()
  @MayRead('ops', 'mor_webhook.list')
  @ApiOperation({ operationId: 'listMorWebhooks', summary: 'The registered addresses, without secrets (role: ops)' })
  @ApiOkResponse({ type: EndpointsView })
  @Problems({ 502: '`mor_unavailable`' })
  async list(): Promise<EndpointsView> {
    const found = answeredOrThrow(await this.endpoints.list());
    const at = (endpoint: WebhookEndpoint): number => endpoint.createdAt?.getTime() ?? 0;
    return { data: found.toSorted((a, b) => at(b) - at(a)).map(endpointView) };
  }

  @Delete(':id')
  @HttpCode(204)
  @MayChange('ops', 'mor_webhook.delete')
  @ApiOperation({ operationId: 'deleteMorWebhook', summary: 'End deliveries to an address at once (role: ops)' })
  @ApiNoContentResponse({ description: 'The endpoint is deleted, now or before.' })
  @Problems({ 404: '`not_found`', 502: '`mor_unavailable`: you may safely delete again.' })
  async remove(@Param('id', IdPipe) id: string): Promise<void> {
    answeredOrThrow(await this.endpoints.delete(id));
  }

  /** Handles a lost reply. The list shows if the endpoint exists. Its secret is lost, so the endpoint is useless. */
  private async unanswered(request: { readonly url: string }, before: readonly WebhookEndpoint[]): Promise<Problem> {
    const said = 'The MoR did not answer the registration.';
    const listed = await this.endpoints.list();
    if (!listed.ok) {
      const advice =
        'Crossbill could not read its list either: look at GET /v1/mor/webhooks before you register again.';
      return new Problem(502, 'mor_unavailable', `${said} ${advice}`);
    }
    const made = listed.value.find((e) => e.url === request.url && !before.some((old) => old.id === e.id));
    if (made === undefined) {
      return new Problem(502, 'mor_unavailable', `${said} Its list names no new endpoint: register again.`);
    }
    return new Problem(
      502,
      'mor_unavailable',
      `${said} Its list names ${made.id} for this address. ${withoutSecret(made.id)}`,
    );
  }
}

function withoutSecret(id: string): string {
  return `The secret of ${id} did not arrive, and the MoR shows it only once. Delete the endpoint (DELETE /v1/mor/webhooks/${id}) and register it again.`;
}

function endpointView({ id, url, events, status, createdAt }: WebhookEndpoint): EndpointView {
  return { id, url, events, status, ...(createdAt === null ? {} : { createdAt: createdAt.toISOString() }) };
}
