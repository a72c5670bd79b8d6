// One description of a merchant, as `crossbill onboard apply` reads it from a file, and the steps that carry it out.

export const STEPS = ['product', 'business', 'submit'] as const;
export type Step = (typeof STEPS)[number];

export type Description = {
  /** The request that begins the application: Document 1's initiate body, or a merchant `withoutCompany`. */
  readonly start: Readonly<Record<string, unknown>>;
  /** Null: the description has no list of regions. */
  readonly regions: readonly unknown[] | null;
  /** The members of Document 1's request about the business, as far as given. */
  readonly business: Readonly<Record<string, unknown>>;
  /** False: somebody submits the application later. */
  readonly submit: boolean;
};

const BUSINESS: readonly string[] = ['businessDescription', 'storeUrls', 'category'];

export function readDescription(given: unknown): Description {
  const { regions, submit, ...rest } = (typeof given === 'object' && given !== null ? given : {}) as Readonly<
    Record<string, unknown>
  >;
  const members = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    start: Object.fromEntries(members.filter(([name]) => !BUSINESS.includes(name))),
    regions: Array.isArray(regions) ? regions : null,
    business: Object.fromEntries(members.filter(([name]) => BUSINESS.includes(name))),
    submit: submit !== false,
  };
}

type Seen = {
  readonly status: string;
  readonly merchantId: string | null;
  readonly productCode: string;
  readonly regions: readonly string[];
  readonly due: readonly string[];
};

/** True if a step brings the application nearer to the description and the MoR still lets the application change. */
export function isWanted(step: Step, { regions, business, submit }: Description, row: Seen): boolean {
  const isOpen = row.status === 'created' || row.status === 'changes_requested';
  switch (step) {
    case 'product': {
      // A merchant without company details has no application yet: the choice of a product begins the application.
      const mayBegin = row.status === 'requested' && row.merchantId !== null && row.productCode !== '';
      return (isOpen || mayBegin) && regions !== null && regions.join('\n') !== row.regions.join('\n');
    }
    case 'business':
      return isOpen && Object.keys(business).length > 0;
    case 'submit':
      return isOpen && submit && row.due.length === 0;
  }
}
