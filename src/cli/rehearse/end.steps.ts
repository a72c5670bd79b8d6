// The end: all three sides compared, and what events and signatures look like.
import { VerifyFlow } from '../../verify/verify.flow.js';
import { listOf, namesIn, textAt } from './json.js';
import { failed, passed, type Stage, type Step } from './stage.js';
import { askKeyAgain } from './start.steps.js';

export const verify: Step = {
  name: 'verify',
  does: 'Compares the books with Stripe and the MoR, as crossbill verify does.',
  async run(stage) {
    const world = await stage.cli.open();
    const since = new Date(Date.parse(stage.rehearsal.startedAt) - 3_600_000);
    const report = await world
      .get(VerifyFlow)
      .run({ since, young: true, onProgress: () => undefined, signal: stage.cli.io.signal });
    if (report.problem !== null) return failed(`Not everything could be compared: ${report.problem}.`);
    const ours = new Set(Object.values(stage.rehearsal.ids));
    const mine = report.differences.filter((d) => ours.has(d.invoiceId ?? ''));
    const others = report.differences.length - mine.length;
    if (mine.length > 0) return failed(mine.map((d) => `${d.kind} on ${d.invoiceId ?? ''}`).join(', '));
    return passed(`No difference on the invoices of this rehearsal${others === 0 ? '' : `; ${others} on others`}.`);
  },
};

const EVENTS = [
  'payment.succeeded',
  'payment.failed',
  'payment.requires_action',
  'payment.refunded',
  'payment.captured',
  'dispute.action_needed',
  'dispute.revision_requested',
  'dispute.outcome',
  'pre_chargeback_alert.received',
  'pre_chargeback_alert.outcome',
];

/** What can be seen at any time, also after a step that failed. Its own failures change nothing. */
export async function look(stage: Stage): Promise<void> {
  await askKeyAgain(stage);
  const about = await stage.daemon.get('/v1/about');
  for (const s of listOf(about.body['signatures'])) {
    const [source, form, malformed] = ['source', 'form', 'malformed_form'].map((n) => textAt(s, n));
    if (source === 'stripe' || (form === null && malformed === null)) continue;
    stage.observe('signatures', {
      endpoint: source ?? '',
      accepted_form: form ?? null,
      malformed_form: malformed ?? null,
    });
  }
  for (const type of EVENTS) {
    const [newest] = listOf((await stage.daemon.get(`/v1/events?type=${type}&limit=1`)).body['data']);
    if (newest === undefined) continue;
    const event = (await stage.daemon.get(`/v1/events/${textAt(newest, 'id') ?? ''}`)).body;
    stage.observe('event_fields', { type, members: namesIn(event['body']) });
  }
}
