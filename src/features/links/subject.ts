// The engine's table for payment links: the rule for each event, call, item and choice.
import { nextLookup } from '../../engine/lookup.js';
import { type Subject } from '../../engine/subject.js';
import { requestLink } from './rules/request-link.js';
import { postRefunded, furtherItems } from './rules/announced.js';
import { createLinkCall, linkItems, linkLookup, recoveryLookup, settleLinks, settleRecovery } from './rules/link.js';

export const links = {
  objects: ['payment_link'],
  calls: { create_payment_link: createLinkCall },
  before: [postRefunded],
  after: [settleLinks],
  items: [furtherItems, linkItems],
  lookups: [nextLookup(linkLookup)],
  ports: { requestLink },
} satisfies Subject;

/** The automatic link after a failed renewal. Its rule runs late, because an open item prevents the link. */
export const recovery = {
  late: true,
  after: [settleRecovery],
  lookups: [nextLookup(recoveryLookup)],
} satisfies Subject;
