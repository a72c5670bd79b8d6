// Numbers, ids and secrets from one seed: the same seed and the same requests give the same ids.
import { createHash, createHmac } from 'node:crypto';

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789';

/** A seeded generator (mulberry32). Not for real secrets: the sandbox only guards invented money. */
export class SeededRandom {
  private state: number;

  constructor(readonly seed: string) {
    this.state = createHash('sha256').update(`crossbill-sandbox:${seed}`).digest().readUInt32LE(0);
  }

  /** A number in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** An id such as `in_4fTz…`: the prefix, an underscore, then letters and digits. */
  id(prefix: string, length = 24): string {
    let text = `${prefix}_`;
    for (let i = 0; i < length; i += 1) text += LETTERS.charAt(this.int(0, LETTERS.length - 1));
    return text;
  }

  /** A version 4 UUID. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.int(0, 15).toString(16));
    hex[12] = '4';
    hex[16] = '89ab'.charAt(this.int(0, 3));
    const text = hex.join('');
    return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
  }
}

/**
 * A secret that depends only on the seed and its name, so a restarted sandbox has the same secrets. 40 hex digits after
 * the prefix.
 */
export function derivedSecret(seed: string, name: string, prefix = ''): string {
  return prefix + createHmac('sha256', `crossbill-sandbox:${seed}`).update(name).digest('hex').slice(0, 40);
}
