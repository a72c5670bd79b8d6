// Compares the short bench on a server with the same bench on the embedded PostgreSQL. The embedded one runs before and
// after: the machine may change meanwhile.
import { tableOf } from './table.mjs';

/** The compared figures, from the bench's JSON. Rates and times depend on the machine: read the column `ratio`. */
const FIGURES = [
  ['intake, workers idle, events per second', (f) => f.intake.idle.perSecond],
  ['the same while the daemon decides and marks', (f) => f.intake.busy.perSecond],
  ['intake, p99 in ms', (f) => f.intake.idle.p99Ms],
  ['commits per event', (f) => f.intake.idle.commits / f.intake.idle.requests],
  ['processor time of PostgreSQL per event, µs', (f) => f.intake.idle.cpu.postgres],
  ['the durable limit of a renewal, per second', (f) => f.path.limit],
  ['renewals per second, answers at once, 64 lanes', (f) => f.path.instant.perSecond],
  ['renewals per second, answers after 150 ms, 32 lanes', (f) => f.path.slow.perSecond],
  ['commits per renewal, answers at once', (f) => f.path.instant.commitsPerRenewal],
  ['processor time of the bridge per renewal, ms', (f) => f.path.instant.cpuMsPerRenewal],
];

export function comparison({ before, other, after }) {
  const rows = FIGURES.map(([what, figure]) => {
    const embedded = (figure(before) + figure(after)) / 2;
    return [
      what,
      short(figure(before)),
      short(figure(after)),
      short(figure(other)),
      (figure(other) / embedded).toFixed(2),
    ];
  });
  return tableOf(['figure', 'embedded, before', 'embedded, after', 'this server', 'ratio'], rows);
}

const short = (n) => (n >= 100 ? String(Math.round(n)) : n.toPrecision(3));
