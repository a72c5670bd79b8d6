// Stripe's search of customers at the sandbox, with the real SDK.
import { expect, it } from '@jest/globals';
import { type Rig, rigForEach } from '../rig.js';

let rig: Rig;
rigForEach((started) => (rig = started));

const found = async (query: string): Promise<string[]> =>
  (await rig.stripe.customers.search({ query })).data.map((c) => c.name ?? '');

it("the sandbox's Stripe finds customers by e-mail and by a part of the name, in any case", async () => {
  for (const [name, email] of [
    ['Ada "Countess" Lovelace', 'Ada@Example.com'],
    ['Grace Hopper', 'grace@example.com'],
  ] as const)
    await rig.stripe.customers.create({ name, email });
  const gone = await rig.stripe.customers.create({ name: 'Grace Gone', email: 'grace@example.com' });
  await rig.stripe.customers.del(gone.id);
  expect(await found('email:"ada@example.COM"')).toEqual(['Ada "Countess" Lovelace']);
  expect(await found('name~"grace"')).toEqual(['Grace Hopper']);
  expect(await found('name~"\\"countess\\""')).toEqual(['Ada "Countess" Lovelace']);
  expect(await found('email:"example.com"')).toEqual([]);
  const page = await rig.stripe.customers.search({ query: 'email~"example"', limit: 1 });
  expect([page.object, page.data.length, page.has_more]).toEqual(['search_result', 1, true]);
});

it.each(['grace', 'name~"gr"', 'phone:"1"'])("the sandbox's Stripe refuses the search %s", async (query) => {
  await expect(rig.stripe.customers.search({ query })).rejects.toMatchObject({ statusCode: 400, param: 'query' });
});
