// Parses RETRY_SCHEDULE: the steps after a failed renewal, by kind of decline.
import { RETRY_STEPS_MOST } from '../policy.js';
import { bad, good, type Kind } from './setting.js';

const KINDS = ['soft', 'hard', 'authentication'] as const;
const ENDS = ['nothing', 'uncollectible', 'cancel'] as const;
type Decline = (typeof KINDS)[number];

/**
 * A step of the schedule. `charge`: the MoR charges again, `afterMs` after the refusal. `link`: Crossbill makes a
 * payment link at once.
 */
type Step = { readonly do: 'charge'; readonly afterMs: number } | { readonly do: 'link' };
export type Schedule = Readonly<Record<Decline, readonly Step[]>> & { readonly end: (typeof ENDS)[number] };

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MOST_MS = 30 * UNITS.d;
/**
 * The shortest wait in production, because card networks count attempts. A rehearsal with the sandbox may wait less.
 */
export const SHORTEST_IN_PRODUCTION_MS = UNITS.h;

const DAYS = (...days: readonly number[]): Step[] => days.map((n) => ({ do: 'charge', afterMs: n * UNITS.d }));
const LINK: readonly Step[] = [{ do: 'link' }];
/** The default. Stripe's Dashboard also proposes three, five and seven days for a custom schedule. */
const DEFAULT: Schedule = { soft: DAYS(3, 5, 7), hard: LINK, authentication: LINK, end: 'nothing' };

/**
 * The kind for a schedule: `off`, `default`, or entries `kind=step,step` separated by blanks. A missing kind keeps its
 * default.
 */
export const retrySchedule: Kind<Schedule | null> = {
  type: 'off, default, or entries such as soft=3d,5d,7d hard=link authentication=link end=uncollectible',
  parse(text) {
    if (text === 'off') return good(null);
    if (text === 'default') return good(DEFAULT);
    const found: { -readonly [K in keyof Schedule]?: Schedule[K] } = {};
    for (const [index, entry] of text.trim().split(/\s+/).entries()) {
      const place = `entry ${index + 1}`;
      const [, name = '', value = ''] = /^([a-z]+)=(.*)$/.exec(entry) ?? [];
      const kind = KINDS.find((k) => k === name);
      if (kind === undefined && name !== 'end')
        return bad(`${place} must begin with soft=, hard=, authentication= or end=; or write only off or default`);
      if ((kind ?? 'end') in found) return bad(`${place}: ${name} appears a second time`);
      if (kind === undefined) {
        const end = ENDS.find((e) => e === value);
        if (end === undefined) return bad(`${place}: end must be one of ${ENDS.join(', ')}`);
        found.end = end;
        continue;
      }
      const steps = stepsOf(value);
      if (typeof steps === 'string') return bad(`${place} (${kind}): ${steps}`);
      found[kind] = steps;
    }
    return good({ ...DEFAULT, ...found });
  },
};

/** Parses the steps for one kind of decline. Returns the problem of the first wrong step as text. */
function stepsOf(value: string): Step[] | string {
  if (value === 'none') return [];
  const items = value.split(',');
  if (items.length > RETRY_STEPS_MOST) return `has more than ${RETRY_STEPS_MOST} steps`;
  const steps: Step[] = [];
  for (const [index, item] of items.entries()) {
    const place = `step ${index + 1}`;
    if (item === 'link') {
      if (index < items.length - 1)
        return `${place}: a link must be the last step, since the customer can pay by it for days`;
      steps.push({ do: 'link' });
      continue;
    }
    const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(item) ?? [];
    const afterMs = Number(digits) * UNITS[(unit ?? 'd') as keyof typeof UNITS];
    if (!(afterMs >= UNITS.s && afterMs <= MOST_MS))
      return `${place} must be a wait of at most 30 days, such as 3d or 12h, or link; write none alone for no step`;
    steps.push({ do: 'charge', afterMs });
  }
  return steps;
}

type Given = { readonly relay: boolean; readonly links: boolean; readonly production: boolean };

/**
 * Compares the schedule with the other settings. Returns one text with the first problem of each kind of decline. Null:
 * no problem.
 */
export function scheduleProblem(schedule: Schedule, has: Given): string | null {
  const problems = KINDS.flatMap(
    (kind) =>
      schedule[kind]
        .map((step, index) => stepProblem(step, kind, `${kind}, step ${index + 1}`, has))
        .find((problem) => problem !== null) ?? [],
  );
  return problems.length === 0 ? null : problems.join('; ');
}

function stepProblem(step: Step, kind: string, place: string, has: Given): string | null {
  if (step.do === 'link')
    return has.links
      ? null
      : `${place} is a payment link and needs RECOVERY_LINK_JURISDICTION and RECOVERY_LINK_RETURN_URL: set both, or take the step out (${kind}=none: no step at all)`;
  if (!has.relay && !has.links)
    return `${place} is another charge by the MoR and needs MOR_RELAY_URL (with the RECOVERY_LINK settings instead, Crossbill makes a payment link)`;
  if (step.afterMs < SHORTEST_IN_PRODUCTION_MS && has.production)
    return `${place} is less than an hour: production needs an hour or more, since card networks count attempts`;
  return null;
}
