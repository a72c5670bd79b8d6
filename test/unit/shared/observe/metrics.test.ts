// The numbers of /metrics: named, explained, and with bounded labels.
import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { Metrics } from '../../../../src/shared/observe/index.js';

function someMetrics(): { metrics: Metrics; setNow: (at: string) => void } {
  let now = new Date('2026-11-20T12:00:00Z');
  const metrics = new Metrics({ eventTypes: ['invoice.created', 'payment.succeeded'], now: () => now });
  return { metrics, setNow: (at) => (now = new Date(at)) };
}

it('the metrics count events by type, and all unknown types together', async () => {
  const { metrics } = someMetrics();
  metrics.event('stripe', 'invoice.created', 'stored');
  metrics.event('stripe', 'made.up.1', 'ignored');
  metrics.event('stripe', 'made.up.2', 'ignored');
  const text = await metrics.text();
  expect(text).toContain('crossbill_events_total{source="stripe",type="invoice.created",outcome="stored"} 1');
  expect(text).toContain('crossbill_events_total{source="stripe",type="other",outcome="ignored"} 2');
  expect(text).not.toContain('made.up');
});

it('the metrics count webhook replies, calls, decisions and open review items', async () => {
  const { metrics } = someMetrics();
  metrics.webhookReply('mor_payments', 503);
  metrics.webhookRefusal('stripe', 'database');
  metrics.webhookRefusal(null, 'bad_request');
  metrics.eventsParked(4);
  metrics.call('stripe', 'report_payment', 'answered', 0.15);
  metrics.call('stripe', 'report_payment', 'unknown', 10);
  metrics.decision('payment', 'mark-paid');
  metrics.reviewsOpen({ double_payment: 2, refund_gap: 1 });
  metrics.reviewsOpen({ refund_gap: 3, dispute: 1 }, { dispute: -60 });
  const text = await metrics.text();
  expect(text).toContain('crossbill_webhook_answers_total{endpoint="mor_payments",status="503"} 1');
  expect(text).toContain('crossbill_webhook_refusals_total{endpoint="stripe",reason="database"} 1');
  expect(text).toContain('crossbill_webhook_refusals_total{endpoint="unknown",reason="bad_request"} 1');
  expect(text).toContain('crossbill_events_parked 4');
  expect(text).toContain('crossbill_calls_total{peer="stripe",call="report_payment",outcome="unknown"} 1');
  expect(text).toContain('crossbill_call_seconds_count{peer="stripe",call="report_payment"} 2');
  expect(text).toContain('crossbill_decisions_total{flow="payment",decision="mark-paid"} 1');
  expect(text).toContain('crossbill_reviews_open{kind="refund_gap"} 3');
  expect(text).toContain('crossbill_review_due_seconds{kind="dispute"} -60');
  expect(text).not.toContain('crossbill_review_due_seconds{kind="refund_gap"}');
  expect(text).not.toContain('double_payment');
});

it('the metric for the age of the oldest queued item goes on growing between two measurements of the queue', async () => {
  const { metrics, setNow } = someMetrics();
  expect(await metrics.text()).toContain('crossbill_queue_oldest_age_seconds 0');
  metrics.queues({ inbox: 3, outbox: 7 }, new Date('2026-11-20T11:59:50Z'));
  expect(await metrics.text()).toContain('crossbill_queue_oldest_age_seconds 10');
  setNow('2026-11-20T12:10:00Z');
  const text = await metrics.text();
  expect(text).toContain('crossbill_queue_oldest_age_seconds 610');
  expect(text).toContain('crossbill_queue_depth{queue="outbox"} 7');
  metrics.queues({ inbox: 0, outbox: 0 }, null);
  expect(await metrics.text()).toContain('crossbill_queue_oldest_age_seconds 0');
});

it('the metrics name the version of the replica', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await someMetrics().metrics.text()).toContain(`crossbill_build_info{version="${version}"} 1`);
});

it('each metric has a help text, some metrics describe the process, and two registries count separately', async () => {
  const [one, two] = [someMetrics().metrics, someMetrics().metrics];
  one.decision('payment', 'mark-paid');
  const text = await two.text();
  expect(text).not.toContain('decision="mark-paid"');
  for (const name of text.matchAll(/^# TYPE (\S+)/gm)) expect(text).toMatch(new RegExp(`# HELP ${name[1]} \\S`));
  expect(text).toContain('process_resident_memory_bytes');
  expect(two.contentType).toContain('text/plain');
});
