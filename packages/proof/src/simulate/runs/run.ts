// One run: a world plays a story with faults for a day and a half, then goes on without faults until Crossbill has no
// work left. At the end the rules check the world.
import { type Difference } from '#src/shared/domain/difference.js';
import { retrySchedule } from '#src/shared/config/retry-schedule.js';
import { type VerifyReport } from '#src/features/verify/verify.service.js';
import { type DecisionSettings } from '#src/shared/domain/settings.js';
import {
  type FaultKind,
  type FaultSource,
  type GivenFault,
  givenFaults,
  randomFaults,
  type YieldPoint,
} from '../machine/faults.js';
import { isByHand, unnamedManual, wasDetached } from '../acts/manual-acts.js';
import { brokenWhenIdle, idleRules } from '../rules/idle-rules.js';
import { Seeded } from '../machine/seeded.js';
import { type SimRepository, type Snapshot } from '../machine/sim-repository.js';
import { randomStory } from '../stories/random.js';
import { type Story } from '../stories/scenes.js';
import { collectedByStripe } from '../acts/twice.js';
import { World } from '../machine/world.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Faults end after this time. */
const FAULTS_END_MS = 40 * HOUR;
/** Crossbill must finish all work within this time after the last fault. */
const LIVENESS_MS = 24 * HOUR;
/** The length of a run. Bank debits take four days, and their refunds three more. */
const ALL_OVER_MS = 11 * 24 * HOUR;

export type RunSetup = {
  readonly name: string;
  readonly seed: string;
  readonly story: Story;
  readonly shuffled: boolean;
  readonly faults: (world: World) => FaultSource;
  readonly keepTrace: boolean;
  readonly repository: SimRepository;
};

export type RunResult = {
  readonly name: string;
  readonly story: string;
  readonly broken: readonly string[];
  readonly digest: string;
  readonly steps: number;
  readonly points: readonly YieldPoint[];
  readonly injected: readonly { readonly at: number; readonly label: string; readonly fault: FaultKind }[];
  readonly trace: readonly string[];
  /** The rare events of this run, in words. */
  readonly happened: readonly string[];
  /** The parts of the random story of this run, including the parts left out. */
  readonly parts: readonly string[];
};

const RETRY_LINKS = { jurisdiction: 'GB', returnUrl: 'https://shop.example/paid', expiresSec: 86_400 };

function scheduleOf({ name, settings }: Story): DecisionSettings['retrySchedule'] {
  const parsed = retrySchedule.parse(settings?.retries ?? 'off');
  if (!parsed.ok) throw new Error(`${name}: ${parsed.problem}`);
  return parsed.value;
}

export function settingsOf(story: Story): DecisionSettings {
  return {
    markMode: story.settings?.markMode ?? 'payment_record',
    draftPolicy: story.settings?.draftPolicy ?? 'wait',
    renewalAlarmAfterHours: 24,
    bankDebitAlarmAfterDays: 10,
    signupChargeCheck: 'psp_reference',
    relay: story.settings?.relay ?? null,
    guard: true,
    enrolment: story.settings?.enrolment ?? { by: 'all' },
    recoveryLinks: story.settings?.retries?.includes('link') === true ? RETRY_LINKS : null,
    retrySchedule: scheduleOf(story),
  };
}

