// A merchant's onboarding (Document 1), under the partner's own reference. The application is a copy of what the MoR
// returned at the last read.
import { type Company } from '@crossbill/mor';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { SEQ } from '../../frames/store/columns.js';

/** A merchant as the MoR returns it (Document 1, "Merchant (detail)"). `company` null: nobody has given any details. */
export type MerchantFacts = {
  readonly company: Company | null;
  readonly businessDescription: string | null;
  readonly storeUrls: readonly string[];
};

@Entity('onboarding')
export class OnboardingEntity {
  @PrimaryColumn('text') reference!: string;
  /** Null until the MoR lists the merchant: its answer to the initiate request does not contain this id. */
  @Column('text', { nullable: true }) merchantId!: string | null;
  /** Null until the MoR answers the initiate request, and for an application begun by somebody else. */
  @Column('text', { nullable: true }) applicationId!: string | null;
  /** Empty: nobody has chosen a product. */
  @Column('text') productCode!: string;
  @Column('text', { array: true, default: [] }) regions!: readonly string[];
  /** `requested`: no application yet. `refused`: the MoR would not begin one. Otherwise the MoR's own word. */
  @Column('text') status!: string;
  /** The keys of the requirements still open before submit. */
  @Column('text', { array: true, default: [] }) due!: readonly string[];
  /** The reviewer's comments. `field` is a label for people, not a key of the application. */
  @Column('jsonb') comments!: readonly { readonly field: string; readonly message: string }[];
  @Column('text', { nullable: true }) reviewMessage!: string | null;
  /** Null: never read. */
  @Column('jsonb', { nullable: true }) merchant!: MerchantFacts | null;
  /** The hash of the first request's body, in hex. Null: somebody else began the application. */
  @Column('text', { nullable: true }) bodySha256!: string | null;
  /** True: the MoR already had an application for this reference. */
  @Column('boolean', { default: false }) existing!: boolean;
  /** True: the MoR discarded the company details of our request. */
  @Column('boolean', { default: false }) companyDiscarded!: boolean;
  /** The number of initiate requests from Crossbill. */
  @Column('integer', { default: 0 }) initiates!: number;
  @Column('timestamptz', { nullable: true }) submittedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) reviewedAt!: Date | null;
  /** When Crossbill last read the application. */
  @Column('timestamptz', { nullable: true }) readAt!: Date | null;
  /** When Crossbill reads the application again. Null: there is nothing to find out. Only SQL uses it. */
  @Column('timestamptz', { nullable: true, select: false }) pollAt!: Date | null;
  /** Until then another process works on the application. Null: nobody does. Only SQL uses it. */
  @Column('timestamptz', { nullable: true, select: false }) busyUntil!: Date | null;
  /** Who began the application. Only SQL writes it. */
  @Column('text', { select: false }) createdBy!: string;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
  /** Orders the rows by their first write. */
  @Column(SEQ) seq!: string;
}
