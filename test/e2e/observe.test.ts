// Following one event: its name is in each log line about it, and its webhook, decision and calls are one trace at a collector.
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSources } from '../architecture/import-rules.js';
import { type Json, startWorld, type Subscriber, type World } from '../support/world.js';
import { deafMor, newPaid, openRenewal, tellSucceeded } from './support/story.js';

type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Json }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
};
type Export = { readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: Span[] }[] }[] };

/** An OpenTelemetry collector, as far as OTLP/HTTP with JSON goes. */
class Collector {
  readonly bodies: string[] = [];
  readonly paths: string[] = [];
  private readonly server: Server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      this.paths.push(`${req.method ?? ''} ${req.url ?? ''}`);
      this.bodies.push(body);
      res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/otel`;
  }

  get spans(): Span[] {
    return this.bodies.flatMap((b) =>
      (JSON.parse(b) as Export).resourceSpans.flatMap((r) => r.scopeSpans.flatMap((s) => s.spans)),
    );
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a renewal with a collector configured', () => {
  const collector = new Collector();
  let world: World;
  let s: Subscriber;
  let invoiceId: string;
  let event: string;

  beforeAll(async () => {
    const endpoint = await collector.start();
    world = await startWorld({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    const daemon = await world.startDaemon();
    s = await world.subscriber({ email: 'grace.hidden@example.com' });
    await world.invoice(s.firstInvoiceId, 'paid');
    await deafMor(world);
    invoiceId = await openRenewal(world, s);
    await world.until(
      'the invoice is known to be final',
      () => world.api('GET', `/v1/invoices/${invoiceId}`),
      (r) => JSON.stringify(r.body['timeline'] ?? []).includes('invoice.finalized'),
    );
    const said = { customerId: s.customerId, invoiceId, amount: 2990 };
    event = `mor_payments:${await tellSucceeded(world, newPaid(), said)}`;
    await world.invoice(invoiceId, 'paid');
    await daemon.stop(); // delivers what is left
  });
  afterAll(async () => {
    await world.close();
    await collector.stop();
  });

  const attribute = (span: Span, key: string): unknown => span.attributes.find((a) => a.key === key)?.value;
  const ofInvoice = (): Span[] => {
    // Anybody can find the trace of an invoice: its id is the first half of the SHA-256 of the invoice's.
    const traceId = createHash('sha256').update(invoiceId).digest('hex').slice(0, 32);
    return collector.spans.filter((span) => span.traceId === traceId);
  };

  it('is one trace: the webhook, below it the work on the lane, and in it the decision and the three calls at Stripe', () => {
    expect(new Set(collector.paths)).toEqual(new Set(['POST /otel/v1/traces']));
    const spans = ofInvoice();
    const webhook = spans.find((x) => x.name === 'webhook payment.succeeded');
    expect(webhook && attribute(webhook, 'crossbill.event')).toEqual({ stringValue: event });
    const work = spans.filter((x) => x.name === 'work lane' && x.parentSpanId === webhook?.spanId);
    expect(work).toHaveLength(1);
    const steps = spans.filter((x) => x.parentSpanId === work[0]?.spanId);
    expect(steps.map((x) => x.name).filter((n) => n.startsWith('call '))).toEqual([
      'call read-invoice',
      'call report_payment',
      'call attach_payment',
    ]);
    const decisions = steps.filter((x) => x.name === 'decide');
    const linked = decisions.flatMap((x) => (x.links ?? []).map((l) => l.spanId));
    expect(linked.filter((id) => id === webhook?.spanId)).toHaveLength(1);
    for (const call of steps.filter((x) => x.name.startsWith('call '))) {
      expect(attribute(call, 'http.response.status_code')).toEqual({ intValue: 200 });
    }
  });

  it('has the webhooks of the invoice in the same trace, and the signup’s invoice in another', () => {
    const names = ofInvoice().map((x) => x.name);
    expect(names).toEqual(expect.arrayContaining(['webhook invoice.created', 'webhook invoice.finalized']));
    expect(new Set(collector.spans.map((x) => x.traceId)).size).toBeGreaterThan(1);
  });

  it('tells the collector no secret and nothing of a person', () => {
    const told = collector.bodies.join('\n');
    const { secrets } = world.sandbox;
    const hidden = [secrets.stripeApiKey, secrets.merchant.clientSecret, secrets.paymentWebhookSecret, 'grace.hidden'];
    for (const text of hidden) expect(told).not.toContain(text);
  });

  it('names the event in every log line from the door to the last call', () => {
    const lines = world.logLines.map((l) => JSON.parse(l) as Json);
    const about = lines.filter((l) => l['event'] === event || (l['events'] as string[] | undefined)?.includes(event));
    expect(about.map((l) => (l['msg'] === 'call' ? l['call'] : l['msg'])).sort()).toEqual([
      'attach_payment',
      'event decided',
      'event stored',
      'read-invoice',
      'report_payment',
    ]);
    for (const line of about) expect(line['lane']).toBe(invoiceId);
    const calls = lines.filter((l) => l['msg'] === 'call' || l['msg'] === 'call failed');
    for (const call of calls) expect([call['call'], call['lane']]).toEqual([expect.any(String), expect.any(String)]);
  });
});

describe('without a collector', () => {
  it('nothing of OpenTelemetry is even loaded: one file uses it, and one line loads that file', () => {
    const sources = readSources('src');
    const using = sources.filter(({ text }) => text.includes('@opentelemetry/')).map(({ path }) => path);
    expect(using).toEqual(['observe/otlp-tracer.ts']);
    const loading = sources.filter(({ text }) => text.includes('otlp-tracer.js'));
    expect(loading.map(({ path }) => path)).toEqual(['observe/open-tracer.ts']);
    expect(loading[0]?.text).toContain('if (endpoint === null) return null;\n  const { OtlpTracer } = await import(');
  });
});
