// The MoR's payment links, with only the parts a lane needs: one link per key, payable for a while, refused in some
// countries.
import { type CallOutcome, type WireRequest } from '../../../src/shared/domain/ports/call.js';
import { type LinkFacts, MorChannels, type ObjectFacts } from '../../../src/shared/domain/ports/mor-channels.js';
import { type ManualClock } from './clock.js';
import { failed } from './fake-platform.js';

type Asked = { readonly jurisdiction: string; readonly expiresSec: number; readonly key: string };

export class FakeLinks extends MorChannels {
  readonly links = new Map<string, LinkFacts>();
  readonly asked: Asked[] = [];
  /** How many times a link was read. */
  reads = 0;
  /** Countries in which the MoR does not collect. */
  readonly notServed = new Set<string>();

  constructor(private readonly clock: ManualClock) {
    super();
  }

  override createProforma(): never {
    throw new Error('no proforma invoice was expected');
  }

  override async createLink(wire: WireRequest): Promise<CallOutcome<LinkFacts>> {
    const asked = JSON.parse(wire.body ?? '{}') as Asked & { readonly amount: { minor: string | { minor: string } } };
    const { jurisdiction, expiresSec, key } = asked;
    this.asked.push({ jurisdiction, expiresSec, key });
    if (this.notServed.has(jurisdiction))
      return failed('refused', { status: 409, code: 'no_active_arrangement', message: 'not there' });
    const link = this.links.get(key) ?? {
      morId: `link_${this.links.size + 1}`,
      url: `https://pay.example/${this.links.size + 1}`,
      status: 'PAYABLE' as const,
      priced: { minor: 1000n, currency: 'EUR' },
      due: { minor: 1000n, currency: 'EUR' },
      expiresAt: new Date(this.clock.now().getTime() + expiresSec * 1000),
    };
    this.links.set(key, link);
    return { ok: true, value: link, status: 201, requestId: null };
  }

  pay(morId: string): void {
    for (const [key, l] of this.links)
      if (l.morId === morId) this.links.set(key, { ...l, status: 'PAID', due: { minor: 0n, currency: 'EUR' } });
  }

  override async read(_kind: string, morId: string): Promise<CallOutcome<ObjectFacts | null>> {
    this.reads++;
    const link = [...this.links.values()].find((l) => l.morId === morId);
    if (link === undefined) return { ok: true, value: null, status: 404, requestId: null };
    const over = link.status === 'PAYABLE' && (link.expiresAt?.getTime() ?? 0) <= this.clock.now().getTime();
    const shown: LinkFacts = over ? { ...link, status: 'EXPIRED' } : link;
    return { ok: true, value: { kind: 'payment_link', link: shown }, status: 200, requestId: null };
  }
}
