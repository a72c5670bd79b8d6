// A customer and the MoR's own customer.
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('customer_link')
export class CustomerLinkEntity {
  @PrimaryColumn('text') customerId!: string;
  @PrimaryColumn('text') morCustomerId!: string;
  @Column('text') signupId!: string;
  @Column('timestamptz') linkedAt!: Date;
}
