// The faults a test adds: which requests or deliveries a fault hits, how often, and its effect.
import { BadInput, Fields, type Json, type JsonObject, isObject } from './json.js';
import { type SeededRandom } from './random.js';
import { type Side } from './side.js';

const requestActions = [
  'delay_ms',
  'drop_before',
  'drop_after',
  'status',
  'status_after',
  'garble',
  'rewrite',
  'store_500',
  'duplicate',
] as const;
const deliveryActions = ['lose', 'fail', 'duplicate', 'delay_ms', 'reorder', 'restamp'] as const;

export type FaultKind = (typeof requestActions)[number] | (typeof deliveryActions)[number];

/** The effect of a fault. `delayMs`, `status` and the other members apply only to some kinds. */
export type FaultAction = {
  readonly kind: FaultKind;
  readonly delayMs: number;
  readonly status: number;
  readonly code: string | null;
  readonly body: Json | undefined;
  /** `rewrite`: these members replace members of the reply, for example with a word the documents do not list. */
  readonly set: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** `reorder`: the delivery waits until this many later deliveries went out. */
  readonly after: number;
  /** `store_500`: whether the request takes effect before the stored 500. */
  readonly effect: boolean;
};

export type FaultRule = {
  readonly id: string;
  readonly target: 'requests' | 'deliveries';
  readonly side: Side | null;
  readonly method: string | null;
  readonly path: string | null; // a prefix, or a pattern with *
  readonly type: string | null; // the event type of a delivery, or a pattern with *
  readonly probability: number;
  readonly action: FaultAction;
  timesLeft: number;
  hits: number;
};

export class Faults {
  private rules: FaultRule[] = [];
  private count = 0;

  constructor(private readonly random: SeededRandom) {}

  /** Adds a fault from the body of a control request. Throws BadInput with the name of the wrong field. */
  add(body: Json | undefined): FaultRule {
    const fields = new Fields(body);
    const target = fields.has('target') ? fields.oneOf('target', ['requests', 'deliveries'] as const) : 'requests';
    this.count += 1;
    const rule: FaultRule = {
      id: `fault_${this.count}`,
      target,
      side: fields.has('side') ? fields.oneOf('side', ['mor', 'stripe'] as const) : null,
      method: fields.optionalString('method')?.toUpperCase() ?? null,
      path: fields.optionalString('path') ?? null,
      type: fields.optionalString('type') ?? null,
      probability: fields.optionalNumber('probability', 0, 1) ?? 1,
      timesLeft: fields.optionalNumber('times', 1) ?? 1,
      action: actionOf(fields, target === 'requests' ? requestActions : deliveryActions),
      hits: 0,
    };
    this.rules.push(rule);
    return rule;
  }

  list(): readonly FaultRule[] {
    return this.rules;
  }

  clear(): void {
    this.rules = [];
  }

  /** The faults for this request: at most one delay and one other fault. Counts both as used. */
  forRequest(side: Side, method: string, path: string): FaultAction[] {
    return this.take((rule) => {
      if (rule.target !== 'requests' || (rule.side !== null && rule.side !== side)) return false;
      return (rule.method === null || rule.method === method) && (rule.path === null || fits(rule.path, path, true));
    });
  }

  /** The faults for this delivery. A `fail` can hit every attempt, any other fault only the first attempt. */
  forDelivery(side: Side, type: string, url: string, attempt: number): FaultAction[] {
    return this.take((rule) => {
      if (rule.target !== 'deliveries' || (rule.side !== null && rule.side !== side)) return false;
      if (attempt > 1 && rule.action.kind !== 'fail') return false;
      if (rule.type !== null && !fits(rule.type, type, false)) return false;
      return rule.path === null || url.includes(rule.path);
    });
  }

  private take(matches: (rule: FaultRule) => boolean): FaultAction[] {
    const taken: FaultAction[] = [];
    for (const rule of this.rules) {
      if (rule.timesLeft <= 0 || !matches(rule)) continue;
      const isDelay = rule.action.kind === 'delay_ms';
      if (taken.some((a) => (a.kind === 'delay_ms') === isDelay)) continue;
      if (rule.probability < 1 && this.random.next() >= rule.probability) continue;
      rule.timesLeft -= 1;
      rule.hits += 1;
      taken.push(rule.action);
    }
    return taken;
  }
}

/**
 * Compares a value with a pattern such as `/v1/invoices/*\/pay`. `prefix`: a pattern without a star may be a prefix.
 */
function fits(pattern: string, value: string, prefix: boolean): boolean {
  if (!pattern.includes('*')) return prefix ? value.startsWith(pattern) : value === pattern;
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(value);
}

// `{"action":"status","status":503}` and `{"action":{"status":503}}` mean the same.
function actionOf(fields: Fields, allowed: readonly FaultKind[]): FaultAction {
  const given = fields.value['action'];
  let kind: FaultKind | undefined;
  let from: JsonObject = fields.value;
  if (isObject(given)) {
    kind = allowed.find((name) => given[name] !== undefined);
    from = { ...fields.value, ...given };
  } else kind = allowed.find((name) => name === given);
  if (kind === undefined) {
    throw new BadInput([{ field: 'action', message: `must be one of ${allowed.join(', ')}` }]);
  }
  const more = new Fields(from);
  const own = from[kind];
  return {
    kind,
    delayMs: kind === 'delay_ms' ? more.number('delay_ms', 0) : 0,
    status: statusOf(kind, own, more),
    code: more.optionalString('code') ?? null,
    body: from['body'],
    set: kind === 'rewrite' ? setOf(more) : {},
    headers: headersOf(more),
    after: typeof own === 'number' && kind === 'reorder' ? own : (more.optionalNumber('after', 1) ?? 1),
    effect: more.optionalBoolean('effect') ?? false,
  };
}

function statusOf(kind: FaultKind, own: Json | undefined, fields: Fields): number {
  if (kind === 'status_after' && typeof own === 'number') return own;
  if (kind === 'status' || kind === 'status_after') return fields.number('status', 200, 599);
  return 500;
}

function setOf(fields: Fields): JsonObject {
  return fields.optionalObject('set') ?? fields.refuse('set', 'must be an object');
}

function headersOf(fields: Fields): Record<string, string> {
  const entries = Object.entries(fields.optionalObject('headers') ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
