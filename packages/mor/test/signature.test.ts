// Signatures: readable headers, and trusted deliveries.
import { parseSignatureHeader, SignatureCheck } from '@crossbill/mor/signature.js';
import { expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import Stripe from 'stripe';

/** The lower-case hex HMAC-SHA256 over `{t}.{body}`, written apart from the code under test. */
function mac(raw: Buffer | string, key: string, at: number | string): string {
  return createHmac('sha256', key)
    .update(Buffer.concat([Buffer.from(`${at}.`), Buffer.from(raw)]))
    .digest('hex');
}

function sign(raw: Buffer | string, keys: string | readonly string[], at: { readonly t: number | string }): string {
  const all = typeof keys === 'string' ? [keys] : keys;
  return [`t=${at.t}`, ...all.map((one) => `v1=${mac(raw, one, at.t)}`)].join(',');
}

/** For loops of thousands: `expect` costs more there than the code under test. */
function same(got: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(got, wanted)) expect(got).toEqual(wanted);
}

const secret = 'whsec_fern_0123456789abcdef';
const body = Buffer.from('{"id":"evt_1","type":"invoice.paid"}');
const t = 1_794_009_600;
const now = new Date(t * 1_000);
const check = new SignatureCheck([secret], 300);
const zeros = '0'.repeat(64);

it.each([
  ['without content', ''],
  ['without t', `v1=${zeros}`],
  ['without v1', `t=${t}`],
  ['with version v0 only', `t=${t},v0=${zeros}`],
  ['with t twice', `t=${t},t=${t},v1=${zeros}`],
  ['with t empty', `t=,v1=${zeros}`],
  ['with a minus sign', `t=-1,v1=${zeros}`],
  ['with a fraction', `t=${t}.0,v1=${zeros}`],
  ['with an exponent', `t=1e9,v1=${zeros}`],
  ['with a blank in t', `t= ${t},v1=${zeros}`],
  ['with a blank before a comma', `t=${t} ,v1=${zeros}`],
  ['with two blanks after a comma', `t=${t},  v1=${zeros}`],
  ['with a tab after a comma', `t=${t},\tv1=${zeros}`],
  ['with a blank at the start', ` t=${t},v1=${zeros}`],
  ['with a blank at the end', `t=${t},v1=${zeros} `],
  ['with full-width digits', `t=１７９４,v1=${zeros}`],
  ['with a v1 of 63 digits', `t=${t},v1=${zeros.slice(1)}`],
  ['with a v1 of 65 digits', `t=${t},v1=${zeros}0`],
  ['with a v1 that is not hex', `t=${t},v1=${'g'.repeat(64)}`],
  ['with one good and one broken v1', `t=${t},v1=${mac(body, secret, t)},v1=zz`],
  ['with an entry without a value', `t=${t},v1=${zeros},nonsense`],
  ['joined from two headers by a proxy', `${sign(body, 'another', { t })}, ${sign(body, secret, { t })}`],
  ['with 500 v1 entries', `t=${t}${`,v1=${zeros}`.repeat(500)}`],
  ['of a megabyte', `t=${t},v1=${'0'.repeat(1_000_000)}`],
])('the MoR client refuses a signature header %s', (_name, header) => {
  expect(check.check(header, body, now)).toBe('malformed');
});

it('the MoR client accepts a signature header with one v1 signature per secret, and ignores other versions such as v0', () => {
  const header = `v0=abc,t=${t},v1=${zeros},v1=${mac(body, secret, t)}`;
  expect(parseSignatureHeader(header)?.macs).toHaveLength(2);
  expect(check.check(header, body, now)).toBe('ok');
});

