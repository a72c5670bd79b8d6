// A subscription's move to the MoR: its status, the earlier state on Stripe, and the request under way.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type MoveCall, type MoveWay } from '../../shared/domain/ports/billing-moves.js';
import { type WireRequest } from '../../shared/domain/ports/call.js';
import { SEQ } from '../../frames/store/columns.js';
import { type MoveFact, type MoveStatus } from './move.rules.js';

/** The subscription's earlier state. `--back` restores it. */
export type MoveBefore = { readonly methodId: string | null; readonly collectionMethod: string | null };

/** A stored request to Stripe. Every try sends the same key and bytes. */
export type MoveRequest = { readonly asked: MoveCall; readonly key: string; readonly wire: WireRequest };

@Entity('move')
export class MoveEntity {
  @PrimaryColumn('text') subscriptionId!: string;
  @Column('text') customerId!: string;
  @Column('text') status!: MoveStatus;
  /** The reason for the status. Null: the status needs none. */
  @Column('jsonb', { nullable: true }) fact!: MoveFact | null;
  @Column('text') way!: MoveWay;
  @Column('jsonb', { nullable: true }) before!: MoveBefore | null;
  /** The custom payment method made for this subscription. */
  @Column('text', { nullable: true }) methodId!: string | null;
  /**
   * True while Stripe may charge the subscription. For each invoice of such a subscription, Crossbill asks Stripe
   * whether Stripe charges it. If Stripe does, Crossbill relays nothing to the MoR, so the two never both charge.
   */
  @Column('boolean') atStripe!: boolean;
  @Column('jsonb', { nullable: true }) request!: MoveRequest | null;
  /** The next renewal, as Stripe showed it last. */
  @Column('timestamptz', { nullable: true }) renewsAt!: Date | null;
  @Column('timestamptz', { nullable: true }) movedAt!: Date | null;
  @Column('text') changedBy!: string;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
  /** Counts the writes of this row. A writer with another count is too late, so its write fails. */
  @Column('integer', { default: 0 }) version!: number;
  /** Orders the rows by their first write. */
  @Column(SEQ) seq!: string;
}
