// Inputs that have broken a parser before. The tests and each fuzzing run try them again.
import { isObject } from '@crossbill/mor/read.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryOne, wordsOf } from './runner.js';
import { type Target } from './target.js';

export type Case = { readonly target: string; readonly input: string; readonly why: string };

/** The value for `"@deep"` in an input. */
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

/** Reads all kept inputs. `npm run fuzz` and the tests both run in the project's folder. */
export function corpus(): readonly Case[] {
  const kept: unknown = JSON.parse(readFileSync(join(process.cwd(), 'packages/proof/test/corpus.json'), 'utf8'));
  if (!Array.isArray(kept)) throw new Error('packages/proof/test/corpus.json must be a list');
  return kept.map((one: unknown) => {
    const { target, input, why } = isObject(one) ? one : {};
    if (typeof target !== 'string' || typeof input !== 'string' || typeof why !== 'string')
      throw new Error('a case of packages/proof/test/corpus.json has a target, an input and a why');
    return { target, input: input.replace('"@deep"', DEEP), why };
  });
}

/** Tries one kept input. Returns null if the parser handles it now. */
export async function tryCase(target: Target, { input }: Case): Promise<string | null> {
  try {
    await tryOne(target, input);
    return null;
  } catch (error) {
    return wordsOf(error);
  }
}
