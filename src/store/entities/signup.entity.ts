// What the merchant's backend asked for: a first payment, a trial's setup, or another payment method.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type SignupRow } from '../../domain/signup.js';
import { BIGINT, SEQ } from './columns.js';

@Entity('signup')
export class SignupEntity implements SignupRow {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: SignupRow['kind'];
  @Column('text') customerId!: string;
  @Column('bigint', { nullable: true, transformer: BIGINT }) amount!: bigint | null;
  @Column('char', { length: 3, nullable: true }) currency!: string | null;
  @Column('text') status!: string;
  @Column('text', { nullable: true }) intentId!: string | null;
  @Column('text', { nullable: true }) morCustomerId!: string | null;
  @Column('text', { nullable: true }) taxCalculationId!: string | null;
  @Column('boolean', { default: false }) recalculated!: boolean;
  @Column('text') morKey!: string;
  @Column('text') path!: string;
  @Column('text', { nullable: true }) body!: string | null;
  @Column('timestamptz', { nullable: true }) busyUntil!: Date | null;
  @Column('text') createdBy!: string;
  @Column('text', { nullable: true }) invoiceId!: string | null;
  @Column('text', { nullable: true }) chargeId!: string | null;
  @Column('text', { nullable: true }) paymentRowId!: string | null;
  @Column('timestamptz', { nullable: true }) completedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) confirmedAt!: Date | null;
  @Column('text', { nullable: true }) confirmedBy!: string | null;
  @Column('timestamptz', { nullable: true }) reportedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) triedAt!: Date | null;
  @Column('timestamptz') createdAt!: Date;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
