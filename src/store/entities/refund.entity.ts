// A refund of a payment.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type RefundRow } from '../../domain/model.js';
import { BIGINT, SEQ } from './columns.js';

@Entity('refund')
export class RefundEntity implements RefundRow {
  @PrimaryColumn('text') id!: string;
  @Column('text') paymentRowId!: string;
  @Column('text') invoiceId!: string;
  @Column('text', { nullable: true }) morRefundId!: string | null;
  @Column('text', { nullable: true }) processorRefundId!: string | null;
  @Column('bigint', { transformer: BIGINT }) amount!: bigint;
  @Column('char', { length: 3 }) currency!: string;
  @Column('text') status!: RefundRow['status'];
  @Column('text', { nullable: true }) morStatus!: string | null;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('text') origin!: RefundRow['origin'];
  @Column('text', { nullable: true }) askedOf!: string | null;
  @Column('text', { nullable: true }) askedAs!: string | null;
  @Column('boolean') counted!: boolean;
  @Column('bigint', { nullable: true, transformer: BIGINT }) totalAfter!: bigint | null;
  @Column('bigint', { transformer: BIGINT, default: 0 }) surplus!: bigint;
  @Column('text') mirror!: RefundRow['mirror'];
  @Column('text', { nullable: true }) creditNoteId!: string | null;
  @Column('jsonb', { nullable: true }) failure!: NonNullable<RefundRow['failure']> | null;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz', { nullable: true }) succeededAt!: Date | null;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
