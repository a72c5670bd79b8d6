// A stored body for a person's eyes: secrets never, names and addresses only when asked for.
import { isFreeText, maskCards } from '../domain/card-numbers.js';
import { isSecretName, textCensor } from '../observe/index.js';

const PERSONAL = /(^|_)(name|email|phone|address|shipping|recipient|line1|line2|city|postal_code|tax_ids?|ip)($|_)/i;
const HIDDEN = '[hidden]';

/** The body as JSON, or as text when it is none. `personal` true: names, e-mails and addresses are shown. */
export function withoutPersonalData(body: Buffer, personal: boolean): unknown {
  const text = textCensor([])(body.toString('utf8'));
  try {
    return redact(JSON.parse(text) as unknown, personal);
  } catch {
    return personal ? text : `[${body.length} bytes that are not JSON]`;
  }
}

function redact(value: unknown, personal: boolean): unknown {
  if (Array.isArray(value)) return value.map((v) => redact(v, personal));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, v]: [string, unknown]) => {
      if (v === null) return [name, null];
      if (isSecretName(name)) return [name, '[secret]'];
      const snake = name.replace(/([a-z])([A-Z])/g, '$1_$2');
      if (typeof v === 'string' && isFreeText(name)) return [name, maskCards(v)];
      return [name, !personal && PERSONAL.test(snake) ? HIDDEN : redact(v, personal)];
    }),
  );
}
