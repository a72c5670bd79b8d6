// The settings that have no default, with recognizable values, and the errors after changes to them.
import { createHash } from 'node:crypto';
import { type Config, ConfigError, loadConfig } from '../../../src/shared/config/index.js';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const minimal = {
  STRIPE_API_KEY: 'sk_test_canary1',
  STRIPE_WEBHOOK_SECRETS: 'whsec_canary2',
  MOR_BASE_URL: 'http://127.0.0.1:4020/',
  MOR_AUTH_URL: 'http://127.0.0.1:4020',
  MOR_CLIENT_ID: 'client_1',
  MOR_CLIENT_SECRET: 'canary3-client',
  MOR_PAYMENT_WEBHOOK_SECRETS: 'canary4-payment',
  API_KEYS: `backend:signup:${'a'.repeat(32)},anna:ops:${'b'.repeat(40)}`,
};

/** The settings that are wrong after these changes to a good environment. Undefined removes a setting. */
export function wrong(changes: Record<string, string | undefined>): string[] {
  return problemsOf(changes).map(({ name }) => name);
}

export function problemsOf(changes: Record<string, string | undefined>): readonly { name: string; problem: string }[] {
  try {
    loadConfig({ ...minimal, ...changes });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

export const load = (changes: Record<string, string | undefined> = {}): Config =>
  loadConfig({ ...minimal, ...changes });
