// POST /api/tax/calculations (Document 2): the supported countries, the calculation, and its later use.
import { Fields as ControlFields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { supportedCountries, taxCurrencyOf } from './jurisdictions.js';
import { merchantRoutes } from './merchant-routes.js';
import { refusal, refuse } from './refusal.js';
import { type Account, type MorState, type Product } from './state.js';
import { type CalculatedCart, showCart } from './tax-answers.js';
import { computeLine } from './tax-computation.js';
import { type TaxRequest, checkBrazil, jurisdictionOf, parseTaxRequest, placeOf } from './tax-request.js';

const WEEK_MS = 7 * 86_400_000; // Document 2, Limits: "7 days from createdAt"

/** The legal entity that sells where the MoR is the Merchant of Record. */
const ENTITY = 'Sandbox Merchant of Record Ltd';

/** Failures of the tax engine behind the MoR. A control route turns them on. */
const ENGINE_FAILURES = {
  integration_credentials_invalid: 409,
  integration_not_configured: 409,
  tax_provider_unavailable: 502,
} as const;

export type Calculation = CalculatedCart & {
  readonly id: string;
  readonly account: Account;
  readonly country: string;
  /** The merchant's product in this country at the time of the calculation. The product decides who is liable. */
  readonly product: Product;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The first use of the calculation. Null: unused, so the merchant can still cite the calculation. */
  usedBy: 'transaction' | 'proforma_invoice' | null;
};

/** All tax calculations of the sandbox, by id. */
export class Calculations {
  private readonly byId = new Map<string, Calculation>();
  private engineFailure: keyof typeof ENGINE_FAILURES | null = null;

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
  ) {}

  /** Null for an unknown id and for another merchant's calculation. */
  find(account: Account, id: string): Calculation | null {
    const calculation = this.byId.get(id.toLowerCase());
    return calculation?.account === account ? calculation : null;
  }

  /** The tax engine fails with this code until a call with null. Throws BadInput for an unknown code. */
  failWith(code: string | null): void {
    const known = Object.keys(ENGINE_FAILURES) as (keyof typeof ENGINE_FAILURES)[];
    const failure = known.find((candidate) => candidate === code) ?? null;
    if (code !== null && failure === null)
      new ControlFields({}).refuse('fail', `must be null or one of ${known.join(', ')}`);
    this.engineFailure = failure;
  }

  /** Calculates. Throws the errors of a calculation in Document 2's error table. */
  create(account: Account, body: unknown): Calculation {
    const request = parseTaxRequest(body);
    const product = this.productFor(request);
    checkBrazil(request);
    if (this.engineFailure !== null) throw refusal(ENGINE_FAILURES[this.engineFailure], this.engineFailure, []);
    const createdAtMs = this.kernel.clock.nowMs();
    const calculation: Calculation = {
      id: this.kernel.random.uuid(),
      account,
      request,
      country: jurisdictionOf(request),
      product,
      lines: request.lines.map((line) => ({
        lineItemId: this.kernel.random.uuid(),
        line,
        computed: computeLine(request, line),
      })),
      createdAtMs,
      expiresAtMs: createdAtMs + WEEK_MS,
      usedBy: null,
    };
    this.byId.set(calculation.id, calculation);
    return calculation;
  }

  private productFor(request: TaxRequest): Product {
    const countries = request.lines.map((line) => placeOf(request, line).country);
    const unknown = countries.find((country) => taxCurrencyOf(country) === null);
    if (unknown !== undefined) throw refusal(409, 'region_not_supported', []);
    if (![...this.mor.regions.values()].some((product) => product === 'tor' || product === 'mor')) {
      throw refuse(400, 'invalid_state', 'status', 'Tax of Record is not activated');
    }
    const inactive = countries.some((country) => !this.mor.regions.has(country));
    const product = this.mor.regions.get(jurisdictionOf(request));
    if (inactive || product === undefined) throw refusal(409, 'region_not_activated', []);
    // The tax engine calculates no tax on goods in the US (Document 2, Rules), nor on goods in Brazil: there ISS covers
    // only services.
    const unpriced = request.lines.some(
      (line) => line.physical && ['US', 'BR'].includes(placeOf(request, line).country),
    );
    if (unpriced) throw refusal(409, 'physical_goods_not_supported', []);
    return product;
  }
}

function showCalculation(calculation: Calculation): Record<string, unknown> {
  return {
    taxCalculationId: calculation.id,
    createdAt: new Date(calculation.createdAtMs).toISOString(),
    expiresAt: new Date(calculation.expiresAtMs).toISOString(),
    ...showCart(calculation, () => false),
    ...(calculation.product === 'mor' ? { entity: { companyName: ENTITY } } : {}),
  };
}

export function addTaxCalculations(kernel: Kernel, mor: MorState, calculations: Calculations): void {
  mor.taxCalculationExists = (id) => calculations.find('main', id) !== null;
  merchantRoutes(kernel, mor)('POST', '/api/tax/calculations', ({ account, body }) => ({
    status: 201,
    body: showCalculation(calculations.create(account, body)),
  }));
  kernel.control('POST', '/_sandbox/tax', 'the tax engine fails: {fail: code or null}', (request) => {
    const code = new ControlFields(request.body).optionalString('fail') ?? null;
    calculations.failWith(code);
    return { status: 200, body: { fail: code, supported_countries: supportedCountries() } };
  });
}
