// Remembers the form of each sender's signature header, without its values. `crossbill rehearse` reports it.
import { Injectable } from '@nestjs/common';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';

/** The inspected length of an unreadable signature header, in characters. */
const LOOKED_AT = 400;

type Seen = { readonly length: number; readonly form: string };

@Injectable()
export class SignatureForms {
  private readonly readable = new Map<InboxSource, Seen>();
  private readonly malformed = new Map<InboxSource, Seen>();

  /** Keeps the form of a signature header. Skips a header as long as the last: this costs a delivery one comparison. */
  saw(source: InboxSource, header: string, isReadable: boolean): void {
    const seen = isReadable ? this.readable : this.malformed;
    if (seen.get(source)?.length === header.length) return;
    seen.set(source, { length: header.length, form: formOf(header.slice(0, LOOKED_AT)) });
  }

  /** The forms of the last readable and the last malformed header, such as `t=<10 digits>`. Null: none so far. */
  of(source: InboxSource): { readonly readable: string | null; readonly malformed: string | null } {
    return { readable: this.readable.get(source)?.form ?? null, malformed: this.malformed.get(source)?.form ?? null };
  }
}

/**
 * Keeps names and punctuation, and replaces possible values by their length. Nothing of a signature or a secret
 * remains.
 */
export function formOf(header: string): string {
  return header.replace(/[^\s,=]+/g, (word, at: number) => {
    const next = header[at + word.length];
    if (next === '=' && /^[a-z][a-z0-9]{0,9}$/i.test(word)) return word; // keep `t` and `v1` of `t=…,v1=…`
    if (/^[0-9]+$/.test(word)) return `<${word.length} digits>`;
    if (/^[0-9a-f]+$/.test(word)) return `<${word.length} hex>`;
    if (/^[0-9A-F]+$/.test(word)) return `<${word.length} HEX>`;
    return `<${word.length} other>`;
  });
}
