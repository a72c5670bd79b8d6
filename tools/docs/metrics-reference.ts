// Generates the reference of metrics: names and help from the registry itself, labels from one sample of each metric.
import { shadowGauge } from '#src/features/shadow/shadow.module.js';
import { Metrics } from '#src/shared/observe/index.js';
import { code, madeFrom, page, table } from './markdown.js';

type Metric = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
};

/** Every metric of Crossbill itself, in the order of the registry. */
export async function metricsOf(): Promise<readonly Metric[]> {
  const metrics = new Metrics({ eventTypes: [], now: () => new Date(0) });
  // A label appears in the text only when its metric has a value.
  metrics.event('stripe', 'other', 'stored');
  metrics.webhookReply('stripe', 200);
  metrics.webhookRefusal('stripe', 'signature_mismatch');
  metrics.call('stripe', 'read_invoice', 'answered', 1);
  metrics.refusal('tax.calculate', 'integration_not_configured');
  metrics.decision('invoice.created', 'done');
  metrics.queues({ inbox: 0, outbox: 0 }, null);
  metrics.eventsParked(0);
  metrics.reviewsOpen({ dispute: 0 }, { dispute: 0 });
  metrics.verified({ no_verdict: 0 }, null);
  metrics.notificationsStand(0, 0, false);
  metrics.notified('delivered');
  shadowGauge(metrics)({ agreed: 0, unmarked: 0 });
  const text = await metrics.text();
  const names = [...text.matchAll(/^# HELP (crossbill_\w+) (.+)$/gm)];
  return names.map(([, name = '', help = '']) => ({
    name,
    help,
    type: new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1] ?? '',
    labels: labelsOf(text, name),
  }));
}

/** The label `le` comes with every histogram, so it is left out. */
function labelsOf(text: string, name: string): readonly string[] {
  const sample = new RegExp(`^${name}(?:_bucket)?\\{(.*)\\} \\S+$`, 'm').exec(text)?.[1] ?? '';
  return [...sample.matchAll(/(\w+)="/g)].flatMap(([, label]) =>
    label === undefined || label === 'le' ? [] : [label],
  );
}

export async function renderMetrics(): Promise<string> {
  const metrics = await metricsOf();
  return page([
    '# Metrics',
    madeFrom('the registry in `src/shared/observe/metrics.ts`'),
    '`GET /metrics`, Prometheus text format, no key. Counters and histograms are of one process since it started: sum them over replicas. A metric whose help says "in the whole database" is the same in every replica: take the maximum. No label holds an id, an amount or text from outside.',
    table(
      ['name', 'type', 'labels', 'meaning'],
      metrics.map((m) => [code(m.name), m.type, m.labels.map(code).join(', ') || '–', m.help]),
    ),
    'Beside these the page has the default metrics of `prom-client` about the process (`process_…`, `nodejs_…`).',
  ]);
}
