// The MoR's text about a failure shows without anything like a secret.
import { safeText } from '@crossbill/mor/safe-text.js';
import { expect, it } from '@jest/globals';

it.each([
  ['key sk_test_canary4711 refused', 'key [secret] refused'],
  ['nosk_live_canary4711', 'no[secret]'],
  ['1whsec_canary4711', '1[secret]'],
  ['pi_1_secret_canary4711', '[secret]'],
  ['task_identifier and risk_level stay', 'task_identifier and risk_level stay'],
])("the MoR client hides secrets in the MoR's error text: it prints “%s” as “%s”", (said, shown) => {
  expect(safeText(said, [])).toBe(shown);
});
