// `verifyWebhook` on deliveries of the daemon's own sender.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Notification, NotVerifiedError, verifyWebhook } from '../../packages/client/src/index.js';
import { Secret } from '../../src/shared/config/index.js';
import { NOTIFICATION_TYPES, sampleOf, putDown } from '../../src/features/notifications/rules/all.js';
import { HttpReceiver } from '../../src/features/notifications/receiver.js';
import { type Heard, newSecret, NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { STANDARD } from '../support/builders/notify-as.js';

const [OLD, NEW, OTHER] = [newSecret(1), newSecret(2), newSecret(3)];

describe('verifyWebhook', () => {
  let receiver: NotifyReceiver;
  beforeAll(async () => {
    receiver = await NotifyReceiver.open();
  });
  afterAll(() => receiver.close());

  async function delivered(type: Notification['type'], secrets = [OLD], at = new Date()): Promise<Heard> {
    const sender = new HttpReceiver(
      new Secret(receiver.url),
      secrets.map((s) => new Secret(s)),
    );
    await sender.send(putDown(sampleOf(type, 'x'), STANDARD, at), at);
    await sender.close();
    const heard = receiver.heard.at(-1);
    if (heard === undefined) throw new Error('nothing was delivered');
    return heard;
  }

  it("the client's function `verifyWebhook` accepts every notification signed by the daemon, and returns its data", async () => {
    for (const type of NOTIFICATION_TYPES) {
      const { body, headers } = await delivered(type);
      expect(verifyWebhook(body, headers, OLD)).toEqual(JSON.parse(body));
    }
    const { body, headers } = await delivered('invoice.paid');
    const notified = verifyWebhook(Buffer.from(body), new Headers(headers), OLD);
    if (notified.type !== 'invoice.paid') throw new Error(notified.type);
    expect([notified.data.invoice_id, notified.data.payments[0]?.amount]).toEqual(['in_sample', 2990]);
  });

  it("the client's function `verifyWebhook` accepts the old and the new secret during a rotation", async () => {
    const { body, headers } = await delivered('refund.failed', [NEW, OLD]);
    for (const secret of [OLD, NEW, [OTHER, NEW]])
      expect(verifyWebhook(body, headers, secret).type).toBe('refund.failed');
  });

  it("the client's function `verifyWebhook` refuses a changed or old notification, and another secret's signature", async () => {
    const { body, headers } = await delivered('invoice.paid');
    const code = (work: () => unknown): unknown => {
      try {
        return work();
      } catch (error) {
        return error instanceof NotVerifiedError ? error.code : error;
      }
    };
    const { 'webhook-id': _, ...nameless } = headers;
    expect(code(() => verifyWebhook(body, headers, OTHER))).toBe('signature_mismatch');
    expect(code(() => verifyWebhook(`${body} `, headers, OLD))).toBe('signature_mismatch');
    expect(code(() => verifyWebhook(body, { ...headers, 'webhook-id': 'msg_other' }, OLD))).toBe('signature_mismatch');
    expect(code(() => verifyWebhook(body, { ...headers, 'webhook-signature': 'v2,AAAA' }, OLD))).toBe(
      'signature_mismatch',
    );
    expect(code(() => verifyWebhook(body, nameless, OLD))).toBe('header_missing');
    const early = await delivered('invoice.paid', [OLD], new Date(Date.now() - 360_000));
    expect(code(() => verifyWebhook(early.body, early.headers, OLD))).toBe('timestamp_outside_tolerance');
    expect(() => verifyWebhook(body, headers, '')).toThrow(TypeError); // an unset secret signs nothing
  });
});
