// Sends requests to the MoR's staging to see the form of its replies.
import { type MorAnswer, type MorCallName, type MorTransport } from '@crossbill/mor';
import { query, segment, wireGet, wireWith } from '@crossbill/mor/wire.js';
import { type WireRequest } from '../../../shared/domain/ports/call.js';
import { type Json, listOf, namesIn, objectOf, textAt } from './json.js';

/** A reply in a form safe for the report. `code` and `fields` are the MoR's identifiers, not free text. */
export type Probed = {
  /** The HTTP status. Null: no reply arrived. */
  readonly status: number | null;
  readonly code: string | null;
  readonly names: readonly string[];
  readonly fields: readonly string[];
  /** The value of the Retry-After header. */
  readonly retryAfter: string | null;
  /** The reply's body. It may hold a secret, so the report leaves it out. */
  readonly body: Json;
};

export class MorCheck {
  constructor(
    private readonly transport: MorTransport,
    private readonly psp: string,
    private readonly saw: (call: string, reply: Probed) => void,
  ) {}

  charge(reference: string): Promise<Probed> {
    return this.#ask(
      'GET invoice by psp_reference',
      'invoice.read',
      wireGet(`/api/payments/invoice${query({ psp_reference: reference })}`),
    );
  }

  setupIntent(body: Json, key: string | null): Promise<Probed> {
    const wire = wireWith('POST', `/api/payments/${segment(this.psp)}/setup-intents`, { ...body });
    return this.#ask('POST setup-intents', 'setup_intent.create', wire, key);
  }

  paymentIntent(body: Json): Promise<Probed> {
    const wire = wireWith('POST', `/api/payments/${segment(this.psp)}/payment-intents`, { ...body });
    return this.#ask('POST payment-intents', 'payment_intent.create', wire);
  }

  refund(paymentId: string, body: Json, key: string): Promise<Probed> {
    const wire = wireWith('POST', `/api/payments/${segment(paymentId)}/refund`, { ...body });
    return this.#ask('POST refund', 'refund.create', wire, key);
  }

  async #ask(call: string, name: MorCallName, wire: WireRequest, key: string | null = null): Promise<Probed> {
    const outcome = await this.transport.call(wire, { name, key, accept: probed, acceptError: probed });
    if (!outcome.ok)
      return { status: outcome.status, code: outcome.code, names: [], fields: [], retryAfter: null, body: {} };
    this.saw(call, outcome.value);
    return outcome.value;
  }
}

function probed({ status, body, header }: MorAnswer): Probed {
  const word = (value: string | null): string | null =>
    value !== null && /^[A-Za-z][\w.-]{0,63}$/.test(value) ? value : null;
  const fields = listOf(objectOf(body)['errors']).flatMap((e) => word(textAt(e, 'field')) ?? []);
  const code = word(textAt(body, 'code')) ?? word(textAt(body, 'error', 'code')) ?? word(textAt(body, 'error'));
  return { status, code, names: namesIn(body), fields, retryAfter: header('retry-after'), body: objectOf(body) };
}
