// A merchant's onboarding.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type OnboardingRow } from '../domain/onboarding.js';
import { SEQ } from '../store/columns.js';

@Entity('onboarding')
export class OnboardingEntity implements OnboardingRow {
  @PrimaryColumn('text') reference!: string;
  @Column('text', { nullable: true }) merchantId!: string | null;
  @Column('text', { nullable: true }) applicationId!: string | null;
  @Column('text') productCode!: string;
  @Column('text', { array: true, default: () => "'{}'" }) regions!: string[];
  @Column('text') status!: OnboardingRow['status'];
  @Column('text', { array: true, default: () => "'{}'" }) due!: string[];
  @Column('jsonb', { default: () => "'[]'" }) comments!: OnboardingRow['comments'];
  @Column('text', { nullable: true }) reviewMessage!: string | null;
  @Column('jsonb', { nullable: true }) merchant!: NonNullable<OnboardingRow['merchant']> | null;
  @Column('bytea', { nullable: true }) bodySha256!: Buffer | null;
  @Column('boolean', { default: false }) existing!: boolean;
  @Column('boolean', { default: false }) companyDiscarded!: boolean;
  @Column('integer', { default: 0 }) initiates!: number;
  @Column('timestamptz', { nullable: true }) submittedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) reviewedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) readAt!: Date | null;
  @Column('timestamptz', { nullable: true }) pollAt!: Date | null;
  @Column('timestamptz', { nullable: true }) busyUntil!: Date | null;
  @Column('text') createdBy!: string;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
  /** Of its table: the order of the rows' first writes. */
  @Column(SEQ) seq!: string;
}