it('the MoR client accepts a signature header with up to sixteen v1 signatures and 4,096 characters', () => {
  const good = mac(body, secret, t);
  const macs = (count: number): string => `t=${t}${`,v1=${zeros}`.repeat(count - 1)},v1=${good}`;
  expect([16, 17].map((n) => check.check(macs(n), body, now))).toEqual(['ok', 'malformed']);
  const long = (count: number): string => {
    const start = `t=${t},v1=${good},v0=`;
    return start + 'x'.repeat(count - start.length);
  };
  expect([4_096, 4_097].map((n) => check.check(long(n), body, now))).toEqual(['ok', 'malformed']);
  expect(() => new SignatureCheck([secret], 1)).not.toThrow();
});

it('the MoR client accepts a signature in upper-case and lower-case hex', () => {
  const header = `t=${t},v1=${mac(body, secret, t).toUpperCase()}`;
  expect(check.check(header, body, now)).toBe('ok');
  expect(check.check(`t=${t},v1=${'A'.repeat(64)}`, body, now)).toBe('mismatch');
});

it.each(['deadbeef', zeros.slice(2), `${zeros}00`])(
  'the MoR client refuses a signature of the wrong length: %s',
  (v1) => {
    expect(check.check(`t=${t},v1=${v1}`, body, now)).toBe('mismatch');
    expect(check.check(`t=${t},v1=${mac(body, secret, t)}00`, body, now)).toBe('mismatch');
  },
);

it('the MoR client accepts one space after each comma of a signature header', () => {
  const header = `v0=abc, t=${t}, v1=${zeros}, v1=${mac(body, secret, t)}`;
  expect(check.check(header, body, now)).toBe('ok');
});

it("the MoR client accepts leading zeros in a signature's time if the signature covers them", () => {
  const headerOf = (digits: string): string => `t=${digits},v1=${mac(body, secret, digits)}`;
  expect(check.check(headerOf(`0${t}`), body, now)).toBe('ok');
  expect(check.check(`t=0${t},v1=${mac(body, secret, t)}`, body, now)).toBe('mismatch');
  for (const far of [`${t}000`, '9'.repeat(20), '9'.repeat(400)])
    expect(check.check(headerOf(far), body, now)).toBe('stale');
});

it('the MoR client accepts or refuses any text as a signature header and never throws', () => {
  const pieces = fc.constantFrom('t', 'v1', 'v0', '=', ',', ' ', `${t}`, zeros, mac(body, secret, t), '\u0000', 'é');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map((list) => list.join('')),
      ),
      (header) => {
        same(['malformed', 'mismatch', 'stale', 'ok'].includes(check.check(header, body, now)), true);
      },
    ),
    { numRuns: 2_000 },
  );
});

it('the MoR client skips a signature of the wrong length in a parsed header and checks the next signature', () => {
  const header = {
    timestamp: String(t),
    seconds: t,
    macs: [Buffer.alloc(31), Buffer.from(mac(body, secret, t), 'hex')],
  };
  expect(check.checkParsed(header, body, now)).toBe('ok');
});

it.each([
  [0, 'ok'],
  [300, 'ok'],
  [301, 'stale'],
  [-300, 'ok'],
  [-301, 'stale'],
])("the MoR client's check of a signature aged %i seconds (below zero: in the future) gives %s", (age, verdict) => {
  const header = sign(body, secret, { t: t - age });
  expect(check.check(header, body, now)).toBe(verdict);
  expect(check.check(header, body, new Date(now.getTime() + 999))).toBe(verdict); // whole seconds count
});

it('the MoR client accepts a signature by either secret during a rotation, and by no other secret', () => {
  const rolling = new SignatureCheck(['old-secret', 'new-secret'], 300);
  expect(rolling.check(sign(body, 'old-secret', { t }), body, now)).toBe('ok');
  expect(rolling.check(sign(body, 'new-secret', { t }), body, now)).toBe('ok');
  expect(rolling.check(sign(body, ['x', 'y', 'new-secret'], { t }), body, now)).toBe('ok');
  expect(rolling.check(sign(body, ['x', 'y'], { t }), body, now)).toBe('mismatch');
});

