// What a verify run compared and found.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type VerifyRun } from './rules/run.js';
import { BIGINT, SEQ } from '../store/columns.js';

/** A loss window as JSON keeps it. */
export type KeptSpan = { readonly from: string; readonly to: string };
type KeptWindow = { readonly events: KeptSpan; readonly closed: KeptSpan };

@Entity('verify_run')
export class VerifyRunEntity {
  @PrimaryColumn('text') id!: string;
  @Column('timestamptz') startedAt!: Date;
  @Column('timestamptz', { nullable: true }) finishedAt!: Date | null;
  @Column('text') outcome!: VerifyRun['outcome'];
  @Column('jsonb', { default: () => "'{}'" }) compared!: VerifyRun['compared'];
  @Column('jsonb', { default: () => "'[]'" }) differences!: VerifyRun['differences'];
  @Column('jsonb', { default: () => "'{}'" }) more!: VerifyRun['more'];
  @Column('jsonb', { default: () => "'[]'" }) lossWindows!: KeptWindow[];
  @Column('timestamptz', { nullable: true }) since!: Date | null;
  @Column('timestamptz', { nullable: true }) beganAt!: Date | null;
  @Column('timestamptz', { nullable: true }) savedAt!: Date | null;
  @Column('jsonb', { nullable: true }) progress!: object | null;
  @Column('text', { nullable: true }) resumedFrom!: string | null;
  @Column('bigint', { nullable: true, transformer: BIGINT }) marksLeft!: bigint | null;
  /** Of its table: the order of the rows' first writes. */
  @Column(SEQ) seq!: string;
}
