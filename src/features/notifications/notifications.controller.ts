// The API's routes for notifications to the merchant's backend: the list, one notification, and another delivery.
import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { NOTIFICATION_STATUSES, Notifications } from '../../frames/store/notifications.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { Problems } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { given, pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { notFound } from '../../frames/api/http/problem.js';
import { Since, spanOf, Until } from '../../frames/api/http/filters.js';
import { Filter } from '../../frames/api/http/rules.js';
import {
  NotificationView,
  notificationView,
  NotificationWithTriesView,
  notificationWithTriesView,
} from './notification.view.js';
import { NOTIFICATION_TYPES } from './rules/all.js';

class NotificationsQuery extends PageQuery {
  @Filter('Only this status.', NOTIFICATION_STATUSES) status?: string;
  @Filter('Only this type.', NOTIFICATION_TYPES) type?: string;
  @Since('when Crossbill stored it') since?: string;
  @Until() until?: string;
}

@ApiTags('Notifications')
@Controller('v1/notifications')
export class NotificationsController {
  constructor(private readonly notifications: Notifications) {}

  @Get()
  @MayRead('read', 'notification.list')
  @ApiOperation({
    operationId: 'listNotifications',
    summary: 'Notifications to your backend, newest first (role: read)',
  })
  @ApiOkResponse({ type: pageOf(NotificationView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: NotificationsQuery): Promise<PageView<NotificationView>> {
    const filter = { ...given({ status: query.status, type: query.type }), ...spanOf(query) };
    return pageView(await this.notifications.list(filter, pageRequest(query)), notificationView);
  }

  @Get(':id')
  @MayRead('read', 'notification.read')
  @ApiOperation({ operationId: 'getNotification', summary: 'A notification with its body and its tries (role: read)' })
  @ApiOkResponse({ type: NotificationWithTriesView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<NotificationWithTriesView> {
    const found = await this.notifications.one(id);
    if (found === null) throw notFound('notification');
    return notificationWithTriesView(found);
  }

  @Post(':id/replay')
  @HttpCode(202)
  @MayChange('ops', 'notification.replay', { outside: false })
  @ApiOperation({
    operationId: 'replayNotification',
    summary: 'Send a notification once more (role: ops)',
    description:
      'Works for a delivered one too. Id and bytes stay the same, so your receiver recognizes it. After a 410 this starts all deliveries again. Takes no body.',
  })
  @ApiAcceptedResponse({ type: NotificationView, description: 'The notification as it now waits to be sent.' })
  @Problems({ 404: '`not_found`' })
  async replay(@Param('id', IdPipe) id: string): Promise<NotificationView> {
    const again = await this.notifications.replay(id);
    if (again === null) throw notFound('notification');
    return notificationView(again);
  }
}
