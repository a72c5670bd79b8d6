// Reads the JSON replies of the daemon and of the sandbox, and checks every member before use.

/** A JSON object from outside. A missing member, or a member of another type, throws an error with its name. */
export class Reading {
  constructor(
    private readonly value: Readonly<Record<string, unknown>>,
    private readonly what: string,
  ) {}

  /** Makes a reading of an object. Throws if `value` is not a JSON object. */
  static of(value: unknown, what: string): Reading {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what}: not an object`);
    return new Reading({ ...value }, what);
  }

  text(name: string): string {
    return this.textOrNull(name) ?? this.wrong(name, 'a text');
  }

  /** Reads a text. Null if the member is missing or null. */
  textOrNull(name: string): string | null {
    const value = this.value[name] ?? null;
    return value === null || typeof value === 'string' ? value : this.wrong(name, 'a text');
  }

  /** A whole number. Accepts a string of digits too, as JSON APIs write large amounts. */
  amount(name: string): number {
    return this.amountOrNull(name) ?? this.wrong(name, 'a whole number');
  }

  amountOrNull(name: string): number | null {
    const value = this.value[name] ?? null;
    if (value === null) return null;
    const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    return Number.isSafeInteger(number) ? Number(number) : this.wrong(name, 'a whole number');
  }

  flag(name: string): boolean {
    const value = this.value[name];
    return typeof value === 'boolean' ? value : this.wrong(name, 'true or false');
  }

  object(name: string): Reading {
    return Reading.of(this.value[name], `${this.what}.${name}`);
  }

  /** The objects of a list. A missing list is empty. */
  list(name: string): readonly Reading[] {
    const value = this.value[name] ?? [];
    if (!Array.isArray(value)) return this.wrong(name, 'a list');
    return value.map((one: unknown, i) => Reading.of(one, `${this.what}.${name}[${i}]`));
  }

  /** The strings of a list. A missing list is empty. */
  strings(name: string): readonly string[] {
    const value = this.value[name] ?? [];
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
      return this.wrong(name, 'a list of texts');
    return value;
  }

  private wrong(name: string, expected: string): never {
    throw new Error(`${this.what}: ${name} is not ${expected}`);
  }
}
