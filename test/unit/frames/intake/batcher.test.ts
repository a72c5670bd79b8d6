// Group commit: nobody is told "stored" before the commit that holds his delivery.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Delivery } from '../../../../src/shared/domain/ports/inbox.js';
import {
  defaultBatchLimits,
  IntakeBatcher,
  NotStored,
  type BatchLimits,
} from '../../../../src/frames/intake/batcher.js';
import { FakeInbox, StillClock, turn } from '../../../support/fakes/fake-inbox.js';

function aDelivery(eventId: string, bytes = 10): Delivery {
  const body = Buffer.alloc(bytes, eventId);
  const receivedAt = new Date(0);
  return { source: 'stripe', eventId, type: 'x', lane: eventId, body, status: 'received', reason: null, receivedAt };
}

function setUp(limits: Partial<BatchLimits> = {}) {
  const inbox = new FakeInbox();
  const clock = new StillClock();
  const batcher = new IntakeBatcher(inbox, clock, { ...defaultBatchLimits, ...limits });
  const replies: string[] = [];
  /** Submits and notes the answer. */
  const submit = (eventId: string, bytes?: number): Promise<void> =>
    batcher.submit(aDelivery(eventId, bytes)).then(
      (outcome) => void replies.push(`${eventId} ${outcome}`),
      (error: unknown) => void replies.push(`${eventId} ${error instanceof NotStored ? error.why : 'broken'}`),
    );
  const sizes = () => inbox.batches.map((batch) => batch.length);
  return { inbox, clock, batcher, answers: replies, submit, sizes };
}

it('Crossbill commits the webhooks of one event loop turn together, and replies to no webhook before the commit', async () => {
  const { inbox, submit, answers: replies, sizes } = setUp();
  inbox.hold();
  const all = ['a', 'b', 'c'].map((id) => submit(id));
  await turn();
  await turn();
  expect([sizes(), replies]).toEqual([[3], []]);
  inbox.commitNext();
  await Promise.all(all);
  expect(replies).toEqual(['a stored', 'b stored', 'c stored']);
});

it('webhooks that arrive during a commit go into the next commit', async () => {
  const { inbox, submit, sizes } = setUp();
  inbox.hold();
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    void submit(id);
    await turn();
  }
  expect(sizes()).toEqual([1]);
  inbox.commitNext();
  await turn();
  await turn();
  expect(sizes()).toEqual([1, 4]);
});

it('one commit takes a limited number of webhooks and bytes, and a large webhook gets a commit of its own', async () => {
  const byCount = setUp({ batchCount: 2 });
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => byCount.submit(id)));
  expect(byCount.sizes()).toEqual([2, 2, 1]);
  const byBytes = setUp({ batchBytes: 100 });
  await Promise.all([
    byBytes.submit('a', 60),
    byBytes.submit('b', 60),
    byBytes.submit('c', 500),
    byBytes.submit('d', 40),
  ]);
  expect(byBytes.sizes()).toEqual([1, 1, 1, 1]);
  expect(byBytes.answers).toHaveLength(4);
});

it('no webhook of a failed commit counts as stored, and the next commit works', async () => {
  const { inbox, submit, answers: replies } = setUp();
  inbox.hold();
  const failed = Promise.all([submit('a'), submit('b')]);
  await turn();
  inbox.failNext();
  await failed;
  expect(replies).toEqual(['a store-failed', 'b store-failed']);
  const again = submit('a');
  await turn();
  inbox.commitNext();
  await again;
  expect(replies).toContain('a stored');
});

it('a commit with results for only some of its webhooks counts as failed', async () => {
  const { inbox, submit, answers: replies } = setUp();
  inbox.store = () => Promise.resolve(['stored']);
  await Promise.all([submit('a'), submit('b')]);
  expect(replies).toEqual(['a store-failed', 'b store-failed']);
});

it('if a commit is stuck for 8 to 9 seconds, the webhooks in the commit and the waiting webhooks fail', async () => {
  const { inbox, clock, submit, answers: replies, sizes, batcher } = setUp({ inFlight: 1 });
  inbox.hold();
  const first = submit('a');
  await turn();
  const second = submit('b');
  await clock.pass(7_900, 100);
  expect(replies).toEqual([]);
  await clock.pass(1_100, 100);
  await Promise.all([first, second]);
  expect(replies).toEqual(['a too-late', 'b too-late']);
  inbox.commitNext();
  await turn();
  await turn();
  expect(sizes()).toEqual([1]); // what was given up in the queue is not stored behind the sender's back
  expect(batcher.waiting).toBe(0);
});

it('Crossbill refuses a webhook without delay while too many webhooks or bytes wait', async () => {
  const byCount = setUp({ waitingCount: 3 });
  byCount.inbox.hold();
  for (const id of ['a', 'b', 'c', 'd']) void byCount.submit(id);
  await turn();
  expect(byCount.answers).toEqual(['d overloaded']);
  const byBytes = setUp({ waitingBytes: 100 });
  byBytes.inbox.hold();
  void byBytes.submit('a', 80);
  await byBytes.submit('b', 30);
  expect(byBytes.answers).toEqual(['b overloaded']);
  byBytes.inbox.commitNext();
});

it('on shutdown, Crossbill refuses new webhooks and replies to the waiting webhooks first', async () => {
  const { inbox, submit, answers: replies, batcher } = setUp();
  inbox.hold();
  void submit('a');
  await turn();
  let closed = false;
  const closing = batcher.close().then(() => (closed = true));
  await submit('b');
  expect([replies, closed]).toEqual([['b closing'], false]);
  inbox.commitNext();
  await closing;
  expect(replies).toEqual(['b closing', 'a stored']);
  await batcher.close();
});

it('for any order of arrivals, commits and failures, each webhook gets one reply: success only if its row is stored', async () => {
  const step = fc.constantFrom('submit', 'submit', 'submit', 'commit', 'fail', 'turn');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { inbox, batcher } = setUp({ batchCount: 3, inFlight: 2 });
      inbox.hold();
      let submitted = 0;
      let answered = 0;
      const seen: Promise<void>[] = [];
      for (const what of steps) {
        if (what === 'commit') inbox.commitNext();
        else if (what === 'fail') inbox.failNext();
        else if (what === 'turn') await turn();
        else {
          const id = `e${submitted++}`;
          const check = (stored: boolean) => {
            answered++;
            expect(inbox.rows.has(`stripe ${id}`)).toBe(stored);
          };
          seen.push(
            batcher.submit(aDelivery(id)).then(
              () => check(true),
              () => check(false),
            ),
          );
        }
      }
      const closing = batcher.close();
      while (batcher.waiting > 0) {
        inbox.commitNext();
        await turn();
      }
      await closing;
      await Promise.all(seen);
      expect(answered).toBe(submitted);
    }),
    { numRuns: 200 },
  );
});
