// A decided call as the log keeps it: its wire request laid flat, and what it asks for as JSON.
import { type OutboxRow } from '../domain/model.js';
import { type BillingCall } from '../domain/ports/billing-platform.js';
import { type Codec } from '../store/codec.js';

export type FlatMessage = Omit<OutboxRow, 'wire' | 'asked'> & {
  method: string;
  path: string;
  body: string | null;
  asked: unknown;
};

export const MESSAGE: Codec<FlatMessage> = {
  table: '',
  key: ['id'],
  columns: {
    id: 'text',
    lane: 'text',
    peer: 'text',
    kind: 'text',
    subject: 'text',
    paymentRowId: 'text',
    generation: 'int',
    key: 'text',
    method: 'text',
    path: 'text',
    body: 'text',
    asked: 'json',
    status: 'text',
    attempts: 'int',
    firstTriedAt: 'time',
    nextTryAt: 'time',
    lastStatus: 'int',
    lastCode: 'text',
    lastMessage: 'text',
    lastRequestId: 'text',
    replaying: 'bool',
    createdAt: 'time',
    answeredAt: 'time',
  },
};

/** Member by member: three times as fast as spreading, and every step of a lane does it. */
export function flat(m: OutboxRow): FlatMessage {
  return {
    id: m.id,
    lane: m.lane,
    peer: m.peer,
    kind: m.kind,
    subject: m.subject,
    paymentRowId: m.paymentRowId,
    generation: m.generation,
    key: m.key,
    method: m.wire.method,
    path: m.wire.path,
    body: m.wire.body,
    asked: m.asked === null ? null : askedJson(m.asked),
    status: m.status,
    attempts: m.attempts,
    firstTriedAt: m.firstTriedAt,
    nextTryAt: m.nextTryAt,
    lastStatus: m.lastStatus,
    lastCode: m.lastCode,
    lastMessage: m.lastMessage,
    lastRequestId: m.lastRequestId,
    replaying: m.replaying,
    createdAt: m.createdAt,
    answeredAt: m.answeredAt,
  };
}

export function unflat(f: FlatMessage): OutboxRow {
  const { method, path, body, asked, ...rest } = f;
  const wire = { method: method as OutboxRow['wire']['method'], path, body };
  return { ...rest, wire, asked: asked === null ? null : askedOf(asked as AskedJson) };
}

/** A call as JSON holds it: amounts and times are texts. */
type AskedJson = Record<string, unknown> & { readonly amount?: { readonly minor: string; readonly currency: string } };

/** A call is asked once and compared at each step: the same call gives the same object. */
const asJson = new WeakMap<BillingCall, AskedJson>();

function askedJson(call: BillingCall): AskedJson {
  const known = asJson.get(call);
  if (known !== undefined) return known;
  const out: Record<string, unknown> = {};
  for (const [name, v] of Object.entries(call)) out[name] = v instanceof Date ? v.toISOString() : (v as unknown);
  if ('amount' in call) out['amount'] = { ...call.amount, minor: call.amount.minor.toString() };
  asJson.set(call, out);
  return out;
}

/** The log's own row vouches for what it holds. */
function askedOf(json: AskedJson): BillingCall {
  const out: Record<string, unknown> = { ...json };
  for (const name of ['initiatedAt', 'guaranteedAt', 'refundedAt'])
    if (name in out) out[name] = new Date(String(out[name]));
  if (json.amount !== undefined) out['amount'] = { ...json.amount, minor: BigInt(json.amount.minor) };
  return out as BillingCall;
}
