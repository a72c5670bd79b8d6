// The results as a Markdown table, also readable on a terminal.

export function markdown(results) {
  const rows = results.map((r) => [
    r.node,
    r.postgres,
    r.jit === null ? '–' : r.jit ? 'on' : 'none',
    r.note !== null ? r.note : testsOf(r),
    r.demo === null ? '–' : r.demo ? 'clean' : 'failed',
    String(r.seconds),
  ]);
  return tableOf(['Node', 'PostgreSQL', 'JIT', 'tests', 'demo', 'seconds'], rows);
}

/** The counts without the demo, because the demo has its own column. */
function testsOf({ passed, failed, skipped, demo }) {
  const [p, f] = [passed - (demo === true ? 1 : 0), failed - (demo === false ? 1 : 0)];
  if (p + f + skipped === 0) return '–';
  return [`${p} passed`, ...(f > 0 ? [`**${f} failed**`] : []), ...(skipped > 0 ? [`${skipped} skipped`] : [])].join(
    ', ',
  );
}

function tableOf(head, rows) {
  const widths = head.map((h, i) => Math.max(3, h.length, ...rows.map((r) => r[i].length)));
  const line = (cells) => `| ${cells.map((c, i) => c.padEnd(widths[i])).join(' | ')} |`;
  return [line(head), line(widths.map((w) => '-'.repeat(w))), ...rows.map(line)].join('\n');
}
