// Runs a merchant's whole onboarding from one description: begins the application, sends regions and business, and
// submits the application if nothing is missing.
import { type OnboardingRow } from '../../shared/domain/onboarding.js';
import { type OnboardingDone, type OnboardingFlow } from './onboarding.flow.js';

export type ApplyStep = 'start' | 'product' | 'business' | 'submit';
export type AppliedMerchant = {
  /** The finished steps in order. Parts already at the MoR need no step. */
  readonly steps: readonly ApplyStep[];
  readonly result: OnboardingDone;
};

const BUSINESS = ['businessDescription', 'storeUrls', 'category'] as const;

/**
 * Carries out the description. `merchant`: Document 1's initiate body plus `regions`, `businessDescription`,
 * `storeUrls`, `category`, and `submit` (false: do not submit); or `withoutCompany: true` in place of `company`. A
 * second run sends regions and business only if the MoR still lets them change.
 */
export async function applyMerchant(flow: OnboardingFlow, merchant: unknown, by: string): Promise<AppliedMerchant> {
  const object: Readonly<Record<string, unknown>> =
    typeof merchant === 'object' && merchant !== null ? { ...merchant } : {};
  const given = new Map(Object.entries(object));
  const take = (name: string): unknown => {
    const value = given.get(name);
    given.delete(name);
    return value;
  };
  const regions = take('regions');
  const wanted = take('submit') !== false;
  const described = BUSINESS.map((name) => [name, take(name)] as const).filter(([, value]) => value !== undefined);
  const business: Readonly<Record<string, unknown>> = Object.fromEntries(described);
  const steps: ApplyStep[] = ['start'];
  let result: OnboardingDone = await flow.start(Object.fromEntries(given), by);
  const stands = (...statuses: OnboardingRow['status'][]): boolean =>
    result.ok && statuses.includes(result.value.row.status);
  const writable = (): boolean => stands('created', 'changes_requested');
  if (!result.ok) return { steps, result };
  const { reference, productCode, regions: chosen } = result.value.row;
  // A merchant without company details has no application yet: the choice of a product begins the application.
  const bare = stands('requested') && result.value.row.merchantId !== null && productCode !== '';
  if ((writable() || bare) && Array.isArray(regions) && regions.join('\n') !== chosen.join('\n')) {
    steps.push('product');
    result = await flow.chooseProduct(reference, { code: productCode, regions });
  }
  if (writable() && Object.keys(business).length > 0) {
    steps.push('business');
    result = await flow.describeBusiness(reference, business);
  }
  if (wanted && writable() && result.ok && result.value.row.due.length === 0) {
    steps.push('submit');
    result = await flow.submit(reference);
  }
  return { steps, result };
}
