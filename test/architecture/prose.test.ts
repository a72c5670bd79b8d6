// `npm run check:prose` counts relative words and passives in prose alone.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

let folder = '';

function printed(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return execFileSync(process.execPath, ['tools/prose.mjs', file], { encoding: 'utf8' });
}

describe('the prose check', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'prose-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("the prose check counts a page's relative words, such as “that”, and its passives, and names the line of each finding", () => {
    const out = printed('page.md', '# Title\n\nOne two three four five.\n\nThe refund that is sent waits.\n');
    expect(out).toContain('docs: 11 words, 9.09 relative');
    expect(out).toContain('9.09 passive');
    expect(out).toMatch(/page\.md:5 The refund that is sent waits\./);
  });

  it('the prose check ignores code, headings and link targets', () => {
    const out = printed(
      'code.md',
      '# What is said\n\n```sh\necho which\n```\n\nRun `what that` and [go](that.md) home.\n',
    );
    expect(out).toContain('docs: 5 words, 0 relative');
  });

  it('the prose check reads the titles of a test file and no other text in it', () => {
    const out = printed('a.test.ts', "// a note that is not counted\nit('a refund that fails', () => 'what that');\n");
    expect(out).toContain('titles: 4 words, 25 relative');
    expect(out).not.toContain('comments');
  });
});
