// Probes for a supervisor and a load balancer, and metrics for a scraper. They need no key and show no other data.
import { Controller, Get, HttpCode, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { HealthRepository } from './health.repository.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { Metrics } from '../../shared/observe/index.js';
import { OpenToAll } from '../../frames/api/access/access.js';
import { Example, Text } from '../../frames/api/http/docs.js';
import { Readiness } from './readiness.js';
import { Gauges } from './gauges.js';

const DATABASE_MS = 2_000;

class HealthView {
  @Example('ok') @Text('`ok`, or why not: `starting`, `stopping`, `database`.') status!: string;
}

@ApiTags('Health')
@OpenToAll()
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly health: HealthRepository,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly gauges: Gauges,
  ) {}

  @Get('livez')
  @HttpCode(200)
  @ApiOperation({ operationId: 'getLiveness', summary: 'The process answers' })
  @ApiOkResponse({ type: HealthView })
  live(): HealthView {
    return { status: 'ok' };
  }

  @Get('readyz')
  @ApiOperation({ operationId: 'getReadiness', summary: 'Ready for traffic' })
  @ApiOkResponse({ type: HealthView })
  @ApiServiceUnavailableResponse({
    type: HealthView,
    description: 'Starting, stopping, or the database takes no writes.',
  })
  async ready(@Res({ passthrough: true }) res: Response): Promise<HealthView> {
    const status = !this.readiness.ready ? this.readiness.reason : (await this.databaseReplies()) ? 'ok' : 'database';
    res.status(status === 'ok' ? 200 : 503);
    return { status };
  }

  @Get('metrics')
  @ApiOperation({ operationId: 'getMetrics', summary: 'Metrics for Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ type: String })
  async scrape(@Res() res: Response): Promise<void> {
    await this.gauges.refresh();
    res.type(this.metrics.contentType).send(await this.metrics.text());
  }

  private async databaseReplies(): Promise<boolean> {
    const timeout = new AbortController();
    const answered = this.health.ping().then(
      () => true,
      () => false,
    );
    const inTime = await Promise.race([answered, this.clock.sleep(DATABASE_MS, timeout.signal).then(() => false)]);
    timeout.abort();
    return inTime;
  }
}
