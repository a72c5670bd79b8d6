// Reads the fields of `crossbill verify --json` for the day benchmark.

export type Verified = {
  readonly exitCode: number | null;
  readonly seconds: number;
  /** The number of differences, listed or only counted. Null: verify could not compare everything. */
  readonly differences: number | null;
  /** For each kind of difference: the number, and the text of one example. */
  readonly kinds: Readonly<Record<string, string>>;
  /** Why the comparison is incomplete; null: it is complete. */
  readonly problem: string | null;
};

/** @param text the output of verify */
export function verifiedOf(text: string, exitCode: number | null, seconds: number): Verified {
  const report = parsed(text);
  const error = fieldsOf(report['error']);
  const problem = wordOf(report['problem']) ?? wordOf(error['message']);
  const list: unknown = report['differences'];
  if (!Array.isArray(list))
    return { exitCode, seconds, differences: null, kinds: {}, problem: problem ?? text.slice(0, 300) };
  const counts = new Map<string, { n: number; one: string }>();
  const add = (kind: string, count: number, one: string): void => {
    const of = counts.get(kind) ?? { n: 0, one };
    counts.set(kind, { ...of, n: of.n + count });
  };
  for (const d of list.map(fieldsOf)) add(String(d['kind']), 1, String(d['detail']));
  for (const [kind, n] of Object.entries(fieldsOf(report['more']))) add(kind, Number(n), '');
  const differences = [...counts.values()].reduce((sum, { n }) => sum + n, 0);
  const kinds = Object.fromEntries([...counts].map(([kind, { n, one }]) => [kind, `${n}: ${one}`]));
  return { exitCode, seconds, differences: problem === null ? differences : null, kinds, problem };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const wordOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
