// What the name of a field says about its value: a secret, a person's data, an id, or text. The log, the console and
// the command line use these names.

const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

// Secrets, in lower case without "_" and "-": `client_secret`, `clientSecret` and `Client-Secret` are one name.
const SECRETS = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'password',
  'passwd',
  'pwd',
  'apikey',
  'apikeys',
  'bearer',
  'databaseurl',
  'readdatabaseurl',
  'connectionstring',
  'dsn',
  'card',
  'cardnumber',
  'cvc',
  'iban',
]);
const SECRET_ENDINGS = ['secret', 'secrets', 'token', 'tokens', 'signature', 'signatures', 'privatekey'];

/** True for the name of a secret. Neither the log nor a page ever shows such a field. */
export function isSecretName(name: string): boolean {
  const wanted = plain(name);
  return SECRETS.has(wanted) || SECRET_ENDINGS.some((ending) => wanted.endsWith(ending));
}

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
  // Links to the invoice or its payment: anybody with the link can open it.
  'hostedinvoiceurl',
  'invoicepdf',
  'receipturl',
  'downloadurl',
  'checkouturl',
  'paymenturl',
  'documenturl',
]);

/** True for the name of a field with data about a person, or with a link to such data. */
export function isPersonalName(name: string): boolean {
  return PERSONAL.has(plain(name));
}

const IDENTIFIER = /^(?:id|number|reference|(?!tax)[A-Za-z_]*(?:_id|Id))$/;

/** True for the name of an id, a number or a reference. Such a value may look like a card number and is none. */
export function isIdentifierName(name: string): boolean {
  return IDENTIFIER.test(name);
}
