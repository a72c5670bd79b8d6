// Payment links join the engine.
import { nextLookup } from '../engine/lookup.js';
import { type Subject } from '../engine/subject.js';
import { furtherItems, takeCaptured } from './rules/announced.js';
import { createLinkCall, linkItems, linkLookup, settleLinks } from './rules/link.js';

export const links = {
  when: (lane) => lane.objects.some((o) => o.kind === 'payment_link'),
  events: { 'payment.captured': takeCaptured },
  calls: { create_payment_link: createLinkCall },
  rest: [settleLinks],
  items: [furtherItems, linkItems],
  lookups: [nextLookup(linkLookup)],
} satisfies Subject;