/** Runs one story. Never throws for errors of the code under test: they are in the result. */
export async function run(setup: RunSetup): Promise<RunResult> {
  const { repository, story } = setup;
  await repository.reset();
  const world = new World({
    ...setup,
    settings: settingsOf(story),
    notifies: story.settings?.notify ?? false,
    standby: story.settings?.standby ?? false,
    pace: story.settings?.pace ?? null,
  });
  const { scheduler } = world;
  const broken: string[] = [];
  let happened: readonly string[] = [];
  try {
    await story.plan(world);
    scheduler.faults = setup.faults(world);
    await scheduler.runUntil(world.at(0) + FAULTS_END_MS);
    world.heal();
    await scheduler.runUntil(world.now + LIVENESS_MS);
    const early = await repository.snapshot(new Date(world.now));
    broken.push(...idleRules({ seen: early }).map((b) => `within a day: ${b}`));
    await scheduler.runUntil(world.at(0) + ALL_OVER_MS);
    await verify(world, broken);
    const seen = await repository.snapshot(new Date(world.now));
    broken.push(...scheduler.broken, ...brokenWhenIdle(world, seen));
    happened = whatHappened(world, seen);
  } catch (error) {
    broken.push(`the run broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    world.sandbox.kernel.clock.close();
    world.end();
  }
  return {
    name: setup.name,
    story: story.name,
    broken,
    digest: scheduler.digest(),
    steps: scheduler.released,
    points: scheduler.points,
    injected: scheduler.injected,
    trace: scheduler.lines,
    happened,
    parts: story.parts ?? [],
  };
}

/** The rare events of a run. A set of runs should meet each at least once. */
export function whatHappened(world: World, seen: Snapshot): readonly string[] {
  const { calls, refunds, reviews } = seen;
  const things: readonly (readonly [string, boolean])[] = [
    ['a late worker was fenced', world.scheduler.fenced > 0],
    ['a delivery came again', new Set(world.acknowledged.map((a) => a.eventId)).size < world.acknowledged.length],
    ['a call was tried again', calls.some((m) => m.attempts > 1)],
    ['a next key was written', calls.some((m) => m.generation > 1)],
    ['a call was refused for good', calls.some((m) => m.status === 'refused')],
    ['a refund of ours', refunds.some((r) => r.origin === 'api')],
    ['a refund made elsewhere', refunds.some((r) => r.origin === 'event')],
    [
      'a refund without an invoice',
      [...world.sandbox.mor.payments.values()].some((p) => p.merchantInvoiceId === null && p.amountRefunded > 0),
    ],
    ['a refund mirrored', refunds.some((r) => r.mirror === 'done')],
    ['a signup marked', seen.payments.some((p) => p.origin === 'signup' && p.mark === 'confirmed')],
    ['a transfer marked', seen.payments.some((p) => p.origin === 'proforma' && p.mark === 'confirmed')],
    ['a link’s payment marked', seen.payments.some((p) => p.origin === 'payment_link' && p.mark === 'confirmed')],
    ['a link paid twice', twoOnLink(world)],
    ['a proforma invoice failed', seen.objects.some((o) => o.kind === 'proforma' && o.status === 'ISSUANCE_FAILED')],
    ['a proforma invoice withdrawn', seen.objects.some((o) => o.kind === 'proforma' && o.status === 'DELETED')],
    ['a link expired', seen.objects.some((o) => o.kind === 'payment_link' && o.status === 'EXPIRED')],
    ['a payment named by a person', seen.payments.some((p) => p.identified_by !== null)],
    ['a name taken back', world.planted.disowned.size > 0],
    ['a charge named twice', world.planted.oneCharge.length > 0],
    ['a payment captured', world.planted.captures.length > 0],
    ['two refunds with one id', sharedRefunds(world)],
    ['paid twice by Stripe’s own charge', paidTwice(world)],
    ['a double charge foreseen', reviews.some((r) => r.kind === 'double_charge_risk')],
    ['an invoice outside of ENROLMENT', seen.invoices.some((i) => i.enrolled === false && i.status === 'ignored')],
    ['an outside invoice that the MoR paid', seen.invoices.some((i) => i.enrolled === false && i.status === 'paid')],
    ['a notification sent again', new Set(world.heard.map((h) => h.id)).size < world.heard.length],
    ['an event relayed', calls.some((m) => m.kind === 'relay_event' && m.status === 'done')],
    ['a retry ordered', calls.some((m) => m.kind === 'retry_charge' && m.status === 'done')],
    ['a retry taken back', calls.some((m) => m.kind === 'retry_charge' && m.status === 'cancelled')],
    ['a schedule ended', seen.invoices.some((i) => i.retries?.ended?.how !== undefined)],
    ['a loss booked', seen.ledger.some((e) => e.reason === 'dispute_lost')],
    ['a loss credited on Stripe', seen.ledger.some((e) => e.reason === 'loss_credited')],
    ['a loss taken back', seen.ledger.some((e) => e.reason === 'dispute_reversed')],
    ['a lane folded from a snapshot', [...seen.log.values()].some((rows) => rows.some((r) => r.snapshot))],
    ['the database set back', world.gaps.length > 0],
    ['an event lost', world.lost.length > 0],
    ['an interrupted verify resumed', world.resumed > 0],
    ...[...new Set(world.byHand.map((h) => h.what))].map((what) => [`by hand: ${what}`, true] as const),
    ...[...new Set(reviews.map((r) => r.kind))].map((kind) => [`item ${kind}`, true] as const),
  ];
  return things.filter(([, did]) => did).map(([what]) => what);
}

function twoOnLink({ planted: { linksPaid } }: World): boolean {
  return new Set(linksPaid.map((l) => l.linkId)).size < linksPaid.length;
}

function sharedRefunds({ sandbox, planted }: World): boolean {
  const ids = [...sandbox.mor.refunds.values()].map((r) => r.processorRefundId);
  return [...planted.oneRefundId].some((id) => ids.filter((x) => x === id).length > 1);
}

function paidTwice({ sandbox }: World): boolean {
  const taken = [...sandbox.mor.payments.values()].filter((p) => p.status === 'succeeded');
  return taken.some((p) => collectedByStripe(sandbox.stripe.state.invoices.get(p.merchantInvoiceId ?? '')) > 0);
}

/** The share of runs with a second, interrupted verify. */
const IN_HALVES = 0.25;

/**
 * G11: each difference of `crossbill verify` has an item for a person, or verify repairs it and a second verify finds
 * none. In some runs an interrupted and resumed verify must find the same.
 */
export async function verify(world: World, broken: string[]): Promise<void> {
  world.loses = () => false; // from now on no event gets lost, so a repaired world must be clean
  for (let round = 0; round < 2; round++) {
    let left: readonly string[] = ['it did not come to its end'];
    let whole: VerifyReport | null = null;
    let unnamed: readonly string[] = [];
    void world.ask('verify', async (r) => {
      const report = await r.verify.run({ since: new Date(world.at(-60)) });
      whole = report;
      const unnotified = report.differences.filter((d) => d.reviewId === null && !isTheMerchants(world, d));
      left = unnotified.map((d) => `${d.kind}: ${d.detail} (${d.invoiceId ?? d.eventId ?? ''})`);
      if (report.problem !== null) left = [...left, report.problem];
      unnamed = unnamedManual(world, report.differences);
      if (round === 0 && left.length > 0) await r.verify.repair(report);
    });
    await world.scheduler.runUntil(world.now + 2 * HOUR);
    if (left.length === 0 || round === 1) broken.push(...unnamed);
    if (left.length === 0) {
      if (whole !== null && world.rng.chance(IN_HALVES)) await inHalves(world, whole, broken);
      return;
    }
    if (round === 1) broken.push(...left.map((l) => `G11: verify finds ${l}`));
  }
}

/** An interrupted verify must report itself incomplete. After its resume it must find the same as `whole`. */
async function inHalves(world: World, whole: VerifyReport, broken: string[]): Promise<void> {
  const { since } = whole;
  const shown = ({ differences }: VerifyReport): string =>
    JSON.stringify(differences.map((d) => [d.kind, d.detail]).sort());
  const said = ['it did not come to its end'];
  void world.ask('verify in halves', async (r) => {
    const cut = new AbortController();
    let steps = world.rng.int(1, 12);
    const onProgress = (): void => {
      if (--steps === 0) cut.abort();
    };
    const half = await r.verify.run({ since, signal: cut.signal, onProgress });
    const remaining = await r.verify.run({ since, resume: true });
    said.length = 0;
    if (cut.signal.aborted && half.outcome !== 'incomplete') said.push(`cut off, and ${half.outcome}`);
    if (cut.signal.aborted && remaining.resumedFrom !== half.id) said.push('did not resume');
    if (remaining.outcome !== whole.outcome || shown(remaining) !== shown(whole))
      said.push(`in one go ${whole.outcome} ${shown(whole)}, in halves ${remaining.outcome} ${shown(remaining)}`);
  });
  await world.scheduler.runUntil(world.now + 2 * HOUR);
  broken.push(...said.map((what) => `G11: verify in two halves: ${what}`));
}

/** True if the merchant caused the difference by hand, or a person dismissed its item. Every verify reports it. */
function isTheMerchants(world: World, difference: Difference): boolean {
  const id = difference.invoiceId ?? '';
  const known = wasDetached(world, { id }) || world.leftUnshown.has(difference.refundId ?? '');
  return (
    isByHand(world, difference) ||
    (difference.kind === 'refund_not_mirrored' && known) ||
    (difference.kind === 'overpaid' && world.leftToCustomer.has(id)) ||
    (difference.kind === 'marked_not_charged' && world.paidByHand.has(id))
  );
}

const RATES = [0, 0.01, 0.02, 0.05, 0.12];

/**
 * A seed's run after shrinking. `faults`: exactly these faults (null: the seed draws them). `without`: the numbers of
 * the parts to leave out.
 */
export type Small = { readonly faults: ReadonlyMap<number, FaultKind> | null; readonly without: readonly number[] };

const WHOLE: Small = { faults: null, without: [] };

/** Runs one seed: a random story under random faults. */
export function seededRun(
  seed: number,
  repository: SimRepository,
  keepTrace: boolean,
  { faults, without }: Small = WHOLE,
): Promise<RunResult> {
  const rng = new Seeded(`story ${seed}`);
  const story = randomStory(rng.fork('plan'), without);
  const rate = rng.pick(RATES);
  return run({
    name: `seed ${seed}`,
    seed: String(seed),
    story,
    shuffled: true,
    faults: () => (faults === null ? randomFaults(rng.fork('faults'), rate) : givenFaults(faults)),
    keepTrace,
    repository,
  });
}

/**
 * Runs a story under the given faults, without random order. The run fails if a given fault never occurs: without the
 * fault the run proves nothing.
 */
export async function plainRun(
  story: Story,
  repository: SimRepository,
  given: readonly GivenFault[] = [],
  more: { readonly name?: string; readonly keepTrace?: boolean } = {},
): Promise<RunResult> {
  const result = await run({
    name: more.name ?? story.name,
    seed: story.name,
    story,
    shuffled: false,
    faults: () => givenFaults(new Map(given)),
    keepTrace: more.keepTrace ?? false,
    repository,
  });
  const missed = given.filter(([at, fault]) => !result.injected.some((i) => i.at === at && i.fault === fault));
  const broken = missed.map(([at, fault]) => `the fault ${at}:${fault} never came`);
  return { ...result, broken: [...result.broken, ...broken] };
}
