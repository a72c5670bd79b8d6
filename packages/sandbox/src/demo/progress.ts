// The demo's progress: on a terminal one line, rewritten in place; elsewhere plain lines.

const FRAMES = ['|', '/', '-', '\\'];
const REDRAW_MS = 120;
const CLEAR_LINE = '\r\u001b[2K';

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';
const CODES: Record<Style, [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  red: [31, 39],
  yellow: [33, 39],
};

/** The part of a terminal's stream this file needs. */
export type Out = { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };

export class Progress {
  private readonly startedAt = performance.now();
  private readonly terminal: boolean;
  private readonly colours: boolean;
  private now: string | null = null;
  private frame = 0;
  private timer: NodeJS.Timeout | null = null;

  /** @param noColour the value of NO_COLOR: any text but an empty one turns colours off (no-color.org) */
  constructor(
    private readonly out: Out,
    noColour: string | undefined,
  ) {
    this.terminal = out.isTTY === true;
    this.colours = this.terminal && (noColour ?? '') === '';
  }

  /** Shows the current work until the next line, on a terminal only. */
  step(text: string): void {
    this.now = text;
    if (!this.terminal) return;
    this.timer ??= setInterval(() => this.draw(), REDRAW_MS).unref();
    this.draw();
  }

  /** Prints finished work with the time since the start. */
  done(text: string): void {
    this.line(`${text} ${this.style('dim', `(${this.elapsed()})`)}`);
  }

  warn(text: string): void {
    this.line(this.style('yellow', text));
  }

  line(text = ''): void {
    this.out.write(`${this.terminal && this.now !== null ? CLEAR_LINE : ''}${text}\n`);
    if (this.now !== null) this.draw();
  }

  /** Ends the line that is rewritten in place. */
  idle(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    if (this.terminal && this.now !== null) this.out.write(CLEAR_LINE);
    this.now = null;
  }

  /** The time since the start, such as `4.2 s`. */
  elapsed(): string {
    return seconds(performance.now() - this.startedAt);
  }

  style(style: Style, text: string): string {
    const [on, off] = CODES[style];
    return this.colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  }

  private draw(): void {
    if (!this.terminal || this.now === null) return;
    this.frame = (this.frame + 1) % FRAMES.length;
    const text = `${FRAMES[this.frame] ?? ''} ${this.now}  ${this.elapsed()}`;
    // The terminal cannot rewrite a wrapped line, so cut the text.
    this.out.write(`${CLEAR_LINE}${text.slice(0, Math.max(20, (this.out.columns || 80) - 1))}`);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
