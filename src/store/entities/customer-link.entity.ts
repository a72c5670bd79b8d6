// A customer and the MoR's own customer.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { SEQ } from './columns.js';

@Entity('customer_link')
export class CustomerLinkEntity implements CustomerLink {
  @PrimaryColumn('text') customerId!: string;
  @PrimaryColumn('text') morCustomerId!: string;
  @Column('text', { nullable: true }) signupId!: string | null;
  @Column('text', { nullable: true }) reference!: string | null;
  @Column('text', { default: 'signup' }) linkedBy!: string;
  @Column('timestamptz') linkedAt!: Date;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}

export type CustomerLink = {
  readonly customerId: string;
  readonly morCustomerId: string;
  /** Null: the link was made elsewhere. */
  readonly signupId: string | null;
  /** The merchant's own word for it; null: none was given. */
  readonly reference: string | null;
  /** `signup`, an API key's name, or a person at the command line. */
  readonly linkedBy: string;
  readonly linkedAt: Date;
};
