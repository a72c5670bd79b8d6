// A few seconds of `npm run fuzz`: each parser of outside data on a few dozen bent inputs, new ones each time, and on
// all inputs with an old break.
import { randomInt } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { corpus, tryCase } from '../src/fuzz/corpus.js';
import { runBatch } from '../src/fuzz/runner.js';
import { must, type Target } from '../src/fuzz/target.js';
import { targets } from '../src/fuzz/targets.js';
import { remoteTargets } from '../src/fuzz/targets/remote.js';

const RUNS = 15;

it.each(targets.map((target) => [target.name, target] as const))(
  'the parser `%s` gives a clear error or a value within its limits for any input',
  async (_, target) => {
    const { seed, failure } = await runBatch(target, randomInt(1, 2 ** 31), RUNS);
    expect(failure === null ? null : { seed, ...failure }).toBeNull();
  },
);

it('each parser handles the inputs of earlier failures', async () => {
  const known = [...targets, ...remoteTargets].map(({ name }) => name);
  const broken: string[] = [];
  for (const one of corpus()) {
    expect(known).toContain(one.target);
    const target = targets.find(({ name }) => name === one.target);
    const why = target === undefined ? null : await tryCase(target, one);
    if (why !== null) broken.push(`${one.target}, ${one.why}: ${why}`);
  }
  expect(broken).toEqual([]);
});

const [inputs] = targets.map((target) => target.inputs);

it('the fuzzer finds a broken parser, shrinks the failing input, and finds the same input again with the same seed', async () => {
  const fragile: Target = {
    name: 'fragile',
    what: 'a parser that knows no v1',
    inputs: inputs as Target['inputs'],
    check: (text) => must(!text.includes('v1='), 'it has a v1'),
  };
  const first = await runBatch(fragile, 7, 500);
  expect(first.failure?.why).toBe('it has a v1');
  expect(first.failure?.input.length).toBeLessThan(100);
  expect((await runBatch(fragile, 7, 500)).failure).toEqual(first.failure);
});
