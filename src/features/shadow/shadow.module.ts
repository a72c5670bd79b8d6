// Shows that shadow mode is on: in the log, on each page of the console, in the metrics and in `crossbill status`.
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Application } from 'express';
import { Gauges } from '../../core/health/gauges.js';
import { HealthModule } from '../../core/health/health.module.js';
import { html } from '../../frames/console/html.js';
import { BANNER } from '../../frames/console/layout.js';
import { CONFIG, type Config } from '../../shared/config/index.js';
import { LOG, type Logger, Metrics } from '../../shared/observe/index.js';
import { ShadowRepository } from './shadow.repository.js';

const NOTE = html`<p class="shadow" role="note">
  <strong>Shadow mode.</strong> Crossbill records its decisions and changes nothing at Stripe or the MoR.
  <code>crossbill shadow</code>
  compares them with the marks on Stripe.
</p>`;

/** The metric of shadow mode. Without shadow mode it has no value. */
export function shadowGauge(metrics: Metrics): (marks: { readonly agreed: number; readonly unmarked: number }) => void {
  const gauge = metrics.gauge(
    'crossbill_shadow_marks',
    'In shadow mode: decided marks in the whole database, made by somebody else (agreed) or by nobody (unmarked).',
    ['outcome'],
  );
  return (marks) => {
    for (const outcome of ['agreed', 'unmarked'] as const) gauge.set({ outcome }, marks[outcome]);
  };
}

@Module({ imports: [HealthModule], providers: [ShadowRepository], exports: [ShadowRepository] })
export class ShadowModule implements OnModuleInit {
  constructor(
    private readonly books: ShadowRepository,
    private readonly gauges: Gauges,
    private readonly metrics: Metrics,
    private readonly http: HttpAdapterHost,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  onModuleInit(): void {
    const show = shadowGauge(this.metrics);
    const isOn = this.config.sendsNothing;
    if (!isOn) return;
    this.gauges.add(async () => show(await this.books.status()));
    const text = 'shadow mode: Crossbill records decisions and changes nothing at Stripe or the MoR';
    this.log.warn({ event: 'daemon.shadow' }, text);
    const { httpAdapter }: Partial<HttpAdapterHost> = this.http; // a command has no HTTP server
    httpAdapter?.getInstance<Application>().set(BANNER, NOTE);
  }
}
