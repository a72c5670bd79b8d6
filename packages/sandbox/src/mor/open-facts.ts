// Open questions of the documents. The sandbox plays each possible answer; the first word of a list is the default.
import { type Reply, type SandboxRequest } from '../kernel/http.js';
import { Fields, isObject, type Json } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';

const CHOICES = {
  /** The event after which the MoR charges a renewal: `invoice.created` (for a draft) or `invoice.finalized`. */
  charges_at: ['created', 'finalized'],
  /** Whether the MoR charges a refused invoice again after another `invoice.created`. */
  second_created: ['charged', 'ignored'],
  /**
   * The amount of a charge: as in the event, or as the invoice shows at the moment of the charge (`present`: a MoR with
   * read access to the merchant's Stripe account).
   */
  charged_amount: ['event', 'present'],
  /**
   * How often the MoR charges an invoice. `once`: once, and once more after each refusal. `per_event`: for each event
   * id, even if the invoice is paid. `per_delivery`: for each delivery, the same event again included.
   */
  repeats: ['once', 'per_event', 'per_delivery'],
  /** `added`: the MoR charges a renewal with tax on top of the amount, 19 percent. */
  renewal_tax: ['none', 'added'],
  /** `upper_case`: the MAC in capital hex digits after a blank. `prefixed`: `v1=sha256=…`, a form no document has. */
  signature: ['documented', 'upper_case', 'prefixed'],
  /** The look-up of a payment's invoice: 202 for two seconds and then 200; or 200 at once; or always 404. */
  charge_lookup: ['after_202', 'at_once', 'never'],
  /** `bare`: a 404 has no code, only the text of a web server. */
  not_found: ['code', 'bare'],
  /** `nested`: Document 3's errors are `{error: {code, message}}`. */
  errors: ['flat', 'nested'],
  retry_after: ['sent', 'left_out'],
  /** Whether the MoR remembers an `Idempotency-Key` of Document 3. */
  keys: ['kept', 'forgotten'],
} as const;
type Name = keyof typeof CHOICES;
const NAMES = Object.keys(CHOICES) as Name[];
type Choice<N extends Name> = (typeof CHOICES)[N][number];

/** Reads answers by name, such as `{repeats: 'per_event'}`. Throws BadInput for an unknown name or word. */
export function readReplies(replies: Json | undefined): readonly (readonly [Name, string])[] {
  const fields = new Fields(replies);
  for (const name of Object.keys(fields.value))
    if (!NAMES.some((known) => known === name)) fields.refuse(name, `is no open fact: there are ${NAMES.join(', ')}`);
  return NAMES.filter((name) => fields.has(name)).map((name) => [name, fields.oneOf(name, CHOICES[name])]);
}

export class OpenFacts {
  private readonly chosen = new Map<Name, string>();

  constructor(kernel: Kernel) {
    const about = NAMES.map((name) => `${name}?: ${CHOICES[name].join('|')}`).join(', ');
    kernel.control('POST', '/_sandbox/mor/open-facts', `what the documents leave open: {${about}}`, (request) => {
      this.choose(request.body);
      const now = NAMES.map((name) => [name, this.chosen.get(name) ?? CHOICES[name][0]]);
      return { status: 200, body: Object.fromEntries(now) as Record<string, string> };
    });
    kernel.reshape = (request, reply) => (request.side === 'mor' ? this.reshaped(request, reply) : reply);
    kernel.deliverer.writeSignature = (side, header) => (side === 'mor' ? this.signature(header) : header);
  }

  choose(replies: Json | undefined): void {
    for (const [name, word] of readReplies(replies)) this.chosen.set(name, word);
  }

  is<N extends Name>(name: N, word: Choice<N>): boolean {
    return (this.chosen.get(name) ?? CHOICES[name][0]) === word;
  }

  private signature(header: string): string {
    if (this.is('signature', 'prefixed')) return header.replace('v1=', 'v1=sha256=');
    if (!this.is('signature', 'upper_case')) return header;
    const [t = '', v1 = ''] = header.split(',v1=');
    return `${t}, v1=${v1.toUpperCase()}`;
  }

  private reshaped(request: SandboxRequest, reply: Reply): Reply {
    const { 'retry-after': _, ...headers } = reply.headers ?? {};
    const sent = this.is('retry_after', 'left_out') ? { ...reply, headers } : reply;
    if (sent.status === 404 && this.is('not_found', 'bare')) return { ...sent, body: { message: 'Not Found' } };
    const { body, status } = sent;
    if (status < 400 || !this.is('errors', 'nested') || !/^\/api\/payments\//.test(request.path)) return sent;
    const code = isObject(body) ? (body['code'] ?? null) : null;
    return { ...sent, body: { error: { code, message: 'The request could not be carried out.' } } };
  }
}
