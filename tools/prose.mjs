// `npm run check:prose`: counts relative words and passives per 100 words in docs, comments, messages and test titles.
// Prints the worst sentences and fails above a bar. With files as arguments it measures only those: `npm run
// check:prose -- docs/limits.md`.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * The most per 100 words. The goal is 1.5 and 2.3 in docs, 1.8 and 2.3 elsewhere. A bar above its goal may only fall.
 */
const BARS = {
  docs: { relative: 1.5, passive: 2.3 },
  comments: { relative: 1.8, passive: 1.8 },
  messages: { relative: 1.4, passive: 2.1 },
  titles: { relative: 1.8, passive: 2.3 },
};
const WORST = 5;

const RELATIVE = /\b(?:that|which|who|whose|whom|what|whoever|whatever)\b/gi;
const IRREGULAR =
  'begun|bought|broken|brought|built|caught|chosen|cut|dealt|done|drawn|driven|fed|felt|forgotten|found|frozen|given|grown|heard|held|hidden|hit|kept|' +
  'known|laid|led|left|lent|let|lost|made|meant|met|paid|proven|put|read|redone|reset|run|said|seen|sent|set|shown|shut|sold|spent|split|spread|stolen|' +
  'stuck|taken|taught|thought|thrown|told|torn|undone|understood|withdrawn|won|written|overridden|overwritten|rewritten|rebuilt|resent|reread';
