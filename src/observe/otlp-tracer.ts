// Spans to an OpenTelemetry collector over OTLP/HTTP. Loaded only when one is configured (`tracerOf`).
import { createHash, randomBytes } from 'node:crypto';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  type SpanContext,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { type SpanTime, type TracedCall, type TracedEvent, type TracedWork, Tracer } from './tracer.js';

/** Trouble with the collector is logged once in this time, in milliseconds: it must not flood the log. */
const TELL_EVERY_MS = 60_000;

export class OtlpTracer extends Tracer {
  private readonly ids = new GivenIds();
  private readonly provider: BasicTracerProvider;

  /** `endpoint`: the collector's base URL, to which `/v1/traces` is appended. `OTEL_EXPORTER_OTLP_HEADERS` and its kin are read by the exporter itself. */
  constructor(endpoint: string, onTrouble: (error: unknown) => void) {
    super();
    const exporter = telling(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), onTrouble);
    this.provider = new BasicTracerProvider({
      // `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over the name of ours.
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'crossbill' }))
        .merge(detectResources({ detectors: [envDetector] })),
      idGenerator: this.ids,
      // The ids are made of names, so all replicas would have to choose alike: choosing is the collector's business.
      sampler: new AlwaysOnSampler(),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
  }

  webhook(event: TracedEvent, outcome: string, time: SpanTime): void {
    const first = webhookSpan(event);
    // A repeated delivery is a span of its own below the first one.
    const again = outcome === 'stored' ? null : first;
    const attributes = { ...aboutEvent(event), 'crossbill.outcome': outcome };
    const id = again === null ? first.spanId : null;
    this.span(`webhook ${event.type}`, {
      id,
      traceId: first.traceId,
      parent: again,
      kind: SpanKind.SERVER,
      attributes,
      time,
    });
  }

  decision(work: TracedWork, decided: readonly TracedEvent[], time: SpanTime): void {
    this.span('decide', {
      traceId: traceOf(work.lane),
      parent: workSpan(work),
      attributes: aboutWork({ ...work, events: decided }),
      links: decided.map((event) => ({ context: webhookSpan(event) })),
      time,
    });
  }

  call(work: TracedWork, call: TracedCall, time: SpanTime): void {
    const attributes: Attributes = { ...aboutWork(work), 'crossbill.call': call.name };
    if (call.status !== null) attributes['http.response.status_code'] = call.status;
    if (call.requestId !== null) attributes['crossbill.request_id'] = call.requestId;
    if (call.failure !== null) attributes['error.type'] = call.failure;
    const failed = call.failure !== null;
    this.span(`call ${call.name}`, {
      traceId: traceOf(work.lane),
      parent: workSpan(work),
      kind: SpanKind.CLIENT,
      attributes,
      failed,
      time,
    });
  }

  work(work: TracedWork, time: SpanTime): void {
    const traceId = traceOf(work.lane);
    const webhooks = work.events.map(webhookSpan);
    this.span('work lane', {
      id: workSpan(work).spanId,
      traceId,
      // The first event set it off. One that was routed here from another lane has a trace of its own and is linked.
      parent: webhooks.find((w) => w.traceId === traceId) ?? null,
      attributes: aboutWork(work),
      links: webhooks.map((context) => ({ context })),
      time,
    });
  }

  async close(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([this.provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }

  private span(name: string, about: SpanAbout): void {
    const { traceId, parent, time, attributes, links = [], kind = SpanKind.INTERNAL } = about;
    this.ids.next = { traceId, spanId: about.id ?? null };
    const context: Context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const options = { kind, attributes, links, startTime: time.startedAt };
    const span = this.provider.getTracer('crossbill').startSpan(name, options, context);
    if (about.failed === true) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(Math.max(time.startedAt, time.endedAt));
  }
}

type SpanAbout = {
  /** Null or left out: any. */
  readonly id?: string | null;
  readonly traceId: string;
  readonly parent: SpanContext | null;
  readonly kind?: SpanKind;
  readonly attributes: Attributes;
  readonly links?: { context: SpanContext }[];
  readonly failed?: boolean;
  readonly time: SpanTime;
};

/** Hands out the ids that were chosen for the next span, and random ones where none was. */
class GivenIds implements IdGenerator {
  next: { readonly traceId: string; readonly spanId: string | null } | null = null;

  generateTraceId = (): string => this.next?.traceId ?? randomBytes(16).toString('hex');

  generateSpanId = (): string => this.next?.spanId ?? randomBytes(8).toString('hex');
}

function hex(text: string, bytes: number): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2);
}

/** The trace of a lane, and so of an invoice: the first half of the SHA-256 of its name. */
function traceOf(lane: string): string {
  return hex(lane, 16);
}

/** The lane of an event that does not name its invoice is left when its invoice is found: it keeps a trace of its own. */
function webhookSpan({ source, eventId, lane }: TracedEvent): SpanContext {
  const name = `${source}:${eventId}`;
  return contextOf(traceOf(source === 'mor_events' ? name : lane), `webhook ${name}`);
}

function workSpan({ lane, fence }: TracedWork): SpanContext {
  return contextOf(traceOf(lane), `work ${lane} ${fence}`);
}

function contextOf(traceId: string, name: string): SpanContext {
  return { traceId, spanId: hex(name, 8), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

function aboutEvent({ source, eventId, type, lane }: TracedEvent): Attributes {
  return { 'crossbill.lane': lane, 'crossbill.event': `${source}:${eventId}`, 'crossbill.event_type': type };
}

function aboutWork({ lane, events }: TracedWork): Attributes {
  return { 'crossbill.lane': lane, 'crossbill.events': events.map((e) => `${e.source}:${e.eventId}`) };
}

/** The exporter, with a word to us when the collector does not take what it is sent. */
function telling(inner: SpanExporter, onTrouble: (error: unknown) => void): SpanExporter {
  let toldAt = -TELL_EVERY_MS;
  return {
    export: (spans, done) =>
      inner.export(spans, (result) => {
        if (Number(result.code) !== 0 && performance.now() - toldAt >= TELL_EVERY_MS) {
          toldAt = performance.now();
          onTrouble(result.error ?? new Error('the collector did not take the spans'));
        }
        done(result);
      }),
    shutdown: () => inner.shutdown(),
    forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
  };
}
