// Why a delivery was refused, most likely, and what mends it; by the name of the outcome.

export const LIKELY_REASON: Readonly<Record<string, string>> = {
  mismatch:
    'Signed with none of our secrets: the secret of this door is not the one the sender shows, or it was a stranger.',
  stale: 'Signed long ago or in the future: a clock is wrong, here or there, or it is an old delivery sent again.',
  malformed: 'No signature header, or one that cannot be read: another product of the sender, or a stranger.',
  'not-stored': 'The database did not take it in time. The sender comes again by itself.',
  closed: 'This replica was starting or stopping. The sender comes again by itself.',
  slow: 'The body did not arrive in time: the network, or a proxy before us.',
  aborted: 'The sender hung up before it had sent all of it.',
  'too-large': 'The body is larger than WEBHOOK_BODY_LIMIT.',
  method: 'No POST: somebody opened the address in a browser, or a probe of a load balancer.',
  unexpected: 'An Expect header that is not known here: a proxy before us added it.',
};
