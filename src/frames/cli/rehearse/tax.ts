// What the MoR does with a tax calculation that grows old. Document 2 ends a calculation after 7 days, and a trial may
// last longer.
import { textAt } from './json.js';
import { keyBody } from './paid.steps.js';
import { type Stage } from './stage.js';

const MINUTE_MS = 60_000;

/**
 * Binds one tax calculation to a setup intent, again at the end of each run. Nobody confirms these intents. The report
 * shows the MoR's reply and the age of the calculation: run the rehearsal again after a week.
 */
export async function askTax(stage: Stage): Promise<void> {
  const { mor, rehearsal } = stage;
  if (rehearsal.ids['customer'] === undefined) return;
  if (rehearsal.ids['calculation'] === undefined && !(await calculate(stage))) return;
  const { calculation, calculation_since: since } = rehearsal.ids;
  const bound = await mor.setupIntent({ ...keyBody(stage), tax_calculation_id: calculation }, null);
  const age = Math.round((Date.now() - Date.parse(since ?? '')) / MINUTE_MS);
  const request = 'setup intent with a calculation';
  stage.observe('trial_tax', { request, age_minutes: age, status: bound.status, code: bound.code });
}

/** Makes the calculation for a digital product. False: there is no country, or the MoR refused. */
async function calculate(stage: Stage): Promise<boolean> {
  const { daemon, currency, jurisdiction: country } = stage;
  if (country === null) return false;
  const made = await daemon.post('/v1/tax/calculations', {
    currency: currency.toUpperCase(),
    customer: { legalName: 'Rehearsal', billingAddress: { line1: '1', city: 'Rehearsal', postalCode: '1', country } },
    lineItems: [
      {
        merchantLineItemReference: 'plan',
        productCode: 'rehearsal',
        title: 'Rehearsal',
        productType: 'DIGITAL',
        unitPrice: '10',
      },
    ],
    evidence: { billingCountry: country, ipAddress: '203.0.113.7' },
  });
  const id = textAt(made.body, 'taxCalculationId');
  if (id === null) {
    stage.observe('trial_tax', { request: 'calculation', status: made.status, code: textAt(made.body, 'code') });
    return false;
  }
  stage.keep('calculation', id);
  stage.keep('calculation_since', new Date().toISOString());
  return true;
}
