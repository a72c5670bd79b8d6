// The code of the recipe "End access after a lost dispute or a full refund", as it stands on the page.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from '@jest/globals';
import { sampleOf, putDown } from '../../src/features/notifications/rules/all.js';
import { type NotificationType, type Notice } from '../../src/shared/domain/notification.js';
import { textOf } from './support.js';
import { STANDARD } from '../support/builders/notify-as.js';

type Access = { readonly end: (whose: string) => void; readonly allow: (whose: string) => void };
type Follow = (event: unknown, access: Access) => void;

async function codeOf(heading: string): Promise<Follow> {
  const [, page = ''] = textOf('docs/recipes.md').split(`## ${heading}\n`);
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-recipe-'));
  const file = join(folder, 'follow.mjs');
  writeFileSync(file, /```js\n([\s\S]+?)```/.exec(page)?.[1] ?? '');
  const { follow } = (await import(pathToFileURL(file).href)) as { readonly follow: Follow };
  rmSync(folder, { recursive: true });
  return follow;
}

it('the recipe ends access when nothing is left of the money, and allows it when the money is back', async () => {
  const follow = await codeOf('End access after a lost dispute or a full refund');
  const calls: string[] = [];
  const access: Access = { end: (whose) => calls.push(`end ${whose}`), allow: (whose) => calls.push(`allow ${whose}`) };
  const tell = (type: NotificationType, minute: number, over: object): string | undefined => {
    const sample = sampleOf(type, 'x');
    const notice = { ...sample, data: { ...sample.data, ...over } } as Notice;
    const before = calls.length;
    follow(JSON.parse(putDown(notice, STANDARD, new Date(Date.UTC(2026, 10, 22, 9, minute))).body), access);
    return calls[before];
  };
  expect(tell('invoice.paid', 0, {})).toBe('allow sub_sample');
  expect(tell('refund.succeeded', 1, {})).toBe('allow sub_sample'); // a part
  expect(tell('dispute.opened', 2, {})).toBeUndefined();
  expect(tell('dispute.closed', 3, { outcome: 'lost', amount_left: null })).toBeUndefined();
  expect(tell('dispute.closed', 5, { outcome: 'lost', amount_left: 0 })).toBe('end sub_sample');
  expect(tell('invoice.paid', 4, {})).toBeUndefined(); // late
  expect(tell('dispute.closed', 6, { outcome: 'won', amount_left: 2990 })).toBe('allow sub_sample');
  expect(tell('debit.returned', 7, { subscription_id: null })).toBe('end cus_sample');
  expect(tell('debit.returned', 8, { status: 'undone', amount_left: 2990 })).toBe('allow sub_sample');
  expect(tell('refund.succeeded', 9, { amount_left: 0 })).toBe('end sub_sample');
});
