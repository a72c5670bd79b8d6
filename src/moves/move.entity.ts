// A subscription's move to the MoR: how far it is, what stood on Stripe before, and the request under way.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type MoveCall, type MoveWay } from '../domain/ports/billing-moves.js';
import { type WireRequest } from '../domain/ports/call.js';
import { SEQ } from '../store/columns.js';
import { type MoveFact, type MoveStatus } from './move.rules.js';

/** What stood on the subscription; `--back` writes it again. */
export type MoveBefore = { readonly methodId: string | null; readonly collectionMethod: string | null };

/** Stored before it is sent; every try sends the same key and bytes. */
export type MoveRequest = { readonly asked: MoveCall; readonly key: string; readonly wire: WireRequest };

@Entity('move')
export class MoveEntity {
  @PrimaryColumn('text') subscriptionId!: string;
  @Column('text') customerId!: string;
  @Column('text') status!: MoveStatus;
  /** The reason for the status; null: it needs none. */
  @Column('jsonb', { nullable: true }) fact!: MoveFact | null;
  @Column('text') way!: MoveWay;
  @Column('jsonb', { nullable: true }) before!: MoveBefore | null;
  /** The custom payment method that was made for it. */
  @Column('text', { nullable: true }) methodId!: string | null;
  /** Stripe may charge it. For each of its invoices Stripe is asked, and the MoR is not if Stripe does: both never charge. */
  @Column('boolean') atStripe!: boolean;
  @Column('jsonb', { nullable: true }) request!: MoveRequest | null;
  /** As Stripe said it at the last look. */
  @Column('timestamptz', { nullable: true }) renewsAt!: Date | null;
  @Column('timestamptz', { nullable: true }) movedAt!: Date | null;
  @Column('text') changedBy!: string;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
  /** Counts the writes of this row: one that finds another number has lost its turn. */
  @Column('integer', { default: 0 }) version!: number;
  /** Of its table: the order of the rows' first writes. */
  @Column(SEQ) seq!: string;
}
