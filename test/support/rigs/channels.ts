// What the tests of the MoR's other channels share: an open invoice, its review items, and events with the MoR's
// signature.
import pg from 'pg';
import { changeByHand } from './lane-log.js';
import { sign } from '../builders/signing.js';
import { type Json, type World } from './world.js';

const RECIPIENT: Json = {
  legalName: 'Ada Example Ltd',
  address: { line1: '1 High Street', locality: 'London', postalCode: 'N1 1AA', country: 'GB' },
  taxIdentifiers: [{ type: 'GB_VAT', code: 'GB123456789', country: 'GB' }],
  contact: { email: 'ada@example.com' },
};

/** The fields the API needs for a proforma invoice of a customer in Britain. */
export const PROFORMA = { jurisdiction: 'GB', due_date: '2099-12-31', recipient: RECIPIENT };

/** An open invoice of 29.90 EUR. The MoR declined its card renewal. */
export async function openInvoice(world: World): Promise<string> {
  const s = await world.subscriber();
  await world.invoice(s.firstInvoiceId, 'paid');
  await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
  const id = await world.renew(s.subscriptionId);
  await world.invoice(id, 'open');
  await world.advance(3_700);
  await world.until(
    'Stripe has finalized it',
    () => world.stripe.invoices.retrieve(id),
    (i) => i.status === 'open',
  );
  return id;
}

export async function stripeStatus(world: World, id: string): Promise<string | null> {
  return (await world.stripe.invoices.retrieve(id)).status;
}

/** Waits until the invoice has open items of a kind. */
export async function reviewsOf(world: World, invoiceId: string, kind: string): Promise<Json[]> {
  const pick = (body: Json): Json[] =>
    (body['reviews'] as Json[]).filter((r) => r['kind'] === kind && r['status'] === 'open');
  const seen = await world.until(
    `${invoiceId} has a ${kind} item`,
    () => world.api('GET', `/v1/invoices/${invoiceId}`),
    (r) => pick(r.body).length > 0,
  );
  return pick(seen.body);
}

/** Delivers an event to the first daemon's events endpoint. */
export async function sendEvent(
  world: World,
  event: { readonly id: string; readonly type: string; readonly created: string; readonly data: Json },
): Promise<void> {
  const body = JSON.stringify(event);
  const response = await fetch(`${world.daemons[0]?.url ?? ''}/webhooks/mor/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'service-signature': sign(body, world.sandbox.secrets.eventWebhookSecret),
    },
    body,
  });
  if (response.status !== 200) throw new Error(`the endpoint answered ${response.status}`);
}

/** Loses the MoR's next event of a type, and every repeat of it. */
export async function loseNext(world: World, type: string): Promise<void> {
  await world.control('POST', '/faults', { target: 'deliveries', side: 'mor', type, times: 1, action: 'lose' });
}

/** Lets time pass for one invoice only: its later looks happen now, and waits of an hour end. */
export async function timePasses(world: World, invoiceId: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 1, pipeline: true });
  try {
    await changeByHand(pool, invoiceId, (s) => ({
      ...s,
      objects: s.objects.map((o) => ({
        ...o,
        readDueAt: o.readDueAt === null ? null : new Date(),
        updatedAt: new Date(o.updatedAt.getTime() - 3_600_000),
      })),
    }));
  } finally {
    await pool.end();
  }
}

/** Finds an inbox event by the sender's id. Undefined: there is none. */
export async function eventNamed(world: World, eventId: string): Promise<Json | undefined> {
  const { body } = await world.api('GET', `/v1/events?event_id=${encodeURIComponent(eventId)}`);
  return (body['data'] as Json[])[0];
}

/** Calls the MoR as the merchant's own program does, without the daemon. */
export async function atMor(world: World, path: string, body: Json): Promise<Json> {
  const { clientId, clientSecret } = world.sandbox.secrets.merchant;
  const grant = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const token = await fetch(`${world.sandbox.morUrl}/oauth2/token`, { method: 'POST', body: grant });
  const { access_token: bearer } = (await token.json()) as { access_token: string };
  const reply = await fetch(`${world.sandbox.morUrl}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as Json;
}