const NO_PARTICIPLE = 'embed|exceed|hundred|indeed|need|proceed|speed|succeed|undefined|unexpected|unused';
const ADVERB = 'not|never|always|only|also|then|still|now|already|just|ever|so|first|\\w+ly';
const PASSIVE = new RegExp(
  `\\b(?:am|is|are|was|were|be|been|being)(?:n['’]t)?\\s+(?:(?:${ADVERB})\\s+){0,2}(?:(?!(?:${NO_PARTICIPLE})\\b)\\w{2,}ed|${IRREGULAR})\\b`,
  'gi',
);
const SQL =
  /^\s*\(?(?:select|insert into|update \w+ set|delete from|with \w+ as|create|alter|drop|lock|begin|do \$)\b|\$\d|\border by\b|\bwhere \w+/;

const count = (text, pattern) => text.match(pattern)?.length ?? 0;
const countWords = (text) => count(text, /\S*[A-Za-z0-9]\S*/g);
const lineAt = (text, offset) => text.slice(0, offset).split('\n').length;

/** Removes code, links, addresses and tags, since they are names and not prose. */
function plain(text) {
  return text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/`[^`]*`/g, (code) => `X${code.replace(/[^\n]/g, '')}`)
    .replace(/\[([^\]]*)\](?:\([^)\s]*\))/g, '$1')
    .replace(/https?:\/\/\S+/g, 'X')
    .replace(/<\/?[a-z][^<>]*>/gi, ' ')
    .replace(/\*\*|@\w+/g, '');
}

/** Reads the paragraphs, list items and table cells of a page, without headings and blocks of code. */
function readPage(file) {
  const hide = (text) => text.replace(/[^\n]/g, '');
  const text = readFileSync(file, 'utf8')
    .replace(/^---\n[\s\S]*?\n---\n/, hide)
    .replace(/^ *```[\s\S]*?^ *```/gm, hide)
    .replace(/<!--[\s\S]*?-->|^#.*|^\s*\|[\s:|-]+$/gm, hide);
  const prose = plain(text);
  const blocks = prose.matchAll(/\S(?:(?!\n\s*(?:\n|[-*|]|\d+\.))[^|])*/g);
  return [...blocks].map((m) => ({ file, line: lineAt(prose, m.index), text: m[0] }));
}

/** Reads the comments. Comments on consecutive lines are one. Directives for tools don't count. */
function readComments(file, text, source) {
  const found = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) found.set(pos, text.slice(pos, end));
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.end) ?? []) found.set(pos, text.slice(pos, end));
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([pos, comment]) => ({
      file,
      line: lineAt(text, pos),
      text: plain(comment.replace(/^\/\*\*?|\*\/$|^\s*\*|^\/\//gm, '')),
    }))
    .filter((c) => !/^\s*(?:eslint|@ts-|prettier-)/.test(c.text))
    .reduce((blocks, c) => {
      const last = blocks.at(-1);
      if (last !== undefined && last.line + last.text.split('\n').length === c.line) last.text += `\n${c.text}`;
      else blocks.push(c);
      return blocks;
    }, []);
}

const textOf = (node) =>
  ts.isTemplateExpression(node)
    ? node.head.text + node.templateSpans.map((s) => `X${s.literal.text}`).join('')
    : node.text;

/**
 * Reads the strings for people: at least 40 letters, and no SQL. `isTitle`: reads the first argument of `it` and
 * `test`.
 */
function readStrings(file, text, source, isTitle) {
  const found = [];
  const visit = (node) => {
    const isString =
      ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
    const isFirst = isString && ts.isCallExpression(node.parent) && node.parent.arguments[0] === node;
    const isNamed = isFirst && /^(?:it|test)\b/.test(node.parent.expression.getText(source));
    const isLong =
      isString && !SQL.test(textOf(node)) && count(textOf(node), /[A-Za-z]/g) >= 40 && count(textOf(node), /\s+/g) >= 5;
    if (isTitle ? isNamed : isLong)
      found.push({ file, line: lineAt(text, node.getStart(source)), text: plain(textOf(node)) });
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const sentencesOf = (block) =>
  block.text.split(/(?<=[.!?][)"”’]*)\s+(?=["“(]*[A-Z0-9])/).map((text) => ({
    ...block,
    text: text.trim().replace(/\s+/g, ' '),
    score: 3 * count(text, RELATIVE) + 2 * count(text, PASSIVE),
  }));

function readKinds(files) {
  const kinds = { docs: [], comments: [], messages: [], titles: [] };
  for (const file of files.filter(existsSync)) {
    if (file.endsWith('.md')) kinds.docs.push(...readPage(file));
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(file, 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    if (file.startsWith('src/')) {
      kinds.comments.push(...readComments(file, text, source));
      kinds.messages.push(...readStrings(file, text, source, false));
    }
    if (file.endsWith('.test.ts')) kinds.titles.push(...readStrings(file, text, source, true));
  }
  return kinds;
}

const chosen = process.argv.slice(2);
const hasCode = chosen.length === 0 || chosen.some((file) => file.endsWith('.ts'));
const ts = hasCode ? (await import('typescript')).default : null; // slow to load
const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n');
const isRead = (file) => /\.(?:md|ts)$/.test(file) && !/^docs\/reference\/|CHANGELOG\.md$/.test(file);
const kinds = readKinds(chosen.length > 0 ? chosen : tracked.filter(isRead));

for (const [kind, blocks] of Object.entries(kinds)) {
  const words = blocks.reduce((sum, b) => sum + countWords(b.text), 0);
  if (words === 0) continue;
  const per100 = (pattern) =>
    Math.round((10_000 * blocks.reduce((sum, b) => sum + count(b.text, pattern), 0)) / words) / 100;
  const figures = { relative: per100(RELATIVE), passive: per100(PASSIVE) };
  const isOver = Object.entries(BARS[kind]).some(([figure, bar]) => figures[figure] > bar);
  console.log(
    `${kind}: ${words} words, ${figures.relative} relative (bar ${BARS[kind].relative}), ${figures.passive} passive (bar ${BARS[kind].passive}) per 100`,
  );
  if (isOver && chosen.length === 0) process.exitCode = 1;
  if (!isOver && chosen.length === 0) continue;
  const worst = blocks
    .flatMap(sentencesOf)
    .filter((s) => s.score > 0)
    .sort((a, b) => b.score - a.score);
  for (const s of worst.slice(0, chosen.length > 0 ? 30 : WORST))
    console.log(`  ${s.file}:${s.line} ${s.text.slice(0, 200)}`);
}
