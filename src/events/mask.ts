// Masks personal data and secrets in an event's body, at any depth, for people to read.
import { isFreeText, maskCards } from '../domain/card-numbers.js';
import { isSecretName, textCensor } from '../observe/index.js';

const MASK = '[masked]';
const MAX_DEPTH = 40;
const MAX_MEMBERS = 2_000;

// Names of personal data, in lower case without "_" and "-". The mask hides the whole value under such a name.
const PERSONAL = new Set([
  'email',
  'receiptemail',
  'customeremail',
  'name',
  'customername',
  'firstname',
  'lastname',
  'phone',
  'customerphone',
  'address',
  'customeraddress',
  'customershipping',
  'shippingdetails',
  'shipping',
  'billingdetails',
  'customertaxids',
  'taxid',
  'ipaddress',
  'line1',
  'line2',
  'postalcode',
  'recipient',
  'accountname',
  'accountnumber',
]);
// Links to the invoice or its payment. Anybody with the link can open it.
const LINKS = new Set([
  'hostedinvoiceurl',
  'invoicepdf',
  'receipturl',
  'downloadurl',
  'checkouturl',
  'paymenturl',
  'documenturl',
]);
// Finds an e-mail address. The length limits keep the search fast in a long text without blanks.
const EMAIL = /[^\s@"'<>,;()]{1,64}@[^\s@"'<>,;()]{1,255}/g;

/** A copy of the value with masks for personal data and secrets. `null` stays `null`: an absent value is no secret. */
export function masked(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replace(EMAIL, MASK);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => masked(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_MEMBERS)
      .map(([name, inner]) => [name, hides(name) && inner !== null ? MASK : shown(name, masked(inner, depth + 1))]),
  );
}

function shown(name: string, value: unknown): unknown {
  return typeof value === 'string' && isFreeText(name) ? maskCards(value) : value;
}

function hides(name: string): boolean {
  const plain = name.toLowerCase().replace(/[_-]/g, '');
  return PERSONAL.has(plain) || LINKS.has(plain) || isSecretName(name);
}

/**
 * The body as the sender sent it, for a person with a reason to see personal data. Secrets and card numbers stay
 * masked.
 */
export function rawBody(body: Buffer): unknown {
  const text = textCensor([])(body.toString('utf8'));
  try {
    return withoutSecrets(JSON.parse(text));
  } catch {
    return text;
  }
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => [
      name,
      isSecretName(name) && inner !== null ? MASK : shown(name, withoutSecrets(inner)),
    ]),
  );
}
