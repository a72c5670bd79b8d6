// What the books keep in our own words is plain ASCII, so that no console, export or log of a merchant's can garble it.
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { readSources } from './import-rules.js';

/** The parts whose words reach a table or a log: journal lines, review items, reasons. */
const WRITERS =
  /^(domain|lane|store|mor|stripe|intake|[a-z-]+\/rules)\/|\.flow\.ts$|(^|\/)(watch-[a-z]+|verify-reports)\.ts$/;

/** String and template texts with other characters, as `path:line text`. Comments may have any, and so may what is written as an escape. */
function otherThanAscii(path: string, text: string): string[] {
  if (!/[^\x00-\x7f]/.test(text)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && /[^\x00-\x7f]/.test(node.getText(source))) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push(`${path}:${line + 1} ${node.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('what we store in our own words', () => {
  it('is plain ASCII: no typographic quotes, dashes, arrows or ellipses', () => {
    const files = readSources('src').filter(({ path }) => WRITERS.test(path));
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(({ path, text }) => otherThanAscii(path, text))).toEqual([]);
    expect(otherThanAscii('x.ts', `const a = \`the MoR\u2019s \${b}\`; // \u2019`)).toHaveLength(1);
  });
});
