// A few seconds of `npm run fuzz`: each parser of outside data on a few dozen bent inputs, new ones each time, and on
// all inputs with an old break.
import { randomInt } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { KEPT, runTurn } from '../src/fuzz/runner.js';
import { must, type Target } from '../src/fuzz/target.js';
import { targets } from '../src/fuzz/targets.js';
import { remoteTargets } from '../src/fuzz/targets/remote.js';

const RUNS = 15;

it.each(targets.map((target) => [target.name, target] as const))(
  'the parser `%s` gives a clear error or a value within its limits for any input',
  async (_, target) => {
    const seed = randomInt(1, 2 ** 31);
    const { failure } = await runTurn(target, { seed, runs: RUNS });
    expect(failure === null ? null : { seed, ...failure }).toBeNull();
  },
);

it('each parser handles the inputs of earlier failures', async () => {
  const known = [...targets, ...remoteTargets].map(({ name }) => name);
  expect(KEPT.filter(({ target }) => !known.includes(target))).toEqual([]);
  const old = targets.filter(({ name }) => KEPT.some(({ target }) => target === name));
  expect(old.length).toBeGreaterThan(5);
  for (const target of old) {
    const { tried, failure } = await runTurn(target, { seed: 1, runs: 0 });
    expect({ failure, tried }).toEqual({
      failure: null,
      tried: KEPT.filter((one) => one.target === target.name).length,
    });
  }
});

const [inputs] = targets.map((target) => target.inputs);

it('the fuzzer finds a broken parser, shrinks the failing input, and finds the same input again with the same seed', async () => {
  const fragile: Target = {
    name: 'fragile',
    what: 'a parser that knows no v1',
    inputs: inputs as Target['inputs'],
    check: (text) => must(!text.includes('v1='), 'it has a v1'),
  };
  const { failure } = await runTurn(fragile, { seed: 7, runs: 500 });
  expect(failure?.why).toContain('it has a v1');
  expect(failure?.input.length).toBeLessThan(100);
  const again = await runTurn(fragile, { seed: 7, path: failure?.path ?? '', runs: 1 });
  expect(again.failure).toEqual(failure);
});

it('the fuzzer ends a turn without a failure when its time is up', async () => {
  const fine: Target = {
    name: 'fine',
    what: 'a parser that reads all',
    inputs: inputs as Target['inputs'],
    check: () => undefined,
  };
  const { tried, failure } = await runTurn(fine, { seed: 7, ms: 200 });
  expect(failure).toBeNull();
  expect(tried).toBeGreaterThan(1);
});
