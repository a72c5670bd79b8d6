// Knows the API keys of the settings, and finds the owner of a request's key.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type ApiKey, type Config } from '../../../shared/config/index.js';
import { type Caller } from './caller.js';

type Entry = { readonly caller: Caller; readonly digest: Buffer };

@Injectable()
export class KeyRing {
  readonly #entries: readonly Entry[];

  constructor(@Inject(CONFIG) config: Pick<Config, 'apiKeys'>) {
    this.#entries = config.apiKeys.map(({ name, role, digest }: ApiKey) => ({
      caller: { name, role },
      digest: Buffer.from(digest.reveal(), 'hex'),
    }));
  }

  /** Returns the owner of a key, or null. Compares every digest, all equally long: the duration reveals nothing. */
  identify(key: string): Caller | null {
    const digest = digestOf(key);
    let found: Caller | null = null;
    for (const entry of this.#entries) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    }
    return found;
  }

  /** Returns the caller of an `Authorization` header. Null: no header, a malformed header or an unknown key. */
  fromHeader(header: string | undefined): Caller | null {
    const match = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(header ?? '');
    return match?.[1] === undefined ? null : this.identify(match[1]);
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
