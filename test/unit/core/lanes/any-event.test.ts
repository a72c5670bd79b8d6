// Every event that a webhook endpoint takes comes to an end at its first try, with the calls that follow from it.
import { expect, it } from '@jest/globals';
import { EVERY_EVENT, failuresOf } from '../../../support/rigs/any-event.js';

const ONE_OF = 5; // `any-event-all` tries them all

it.each(EVERY_EVENT)(
  'an event %s that an endpoint takes with an odd value in any place ends within seconds, and its calls have bytes',
  async (_, event) => expect(await failuresOf(event, ONE_OF)).toEqual([]),
  120_000,
);
