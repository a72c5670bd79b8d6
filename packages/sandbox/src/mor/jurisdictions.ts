// The countries and states whose taxes the sandbox knows: currency, rates, levels. Rates are in millionths; they are
// plausible, but no tax advice.

export type TaxType = 'VAT' | 'GST' | 'SALES_TAX' | 'IMPORT_VAT' | 'OTHER';
export type Level = 'COUNTRY' | 'STATE' | 'COUNTY' | 'CITY' | 'DISTRICT';

/** One tax of one place. */
export type Levy = {
  readonly name: string;
  readonly jurisdiction: string;
  readonly level: Level;
  readonly taxType: TaxType;
  /** The name the tax engine uses. The MoR passes it on unchanged. */
  readonly providerTaxType: string;
  readonly rate: bigint;
};

export type Place = { readonly country: string; readonly state: string | undefined; readonly city: string };

type Country = {
  readonly name: string;
  readonly currency: string;
  readonly rate: bigint;
  readonly taxType: TaxType;
  readonly fallbackDuty: bigint;
};

const percent = (value: number): bigint => BigInt(Math.round(value * 10_000));
const country = (name: string, currency: string, rate: number, taxType: TaxType = 'VAT', duty = 12): Country => ({
  name,
  currency,
  rate: percent(rate),
  taxType,
  fallbackDuty: percent(duty),
});

const COUNTRIES: Readonly<Record<string, Country>> = {
  AT: country('Austria', 'EUR', 20),
  AU: country('Australia', 'AUD', 10, 'GST', 5),
  BE: country('Belgium', 'EUR', 21),
  BG: country('Bulgaria', 'EUR', 20),
  BR: country('Brazil', 'BRL', 5, 'OTHER', 60),
  CA: country('Canada', 'CAD', 5, 'GST', 18),
  CH: country('Switzerland', 'CHF', 8.1, 'VAT', 0),
  CY: country('Cyprus', 'EUR', 19),
  CZ: country('Czechia', 'CZK', 21),
  DE: country('Germany', 'EUR', 19),
  DK: country('Denmark', 'DKK', 25),
  EE: country('Estonia', 'EUR', 24),
  ES: country('Spain', 'EUR', 21),
  FI: country('Finland', 'EUR', 25.5),
  FR: country('France', 'EUR', 20),
  GB: country('United Kingdom', 'GBP', 20, 'VAT', 12),
  GR: country('Greece', 'EUR', 24),
  HR: country('Croatia', 'EUR', 25),
  HU: country('Hungary', 'HUF', 27),
  IE: country('Ireland', 'EUR', 23),
  IN: country('India', 'INR', 18, 'GST', 20),
  IT: country('Italy', 'EUR', 22),
  JP: country('Japan', 'JPY', 10, 'OTHER', 8),
  LT: country('Lithuania', 'EUR', 21),
  LU: country('Luxembourg', 'EUR', 17),
  LV: country('Latvia', 'EUR', 21),
  MT: country('Malta', 'EUR', 18),
  MX: country('Mexico', 'MXN', 16, 'VAT', 20),
  NL: country('Netherlands', 'EUR', 21),
  NO: country('Norway', 'NOK', 25, 'VAT', 10),
  NZ: country('New Zealand', 'NZD', 15, 'GST', 5),
  PL: country('Poland', 'PLN', 23),
  PT: country('Portugal', 'EUR', 23),
  RO: country('Romania', 'RON', 21),
  SE: country('Sweden', 'SEK', 25),
  SG: country('Singapore', 'SGD', 9, 'GST', 0),
  SI: country('Slovenia', 'EUR', 22),
  SK: country('Slovakia', 'EUR', 23),
  US: country('United States', 'USD', 0, 'SALES_TAX', 15),
  ZA: country('South Africa', 'ZAR', 15, 'VAT', 20),
};

/** Sales tax of state, county and city in percent. Any other state has 4 + 1 + 0.5. */
const US_STATES: Readonly<Record<string, readonly [number, number, number]>> = {
  AK: [0, 0, 0],
  CA: [6, 1.25, 1.25],
  CO: [2.9, 1, 3.81],
  DE: [0, 0, 0],
  FL: [6, 1, 0],
  IL: [6.25, 1.75, 1.25],
  MA: [6.25, 0, 0],
  MT: [0, 0, 0],
  NH: [0, 0, 0],
  NJ: [6.625, 0, 0],
  NY: [4, 0.375, 4.5],
  OR: [0, 0, 0],
  PA: [6, 1, 1],
  TX: [6.25, 0.5, 1.5],
  WA: [6.5, 1.5, 2.35],
};

