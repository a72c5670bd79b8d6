import { expect, it } from '@jest/globals';
import { EVENT_ROWS } from '../../../../src/core/mor-objects/event-rows.js';
import { MOR_SERVICE_TYPES } from '../../../../src/core/mor-objects/event-rows.js';

it("each of the MoR's service events that Crossbill subscribes to has a rule, in the core or in a feature", () => {
  expect(Object.keys(EVENT_ROWS).sort()).toEqual([...MOR_SERVICE_TYPES].sort());
});
