// The API's routes for events of inbox and quarantine: the list, one event, and a request to decide an event again.
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { EventsRepository } from './events.repository.js';
import { EventsService } from './events.service.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { Example, Problems, Text } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { Since, spanOf, Until } from '../../frames/api/http/filters.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { notFound } from '../../frames/api/http/problem.js';
import { Filter, IsText, NOTE_MAX } from '../../frames/api/http/rules.js';
import {
  EVENT_SOURCES,
  EVENT_STATUSES,
  EventView,
  eventView,
  EventWithBodyView,
  eventWithBodyView,
} from './event.view.js';

class EventsQuery extends PageQuery {
  @Filter('Only from this sender.', EVENT_SOURCES) source?: string;
  @Filter('Only this status.', EVENT_STATUSES) status?: string;
  @Filter('Only this type.') type?: string;
  @Filter("Only the sender's event of this id.") event_id?: string;
  @Since('when it arrived') since?: string;
  @Until() until?: string;
}

class DismissEventDto {
  @Example('A test of ours.') @Text('Why; people will read it later.') @IsText(NOTE_MAX) note!: string;
}

@ApiTags('Events')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventsRepository,
    private readonly service: EventsService,
  ) {}

  @Get()
  @MayRead('read', 'event.list')
  @ApiOperation({ operationId: 'listEvents', summary: 'Webhook events, newest first (role: read)' })
  @ApiOkResponse({ type: pageOf(EventView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: EventsQuery): Promise<PageView<EventView>> {
    const filter = {
      source: query.source,
      status: query.status,
      type: query.type,
      eventId: query.event_id,
      ...spanOf(query),
    };
    return pageView(await this.events.list(filter, pageRequest(query)), eventView);
  }

  @Get(':id')
  @MayRead('read', 'event.read')
  @ApiOperation({ operationId: 'getEvent', summary: 'An event with its body, personal data masked (role: read)' })
  @ApiOkResponse({ type: EventWithBodyView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<EventWithBodyView> {
    const event = await this.events.find(id);
    if (event === null) throw notFound('event');
    return eventWithBodyView(event);
  }

  @Post(':id/retry')
  @HttpCode(202)
  @MayChange('ops', 'event.retry', { outside: false })
  @ApiOperation({
    operationId: 'retryEvent',
    summary: 'Decide an event again (role: ops)',
    description:
      'Crossbill decides a parked or decided event again and does nothing twice. An event in quarantine enters the inbox. Send no body.',
  })
  @ApiAcceptedResponse({ type: EventView, description: 'The event, now waiting in the inbox.' })
  @Problems({
    404: '`not_found`',
    409: '`event_not_retryable`: a purge deleted its body, or another body with its event id came first.',
  })
  async retry(@Param('id', IdPipe) id: string): Promise<EventView> {
    return eventView(await this.service.retry(id));
  }

  @Post(':id/dismiss')
  @HttpCode(200)
  @MayChange('ops', 'event.dismiss', { outside: false })
  @ApiOperation({
    operationId: 'dismissEvent',
    summary: 'Dismiss a parked event (role: ops)',
    description: 'It is `ignored` from then on, with the note as its reason. A retry remains possible.',
  })
  @ApiOkResponse({ type: EventView })
  @Problems({ 400: '`invalid_request`: no note.', 404: '`not_found`', 409: '`event_not_parked`' })
  async dismiss(
    @Param('id', IdPipe) id: string,
    @Body() dto: DismissEventDto,
    @CurrentCaller() caller: Caller,
  ): Promise<EventView> {
    return eventView(await this.service.dismiss(id, dto.note, caller.name));
  }
}