/**
 * What a province adds to Canada's 5 percent, and whether its tax replaces the 5 percent (harmonised). Any other
 * province adds nothing.
 */
const CA_PROVINCES: Readonly<
  Record<string, { readonly name: string; readonly rate: number; readonly harmonised: boolean }>
> = {
  BC: { name: 'PST', rate: 7, harmonised: false },
  MB: { name: 'RST', rate: 7, harmonised: false },
  NB: { name: 'HST', rate: 15, harmonised: true },
  NL: { name: 'HST', rate: 15, harmonised: true },
  NS: { name: 'HST', rate: 14, harmonised: true },
  ON: { name: 'HST', rate: 13, harmonised: true },
  PE: { name: 'HST', rate: 15, harmonised: true },
  QC: { name: 'QST', rate: 9.975, harmonised: false },
  SK: { name: 'PST', rate: 6, harmonised: false },
};

/** The countries the tax engine supports. */
export function supportedCountries(): readonly string[] {
  return Object.keys(COUNTRIES);
}

/** The currency of tax invoices in a country; null for an unsupported country ("has no tax currency"). */
export function taxCurrencyOf(code: string): string | null {
  return COUNTRIES[code]?.currency ?? null;
}

/** The cautious duty rate for goods without an HS code (Document 2, `FALLBACK_ESTIMATE`). */
export function fallbackDutyOf(code: string): bigint {
  return COUNTRIES[code]?.fallbackDuty ?? 0n;
}

function salesTax(place: Place): readonly Levy[] {
  const state = (place.state ?? '').toUpperCase();
  const [stateRate, countyRate, cityRate] = US_STATES[state] ?? [4, 1, 0.5];
  const levy = (level: Level, jurisdiction: string, rate: number): Levy => ({
    name: `${jurisdiction} ${level.toLowerCase()} sales tax`,
    jurisdiction,
    level,
    taxType: 'SALES_TAX',
    providerTaxType: 'SALES',
    rate: percent(rate),
  });
  const parts = [
    levy('STATE', state, stateRate),
    levy('COUNTY', `${place.city} County`, countyRate),
    levy('CITY', place.city, cityRate),
  ];
  return parts.filter((part) => part.level === 'STATE' || part.rate > 0n);
}

function canadianTax(place: Place): readonly Levy[] {
  const state = (place.state ?? '').toUpperCase();
  const province = CA_PROVINCES[state];
  const gst: Levy = {
    name: 'GST',
    jurisdiction: 'Canada',
    level: 'COUNTRY',
    taxType: 'GST',
    providerTaxType: 'GST',
    rate: percent(5),
  };
  if (province === undefined) return [gst];
  const own: Levy = {
    name: province.name,
    jurisdiction: state,
    level: 'STATE',
    taxType: province.harmonised ? 'GST' : 'SALES_TAX',
    providerTaxType: province.name,
    rate: percent(province.rate),
  };
  return province.harmonised ? [own] : [gst, own];
}

/** The taxes of a supported place, widest level first. `imported`: the tax is due at the border (`IMPORT_VAT`). */
export function leviesAt(place: Place, imported: boolean): readonly Levy[] {
  const known = COUNTRIES[place.country];
  if (known === undefined) return [];
  if (place.country === 'US') return salesTax(place);
  if (place.country === 'CA') return canadianTax(place);
  if (place.country === 'BR') {
    const iss = {
      name: 'ISS',
      jurisdiction: place.city,
      level: 'CITY',
      taxType: 'OTHER',
      providerTaxType: 'ISS',
    } as const;
    return [{ ...iss, rate: known.rate }];
  }
  return [
    {
      name: imported
        ? `Import VAT ${known.name}`
        : `${known.taxType === 'OTHER' ? 'Consumption tax' : known.taxType} ${known.name}`,
      jurisdiction: known.name,
      level: 'COUNTRY',
      taxType: imported ? 'IMPORT_VAT' : known.taxType,
      providerTaxType: imported ? 'IMPORT_VAT' : known.taxType === 'OTHER' ? 'CONSUMPTION_TAX' : known.taxType,
      rate: known.rate,
    },
  ];
}
