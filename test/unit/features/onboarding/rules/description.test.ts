// A merchant's description in a file, and the steps that carry it out.
import { expect, it } from '@jest/globals';
import { isWanted, readDescription, STEPS } from '../../../../../src/features/onboarding/rules/description.js';

const larch = {
  merchantReference: 'larch',
  company: { legalName: 'Larch Ltd' },
  regions: ['GB'],
  businessDescription: 'Trees',
  category: 'plants',
};
type Row = Parameters<typeof isWanted>[2];
const row = (over: Partial<Row> = {}): Row => ({
  ...{ status: 'created', merchantId: 'm', productCode: 'tor', regions: [], due: [], ...over },
});
const wanted = (given: unknown, over: Partial<Row> = {}) =>
  STEPS.filter((step) => isWanted(step, readDescription(given), row(over)));

it("a merchant's description is split into the first request, the regions, the business and the submit", () => {
  expect(readDescription(larch)).toEqual({
    start: { merchantReference: 'larch', company: { legalName: 'Larch Ltd' } },
    regions: ['GB'],
    business: { businessDescription: 'Trees', category: 'plants' },
    submit: true,
  });
  expect(readDescription({ submit: false })).toMatchObject({ regions: null, business: {}, submit: false });
});

it.each([[null], ['larch'], [7], [undefined]])('a description that is no object has nothing to send: %p', (given) => {
  expect(readDescription(given)).toEqual({ start: {}, regions: null, business: {}, submit: true });
});

it.each<[string, unknown, Partial<Row>, string[]]>([
  ['a new application gets every step', larch, {}, ['product', 'business', 'submit']],
  ['an application with these regions needs no product', larch, { regions: ['GB'] }, ['business', 'submit']],
  ['an application with open requirements is not submitted', larch, { due: ['checkoutUrl'] }, ['product', 'business']],
  ['the description may leave the submit to a person', { ...larch, submit: false }, {}, ['product', 'business']],
  ['a description without parts only submits', { merchantReference: 'larch' }, {}, ['submit']],
  ['changes asked for by the reviewer are sent', larch, { status: 'changes_requested' }, [...STEPS]],
  ['an application in review changes no more', larch, { status: 'submitted' }, []],
  ['a merchant without company details begins with its product', larch, { status: 'requested' }, ['product']],
  [
    'a merchant without company details and without a product waits',
    larch,
    { status: 'requested', productCode: '' },
    [],
  ],
  ['a merchant the MoR does not list yet waits', larch, { status: 'requested', merchantId: null }, []],
])('the steps of a description: %s', (_, given, over, steps) => {
  expect(wanted(given, over)).toEqual(steps);
});
