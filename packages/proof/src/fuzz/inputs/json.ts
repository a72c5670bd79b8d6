// Damages valid JSON: exchanges values, drops, doubles, renames and adds members, and writes numbers that parsers read
// differently. It changes a tree and prints it without JSON.stringify, so any text is possible.
import fc from 'fast-check';
import { amountText, bent, oddText, PROTOTYPE_NAMES, timeText } from './texts.js';

type Tree =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Tree[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: Tree])[] };

function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(treeOf) };
  if (typeof value === 'object' && value !== null) {
    return { kind: 'object', members: Object.entries(value).map(([k, v]) => [JSON.stringify(k), treeOf(v)] as const) };
  }
  return { kind: 'text', text: JSON.stringify(value) ?? 'null' };
}

function print(tree: Tree): string {
  if (tree.kind === 'text') return tree.text;
  if (tree.kind === 'list') return `[${tree.items.map(print).join(',')}]`;
  return `{${tree.members.map(([key, value]) => `${key}:${print(value)}`).join(',')}}`;
}

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1.0',
  '1e3',
  '1E-7',
  '1e400',
  '-1e400',
  '9007199254740991',
  '9007199254740992',
  '-9007199254740991',
  '9223372036854775808',
  '253402300799',
  '253402300800',
  '99999999999',
  '1e11',
  `1${'0'.repeat(400)}`,
  `0.${'1'.repeat(400)}`,
];
const WORDS = [
  'null',
  'true',
  'false',
  '{}',
  '[]',
  '""',
  '[[]]',
  '"\\ud800"',
  '"\\u0000"',
  '"\\uD83D\\uDCB8"',
  '{"id":"x"}',
];

/** One JSON value, as text. */
export const oddJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 4, arbitrary: oddText.map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: timeText.map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: amountText.map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: fc.integer().map(String) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 2 }) },
);

type Change = {
  readonly at: number;
  readonly how: 'put' | 'drop' | 'double' | 'rename' | 'add' | 'list' | 'box' | 'nest' | 'otherType';
  readonly json: string;
  readonly key: string;
  readonly deep: number;
};

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  how: fc.oneof(
    { weight: 8, arbitrary: fc.constant('put' as const) },
    fc.constantFrom('drop', 'double', 'rename', 'add', 'list', 'box', 'nest', 'otherType'),
  ),
  json: oddJson,
  key: fc.oneof(fc.constantFrom(...PROTOTYPE_NAMES, 'id', 'amount', 'currency', 'status', 'data', 'object'), oddText),
  deep: fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(3, 90, 101, 3_000) },
    { weight: 1, arbitrary: fc.constant(100_000) },
  ),
});

const sizes = new WeakMap<Tree, number>();

/** The number of values in the tree, the tree itself included. */
function size(tree: Tree): number {
  if (tree.kind === 'text') return 1;
  const known = sizes.get(tree);
  if (known !== undefined) return known;
  const inner = tree.kind === 'list' ? tree.items : tree.members.map(([, value]) => value);
  const counted = inner.reduce((sum, one) => sum + size(one), 1);
  sizes.set(tree, counted);
  return counted;
}

/** Changes the value at one place of the tree: place 0 is the tree itself. Null: the change removed the tree. */
function changed(tree: Tree, place: number, change: Change): Tree | null {
  if (place === 0) return done(tree, change);
  if (tree.kind === 'text') return tree;
  let left = place - 1;
  const walk = (value: Tree): Tree | null => {
    const own = size(value);
    const here = left >= 0 && left < own;
    const result = here ? changed(value, left, change) : value;
    left = here ? -1 : left - own;
    return result;
  };
  if (tree.kind === 'list') return { kind: 'list', items: tree.items.map(walk).filter((one) => one !== null) };
  const members: (readonly [string, Tree])[] = [];
  for (const [key, value] of tree.members) {
    const isIt = left === 0;
    const next = walk(value);
    if (next === null) continue;
    members.push([isIt && change.how === 'rename' ? JSON.stringify(change.key) : key, next]);
    if (isIt && change.how === 'double') members.push([key, { kind: 'text', text: change.json }]);
  }
  return { kind: 'object', members };
}

function done(tree: Tree, { how, json, key, deep }: Change): Tree | null {
  const text = (text: string): Tree => ({ kind: 'text', text: text });
  switch (how) {
    case 'put':
      return text(json);
    case 'drop':
      return null;
    case 'list':
      return { kind: 'list', items: [tree, tree] };
    case 'box':
      return { kind: 'object', members: [['"id"', tree]] };
    case 'nest':
      return text(`${'['.repeat(deep)}${print(tree)}${']'.repeat(deep)}`);
    case 'otherType':
      return text(tree.kind === 'text' && !tree.text.startsWith('"') ? `"${tree.text}"` : '12');
    case 'add':
      if (tree.kind !== 'object') return tree;
      return { kind: 'object', members: [...tree.members, [JSON.stringify(key), text(json)]] };
    default:
      return tree;
  }
}

/**
 * JSON texts made from these examples by up to five changes. One text in eight then also loses or gains characters, and
 * is rarely still JSON.
 */
export function bentJson(examples: readonly unknown[]): fc.Arbitrary<string> {
  const trees = examples.map(treeOf);
  const asTree = fc
    .tuple(fc.nat(Math.max(0, trees.length - 1)), fc.array(change, { maxLength: 5 }))
    .map(([n, changes]) => {
      let tree: Tree = trees[n] ?? { kind: 'text', text: 'null' };
      for (const one of changes) tree = changed(tree, one.at % size(tree), one) ?? { kind: 'text', text: 'null' };
      return print(tree);
    });
  return fc.oneof({ weight: 7, arbitrary: asTree }, { weight: 1, arbitrary: bent(asTree) });
}
