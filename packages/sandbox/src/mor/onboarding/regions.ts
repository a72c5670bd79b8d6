// The regions of Document 1: reference data, with random ids for each environment (here: for each seed).
import { type SeededRandom } from '../../kernel/random.js';

type Region = {
  readonly name: string;
  readonly flagCode: string;
  /** Undefined for a region of several countries. */
  readonly countryCode?: string;
  readonly taxSupported?: true;
  readonly morSupported?: true;
};

/**
 * Several regions share a flag code: Northern Ireland has GB's, members of the EU have EU's. The list leaves out
 * regions with neither product.
 */
const REGIONS: readonly Region[] = [
  { name: 'European Union', flagCode: 'EU', taxSupported: true },
  { name: 'Germany', flagCode: 'EU', countryCode: 'DE', taxSupported: true, morSupported: true },
  { name: 'France', flagCode: 'EU', countryCode: 'FR', taxSupported: true },
  { name: 'United Kingdom', flagCode: 'GB', countryCode: 'GB', taxSupported: true, morSupported: true },
  { name: 'Northern Ireland', flagCode: 'GB', taxSupported: true },
  { name: 'United States', flagCode: 'US', countryCode: 'US', taxSupported: true },
  { name: 'Canada', flagCode: 'CA', countryCode: 'CA', taxSupported: true },
  { name: 'Brazil', flagCode: 'BR', countryCode: 'BR', morSupported: true },
];

/**
 * The list as the MoR sends it: without an unset country and without `false` (Document 1, "What the service does", 7).
 */
export function makeRegions(random: SeededRandom): readonly Record<string, unknown>[] {
  return REGIONS.map((region) => ({ id: random.uuid(), ...region }));
}
