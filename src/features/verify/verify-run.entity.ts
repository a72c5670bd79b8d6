// A verify run, as the database stores it.
import { Column, Entity, PrimaryColumn, type ValueTransformer } from 'typeorm';
import { type LossWindow } from './rules/loss-window.js';
import { type VerifyRun } from './rules/run.js';
import { SEQ } from '../../frames/store/columns.js';

type KeptWindow = Record<'events' | 'closed', Record<'from' | 'to', string>>;

/** The database's JSON has times as text: turns the text into dates. */
const WINDOWS: ValueTransformer = {
  to: (windows: readonly LossWindow[]) => windows,
  from: (kept: readonly KeptWindow[]): LossWindow[] =>
    kept.map(({ events, closed }) => ({
      events: { from: new Date(events.from), to: new Date(events.to) },
      closed: { from: new Date(closed.from), to: new Date(closed.to) },
    })),
};

@Entity('verify_run')
export class VerifyRunEntity implements VerifyRun {
  @PrimaryColumn('text') id!: string;
  @Column('timestamptz') startedAt!: Date;
  @Column('timestamptz', { nullable: true }) finishedAt!: Date | null;
  @Column('text') outcome!: VerifyRun['outcome'];
  @Column('jsonb', { default: () => "'{}'" }) compared!: VerifyRun['compared'];
  @Column('jsonb', { default: () => "'[]'" }) differences!: VerifyRun['differences'];
  @Column('jsonb', { default: () => "'{}'" }) more!: VerifyRun['more'];
  @Column('jsonb', { default: () => "'[]'", transformer: WINDOWS }) lossWindows!: LossWindow[];
  @Column('timestamptz') since!: Date;
  @Column('timestamptz') beganAt!: Date;
  @Column('timestamptz', { nullable: true, select: false }) savedAt!: Date | null;
  @Column('jsonb', { nullable: true, select: false }) progress!: object | null;
  @Column('text', { nullable: true }) resumedFrom!: string | null;
  @Column('integer', { nullable: true }) marksLeft!: number | null;
  @Column({ ...SEQ, select: false }) seq!: string;
}
