// The engine's table for enrolment: the rule for each event, call, item and choice.
import { declares } from '../../engine/items.js';
import { nextLookup } from '../../engine/lookup.js';
import { type Subject } from '../../engine/subject.js';
import { chargingItems, chargingLookup, chooseCharging } from './rules/charging.js';
import { enrolmentLookup, unreadItems, withdrawRelay } from './rules/enrolment.js';

export const enrolment = {
  late: true,
  before: [withdrawRelay, declares(unreadItems)],
  items: [chargingItems],
  lookups: [nextLookup(enrolmentLookup), nextLookup(chargingLookup)],
  choices: { double_charge_risk: chooseCharging },
} satisfies Subject;
