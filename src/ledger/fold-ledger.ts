// Keeps the ledger's sums by day close to its end, so that a trial balance reads days and not entries.
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LedgerSumsStore } from './sums.store.js';

const EVERY_MS = 5 * 60_000;

@Injectable()
export class FoldLedger {
  private readonly log = new Logger('ledger');

  constructor(private readonly sums: LedgerSumsStore) {}

  /** Any replica may do it: one at a time does. */
  @Interval(EVERY_MS)
  async fold(): Promise<void> {
    try {
      while ((await this.sums.fold()) > 0);
    } catch (e) {
      this.log.error(
        'the sums of the ledger could not be brought up to date; a trial balance takes longer until they are',
        e,
      );
    }
  }
}
