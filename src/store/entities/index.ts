// All entities: the tables that are read through TypeORM. The log, the queue and the other tables of the write side are plain SQL.
import { AuditEntity } from './audit.entity.js';
import { CustomerLinkEntity } from './customer-link.entity.js';
import { DifferenceAckEntity } from './difference-ack.entity.js';
import { InvoiceEntity } from './invoice.entity.js';
import { LedgerEntryEntity } from './ledger-entry.entity.js';
import { MorObjectEntity } from './mor-object.entity.js';
import { OnboardingEntity } from './onboarding.entity.js';
import { PaymentEntity } from './payment.entity.js';
import { RefundEntity } from './refund.entity.js';
import { ReviewEntity } from './review.entity.js';
import { SignupEntity } from './signup.entity.js';
import { VerifyRunEntity } from './verify-run.entity.js';

export const ENTITIES = [
  AuditEntity,
  CustomerLinkEntity,
  DifferenceAckEntity,
  InvoiceEntity,
  LedgerEntryEntity,
  MorObjectEntity,
  OnboardingEntity,
  PaymentEntity,
  RefundEntity,
  ReviewEntity,
  SignupEntity,
  VerifyRunEntity,
];
