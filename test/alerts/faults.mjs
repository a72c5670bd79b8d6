// One planted fault for each alert rule: what is done, what its first command must then say, and how it is mended.
// `w` is the world of run.mjs. The order matters: later ones take away what earlier ones need.

/** Stripe or the MoR answers so, until it is mended. */
const answer = (w, match, action) => w.control('POST', '/faults', { times: 100_000, ...match, action });
const mend = (w) => w.control('DELETE', '/faults');

export const faults = [
  {
    rule: 'CrossbillVerifyNotRun',
    planted: 'Stripe does not list events, so that no run can compare everything',
    plant: (w) => answer(w, { side: 'stripe', method: 'GET', path: '/v1/events' }, { status: 500 }),
    says: /Crossbill could not compare everything: events could not be listed/,
    mend,
  },
  {
    rule: 'CrossbillReviewUrgent',
    planted: 'Stripe refuses a payment record for good (400)',
    async plant(w) {
      await answer(w, { side: 'stripe', method: 'POST', path: '/v1/payment_records/report_payment' }, { status: 400 });
      await w.paidRenewal();
    },
    says: /effect_failed/,
    mend,
  },
  {
    rule: 'CrossbillReviewsOpen',
    planted: 'more money than is due arrives for an invoice',
    plant: (w) => w.paidRenewal(1),
    says: /amount_mismatch/,
  },
  {
    rule: 'CrossbillDisputeDue',
    planted: 'the MoR wants evidence within twelve hours',
    async plant(w) {
      const pspReference = await w.paidRenewal();
      const deadline = new Date(Date.now() + 12 * 3_600_000).toISOString();
      await w.control('POST', '/events', {
        type: 'dispute.action_needed',
        data: { disputeId: 'dp_due', pspReference, deadline },
      });
    },
    says: /dispute/,
  },
  {
    rule: 'CrossbillWebhooksRefusing',
    planted: 'the endpoint at Stripe signs with another secret',
    async plant(w) {
      await w.control('POST', '/clock', { advance_sec: 600 }); // what is younger than two minutes may be on its way
      await w.stripeEndpoint('whsec_of_somebody_else');
      await w.renew();
    },
    says: /arrival of Stripe’s events +\d+ of the newest \d+ did not come[\s\S]*STRIPE_WEBHOOK_SECRETS/,
    mend: (w) => w.stripeEndpoint(),
  },
  {
    rule: 'CrossbillQuarantine',
    planted: 'a delivery whose time is an hour off',
    plant: (w) => w.deliver('mor_payments', '{"id":"evt_late","type":"payment.failed","data":{"object":{}}}', -3600),
    says: /evt_late .*quarantined|quarantined.*evt_late/,
  },
  {
    rule: 'CrossbillEventsParked',
    planted: 'an authentic payment event without a payment',
    plant: (w) => w.deliver('mor_payments', '{"id":"evt_empty","type":"payment.succeeded","data":{"object":{}}}'),
    says: /evt_empty/,
  },
  {
    rule: 'CrossbillTaxIntegration',
    planted: 'the tax provider refuses the credentials of the MoR',
    async plant(w) {
      await w.control('POST', '/tax', { fail: 'integration_credentials_invalid' });
      await w.taxedSignup();
    },
    says: /tax integration at the MoR +[\s\S]*Ask the MoR/,
    mend: (w) => w.control('POST', '/tax', { fail: null }),
  },
  {
    rule: 'CrossbillNotifications',
    planted: 'the receiver of notifications answers 410',
    async plant(w) {
      w.receiver.status = 410;
      await w.paidRenewal();
    },
    says: /notifications +the receiver answered 410/,
    mend: (w) => void (w.receiver.status = 200),
  },
  {
    rule: 'CrossbillCallsStopped',
    planted: 'the key is revoked: Stripe answers 401',
    async plant(w) {
      await answer(w, { side: 'stripe' }, { status: 401 });
      await w.paidRenewal();
    },
    says: /FAIL +Stripe key +401[\s\S]*STRIPE_API_KEY/,
    mend,
  },
  {
    rule: 'CrossbillQueueOld',
    planted: 'Stripe answers every payment record with 503',
    async plant(w) {
      await answer(w, { side: 'stripe', method: 'POST', path: '/v1/payment_records/report_payment' }, { status: 503 });
      await w.paidRenewal();
    },
    says: /Failing calls, repeated by Crossbill[\s\S]*report_payment +in_\S+ +\d+ .*503/,
  },
  {
    rule: 'CrossbillCallFailures',
    planted: 'Stripe answers everything with 503',
    async plant(w) {
      await answer(w, { side: 'stripe' }, { status: 503 });
      await w.paidRenewal();
    },
    says: /Failing calls, repeated by Crossbill[\s\S]*503/,
    mend,
  },
  {
    rule: 'CrossbillNoStripeEvents',
    planted: 'the endpoint at Stripe is deleted; the last event was two days ago',
    async plant(w) {
      await w.control('DELETE', '/stripe/webhook-endpoints/all');
      await w.sql(`update inbox_event set received_at = received_at - interval '2 days' where source = 'stripe'`);
    },
    says: /FAIL +webhook endpoint at Stripe +none of 0 points at[\s\S]*WARN +traffic from stripe +last event 2 days ago/,
    mend: (w) => w.stripeEndpoint(),
  },
  {
    rule: 'CrossbillNoMorPayments',
    planted: 'the MoR delivers to another address; its last payment event was two days ago',
    async plant(w) {
      await w.control('POST', '/payment-webhook', { url: 'http://127.0.0.1:9/elsewhere', secret: 'elsewhere' });
      await w.sql(`update inbox_event set received_at = received_at - interval '2 days' where source = 'mor_payments'`);
    },
    says: /WARN +traffic from mor_payments +last event 2 days ago/,
    mend: (w) => w.paymentWebhook(),
  },
  {
    rule: 'CrossbillVerifyDifferences',
    planted: 'an event of Stripe is lost; the daily run looks',
    async plant(w) {
      await answer(w, { target: 'deliveries', side: 'stripe' }, 'lose');
      await w.renew();
      await w.control('POST', '/clock', { advance_sec: 600 });
      await mend(w);
      await w.dailyVerify();
    },
    says: /event_never_delivered[\s\S]*crossbill verify --repair/,
  },
  {
    rule: 'CrossbillIntakeNotStored',
    planted: 'the database is gone',
    async plant(w) {
      w.database('cut');
      w.keepDelivering();
    },
    says: /The database does not answer/,
  },
  {
    rule: 'CrossbillWebhook5xx',
    planted: 'the same',
    plant: () => undefined,
    says: /FAIL +database +cannot be reached/,
    mend: (w) => w.database('pass'),
  },
  {
    rule: 'CrossbillReplicaDown',
    planted: 'one replica restarts with a wrong database password',
    plant: (w) => w.restartSecond({ DATABASE_URL: w.wrongPassword() }),
    says: /password authentication failed/,
    mend: (w) => w.restartSecond(),
  },
  {
    rule: 'CrossbillNotReady',
    planted: 'all replicas restart while the database is gone',
    async plant(w) {
      w.database('cut');
      await w.restartAll();
    },
    says: /"code":"starting"/,
    mend: (w) => w.database('pass'),
  },
];