it("the MoR client's signature check refuses to start without a secret or with a blank secret", () => {
  expect(() => new SignatureCheck([], 300)).toThrow();
  expect(() => new SignatureCheck([''], 300)).toThrow();
  expect(() => new SignatureCheck([secret, ' \t'], 300)).toThrow();
  expect(() => new SignatureCheck([secret], 0)).toThrow();
  expect(check.check(sign(body, '', { t }), body, now)).toBe('mismatch');
});

it('the MoR client refuses a delivery with any one bit changed in its signature or body', () => {
  const spelling = (head: string): string => head.slice(head.indexOf('v1=') + 3).toLowerCase();
  const header = Buffer.from(sign(body, secret, { t }));
  const whole = Buffer.concat([header, body]);
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    const head = changed.subarray(0, header.length).toString('latin1');
    // The one bit between a hex letter and its capital changes the spelling, not the MAC.
    if (head !== header.toString() && head.startsWith(`t=${t},v1=`) && spelling(head) === spelling(header.toString()))
      continue;
    const checked = check.check(head, changed.subarray(header.length), now);
    if (checked === 'ok') throw new Error(`taken with bit ${bit} changed`);
  }
});

it('the MoR client checks a signature over the exact bytes of the body, even if the bytes are not text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ minLength: 1 }), (bytes, key) => {
      fc.pre(key.trim() !== '');
      const raw = Buffer.from(bytes);
      expect(new SignatureCheck([key], 300).check(sign(raw, key, { t }), raw, now)).toBe('ok');
    }),
  );
});

const stripe = new Stripe('sk_test_not_used', { telemetry: false });
const theirs = (header: string, payload: Buffer): boolean => {
  try {
    return stripe.webhooks.signature?.verifyHeader(payload, header, secret, 300, undefined, now.getTime()) === true;
  } catch {
    return false;
  }
};

it("the MoR client agrees with Stripe's own check on every usual signature header and is never more lenient", () => {
  const validMac = fc
    .integer({ min: t - 400, max: t + 400 })
    .chain((at) =>
      fc.record({ at: fc.constant(at), v1: fc.constantFrom(mac(body, secret, at), mac(body, 'other', at), zeros) }),
    );
  const headers = fc
    .record({
      base: validMac,
      more: fc.array(fc.constantFrom('v0=1', `v1=${zeros}`, 'v1=zz', 'x', ' ', `t=${t}`, 't=5x'), { maxLength: 2 }),
      prefix: fc.constantFrom('', '', '', '0', ' ', '+'),
      first: fc.boolean(),
    })
    .map(({ base, more, prefix, first }) => {
      const parts = [`t=${prefix}${base.at}`, `v1=${base.v1}`];
      return { at: base.at, header: (first ? [...more, ...parts] : [...parts, ...more]).join(',') };
    });
  let agreed = 0;
  fc.assert(
    fc.property(headers, ({ at, header }) => {
      const ours = check.check(header, body, now) === 'ok';
      if (ours) same(theirs(header, body), true); // never more lenient
      // On purpose: the future, a `t` without plain digits or twice, malformed entries, a malformed v1.
      const meant = at > t + 300 || /t=[^1-9]|t=5x|v1=zz|(^|,)[x ](,|$)/.test(header) || header.split('t=').length > 2;
      if (!meant) {
        agreed++;
        same(ours, theirs(header, body));
      }
    }),
    { numRuns: 3_000 },
  );
  expect(agreed).toBeGreaterThan(300);
});

it('the MoR client refuses a signature of another body, even if the bytes of both bodies decode to the same text', () => {
  const broken = Buffer.from([0x22, 0xff, 0x22]);
  const otherBytes = Buffer.from('"\uFFFD"');
  const header = sign(otherBytes, secret, { t });
  expect(theirs(header, broken)).toBe(true);
  expect(check.check(header, broken, now)).toBe('mismatch');
  expect(check.check(sign(broken, secret, { t }), broken, now)).toBe('ok');
});
