// A movement between two accounts; never changed.
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { BIGINT } from './columns.js';

@Entity('ledger_entry')
export class LedgerEntryEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('text') debitAccount!: string;
  @Column('text') creditAccount!: string;
  @Column('bigint', { transformer: BIGINT }) amount!: bigint;
  @Column('char', { length: 3 }) currency!: string;
  @Column('text') reason!: string;
  @Column('text') subject!: string;
  @Column('text') invoiceId!: string;
  @Column('text') paymentRowId!: string;
  @Column('text', { nullable: true }) paymentId!: string | null;
  @Column('text', { nullable: true }) processorChargeId!: string | null;
  @Column('text', { nullable: true }) refundId!: string | null;
  @Column('text', { nullable: true }) eventId!: string | null;
  @Column('timestamptz') movedAt!: Date;
  @Column('timestamptz') recordedAt!: Date;
}
