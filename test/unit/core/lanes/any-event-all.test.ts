// As `any-event`, with each odd value in each place.
import { expect, it } from '@jest/globals';
import { EVERY_EVENT, failuresOf } from '../../../support/rigs/any-event.js';

it.each(EVERY_EVENT)(
  'an event %s that an endpoint takes with every odd value in every place ends within seconds, and its calls have bytes',
  async (_, event) => expect(await failuresOf(event, 1)).toEqual([]),
  120_000,
);
