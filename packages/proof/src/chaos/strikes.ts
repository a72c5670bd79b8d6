// Carries out the strikes, and heals everything at the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { type RealPostgres } from './postgres.js';
import { type Program } from './processes.js';
import { type Kind, type Strike } from './schedule.js';
import { type Mode, type TcpProxy } from './tcp-proxy.js';
import { type World } from './world.js';

export class Strikes {
  readonly done = new Map<Kind, number>();
  private readonly under = new Set<Promise<void>>();
  private problem: Error | null = null;

  constructor(
    private readonly world: World,
    private readonly server: RealPostgres,
    private readonly say: (strike: Strike) => void,
  ) {}

  get count(): number {
    return [...this.done.values()].reduce((sum, n) => sum + n, 0);
  }

  /**
   * Carries out each strike at its time, until the list ends or `ended` returns true. Rejects if a part does not come
   * back.
   */
  async carryOut(strikes: readonly Strike[], ended: () => boolean): Promise<void> {
    const startedAt = performance.now();
    for (const strike of strikes) {
      while (performance.now() - startedAt < strike.atMs && !ended()) await sleep(50);
      if (ended()) break;
      if (this.problem !== null) throw this.problem;
      this.say(strike);
      this.done.set(strike.kind, (this.done.get(strike.kind) ?? 0) + 1);
      const work: Promise<void> = this.strike(strike)
        .catch((error: unknown) => void (this.problem ??= error instanceof Error ? error : new Error(String(error))))
        .finally(() => this.under.delete(work));
      this.under.add(work);
    }
  }

  /** Waits for running strikes. Then opens every network and starts every part. */
  async heal(): Promise<void> {
    await Promise.all(this.under);
    if (this.problem !== null) throw this.problem;
    for (const way of Object.values(this.world.ways)) way.set('pass');
    this.world.sandbox.thaw();
    for (const daemon of this.world.daemons) daemon.thaw();
    await this.server.start();
  }

  private async strike({ kind, part, forMs }: Strike): Promise<void> {
    const { ways, pooler } = this.world;
    switch (kind) {
      case 'daemon killed':
        return this.daemon(part).strike('SIGKILL', forMs);
      case 'daemon stopped':
        return this.daemon(part).strike('SIGTERM', forMs);
      case 'daemon frozen':
        return this.freeze(this.daemon(part), forMs);
      case 'peers frozen':
        return this.freeze(this.world.sandbox, forMs);
      case 'PostgreSQL killed':
        return this.restart('SIGKILL', forMs);
      case 'PostgreSQL stopped':
        return this.restart('SIGQUIT', forMs);
      case 'backend killed':
        return void (await this.server.killSession().catch(() => false)); // the server may be busy with its recovery
      case 'pooler killed':
        await pooler?.kill();
        await sleep(forMs);
        return pooler?.launch();
      case 'database cut':
        return this.set(ways.database, 'cut', forMs);
      case 'database hangs':
        return this.set(ways.database, 'hang', forMs);
      case 'database answers lost':
        return this.set(ways.database, 'lose-answers', forMs);
      case 'Stripe cut':
        return this.set(ways.stripe, 'cut', forMs);
      case 'Stripe hangs':
        return this.set(ways.stripe, 'hang', forMs);
      case 'Stripe answers lost':
        return this.set(ways.stripe, 'lose-answers', forMs);
      case 'MoR cut':
        return this.set(ways.mor, 'cut', forMs);
      case 'MoR hangs':
        return this.set(ways.mor, 'hang', forMs);
      case 'MoR answers lost':
        return this.set(ways.mor, 'lose-answers', forMs);
      case 'endpoints cut':
        return this.set(ways.endpoints, 'cut', forMs);
      case 'endpoints hang':
        return this.set(ways.endpoints, 'hang', forMs);
      case 'endpoint answers lost':
        return this.set(ways.endpoints, 'lose-answers', forMs);
    }
  }

  private daemon(part: string): Program {
    const found = this.world.daemons.find((d) => d.name === part);
    if (found === undefined) throw new Error(`there is no ${part}`);
    return found;
  }

  private async freeze(program: Program, forMs: number): Promise<void> {
    program.freeze();
    await sleep(forMs);
    program.thaw();
  }

  private async restart(signal: 'SIGKILL' | 'SIGQUIT', forMs: number): Promise<void> {
    await this.server.end(signal);
    await sleep(forMs);
    await this.server.start();
  }

  private async set(way: TcpProxy, mode: Mode, forMs: number): Promise<void> {
    way.set(mode);
    await sleep(forMs);
    way.set('pass');
  }
}
