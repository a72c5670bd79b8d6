// The command that repeats a request safely, as the command line shows it.
import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { Cli } from '../../../../src/frames/cli/cli.js';
import { CliError } from '../../../../src/frames/cli/exit-codes.js';
import { silentIo } from '../../../support/fakes/silent-io.js';

const typed = (...argv: string[]): Cli => new Cli(silentIo(), {}, argv);

it("the command that repeats a request is the operator's own, with the key of the request, and a shell reads its words back", () => {
  const own = typed('refund', 'pay_1', '--amount', '1.00', '--reason', "two weeks' rest; $HOME", '--yes');
  const line = own.repeat('key-1', '--work');
  const read = execFileSync('sh', ['-c', `for word in ${line}; do echo "$word"; done`], { encoding: 'utf8' });
  expect(read.trimEnd().split('\n')).toEqual([
    ...['crossbill', 'refund', '--key', 'key-1', '--work'],
    ...['pay_1', '--amount', '1.00', '--reason', "two weeks' rest; $HOME", '--yes'],
  ]);
});

it('the command that repeats a request keeps a given key and given options, and its key stands before `--`', () => {
  expect(typed('refund', 'pay_1', '--key', 'k', '--work').repeat('k', '--work')).toBe(
    'crossbill refund pay_1 --key k --work',
  );
  expect(typed('refund', 'pay_1', '--key=k').repeat('k')).toBe('crossbill refund pay_1 --key=k');
  expect(typed('retry', '--', 'in_1').repeat('k')).toBe('crossbill retry --key k -- in_1');
});

it('an error without a clear outcome shows the command that repeats the request safely; a refusal does not', async () => {
  const own = typed('refund', 'pay_1');
  const failed = own.keyed('k', () => Promise.reject(new Error('connection lost')));
  await expect(failed).rejects.toThrow('crossbill refund --key k pay_1');
  const refused = new CliError(1, 'refund_waiting', 'no');
  await expect(own.keyed('k', () => Promise.reject(refused))).rejects.toBe(refused);
});
