// The cast: customers of several kinds, the same ones for the same seed.
import { SeededRandom } from '../kernel/random.js';

/**
 * How a customer's renewals go. `steady`: the card always works. `recovers`: the bank declines the second renewal, and
 * the MoR's next try succeeds. `changes-card`: the bank declines the second renewal for good, and another card pays it.
 * `declines`: no renewal is ever paid. `authenticates`: the bank asks the customer each time. `debit`: a bank debit,
 * settled days later. `bounces`: a bank debit whose first renewal is returned. `charged-twice`: the MoR takes one
 * renewal twice. `metered`: the plan bills usage alone, so each draft begins with 0. `usage`: usage comes on top of the
 * plan's price, so each draft grows.
 */
export type Role =
  | 'steady'
  | 'recovers'
  | 'changes-card'
  | 'declines'
  | 'authenticates'
  | 'debit'
  | 'bounces'
  | 'charged-twice'
  | 'metered'
  | 'usage';

export type Plan = { readonly name: string; readonly amount: number; readonly currency: string };

export type Character = {
  readonly name: string;
  readonly email: string;
  readonly country: string;
  readonly role: Role;
  /** True: the customer starts with a trial. The signup saves the payment method and takes nothing. */
  readonly trial: boolean;
  readonly plan: Plan;
};

/** The roles without usage. The first twelve customers have every role; then the roles repeat. */
const ROLES: readonly Role[] = [
  'steady',
  'declines',
  'debit',
  'charged-twice',
  'authenticates',
  'recovers',
  'changes-card',
  'bounces',
  'steady',
  'debit',
  'steady',
  'steady',
];

/** The demo's roles: usage too, because its MoR hears of an invoice once its amount is final. */
export const DEMO_ROLES: readonly Role[] = [...ROLES.slice(0, -2), 'metered', 'usage'];

export const billsUsage = ({ role }: { readonly role: Role }): boolean => role === 'metered' || role === 'usage';

const NAMES = [
  'Ada', 'Ben', 'Chloe', 'Dara', 'Emil', 'Farah', 'Goran', 'Hana', 'Ines', 'Jonas', 'Kaya', 'Liam', 'Mina', 'Noor', 'Otto', 'Pia',
  'Quinn', 'Rosa', 'Sven', 'Tara', 'Umar', 'Vera', 'Willem', 'Xenia', 'Yara', 'Zoe',
]; // prettier-ignore

/** The plans. Amounts are in the smallest unit of the currency; for yen that is one yen. */
export const PLANS: readonly Plan[] = [
  { name: 'Starter', amount: 900, currency: 'eur' },
  { name: 'Team', amount: 2900, currency: 'usd' },
  { name: 'Studio', amount: 4950, currency: 'gbp' },
  { name: 'Kobo', amount: 1480, currency: 'jpy' },
];
const COUNTRIES: Readonly<Record<string, string>> = { eur: 'DE', usd: 'US', gbp: 'GB', jpy: 'JP' };

/** The sandbox reads a word in the e-mail address to learn how the card behaves. */
const WORDS: Partial<Record<Role, string>> = { declines: '.decline', authenticates: '.3ds' };

/** Returns `count` customers for the demo. Customers start with a trial if they cannot pay by card at once. */
export function castOf(count: number, seed: string, roles = ROLES): readonly Character[] {
  const random = new SeededRandom(`demo:${seed}`);
  return Array.from({ length: count }, (_, i): Character => {
    const role = roles[i % roles.length] ?? 'steady';
    const name = `${NAMES[random.int(0, NAMES.length - 1)] ?? 'Ada'} ${i + 1}`;
    const plan = PLANS[random.int(0, PLANS.length - 1)] ?? { name: 'Starter', amount: 900, currency: 'eur' };
    const debit = role === 'debit' || role === 'bounces';
    return {
      name,
      email: `${name.toLowerCase().replace(' ', '')}${WORDS[role] ?? ''}@customers.example`,
      country: COUNTRIES[plan.currency] ?? 'DE',
      role,
      trial: debit || role === 'charged-twice' || role === 'metered',
      plan,
    };
  });
}
