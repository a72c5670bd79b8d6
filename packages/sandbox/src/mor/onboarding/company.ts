// OnboardingCompany of Document 1: POST initiate reads it strictly, and replies show unset fields as empty strings.
import { parseCountry } from '../countries.js';
import { type Fields } from '../fields.js';

const GMV_TIERS = [
  'UP_TO_100K',
  'FROM_100K_TO_250K',
  'FROM_250K_TO_500K',
  'FROM_500K_TO_1M',
  'FROM_1M_TO_10M',
  'FROM_10M_TO_50M',
  'FROM_50M_TO_100M',
  'FROM_100M_TO_250M',
  'FROM_250M_TO_500M',
  'FROM_500M_TO_1B',
] as const;

/** Every field is a string; empty if unset. */
export type Company = {
  readonly legalName: string;
  readonly tradingName: string;
  readonly website: string;
  readonly taxId: string;
  readonly registrationNumber: string;
  readonly jurisdiction: string;
  readonly gmvTier: string;
  readonly registeredAddress: Readonly<Record<'line1' | 'line2' | 'city' | 'state' | 'postalCode' | 'country', string>>;
};

export const EMPTY_COMPANY: Company = {
  legalName: '',
  tradingName: '',
  website: '',
  taxId: '',
  registrationNumber: '',
  jurisdiction: '',
  gmvTier: '',
  registeredAddress: { line1: '', line2: '', city: '', state: '', postalCode: '', country: '' },
};

/** Records a problem for each missing or blank required field. An unknown tier makes the body unreadable. */
export function readCompany(fields: Fields): Company {
  const country = (from: Fields | undefined, name: string): string => {
    const value = from?.text(name) ?? '';
    if (value !== '' && parseCountry(value) === null) from?.problem(name, 'must be an ISO 3166-1 alpha-2 country code');
    return value;
  };
  const address = fields.object('registeredAddress');
  return {
    legalName: fields.text('legalName'),
    tradingName: fields.optionalText('tradingName') ?? '',
    website: fields.text('website'),
    taxId: fields.text('taxId'),
    registrationNumber: fields.text('registrationNumber'),
    jurisdiction: country(fields, 'jurisdiction'),
    gmvTier: fields.optionalWord('gmvTier', GMV_TIERS) ?? '',
    registeredAddress: {
      line1: address?.text('line1') ?? '',
      line2: address?.optionalText('line2') ?? '',
      city: address?.text('city') ?? '',
      state: address?.optionalText('state') ?? '',
      postalCode: address?.text('postalCode') ?? '',
      country: country(address, 'country'),
    },
  };
}
