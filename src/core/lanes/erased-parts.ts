// Lists the rows and texts about a customer for an erasure to delete. Also lists the bytes an erasure keeps, because
// an unfinished call still needs them.
import { CUSTOMER_LINK } from '../../shared/domain/customer-link.js';
import { SIGNUP } from '../../shared/domain/signup.js';
import { type ErasedParts } from '../../engine/erasure.js';
import { MOVE_WORDS } from '../../features/moves/move.entity.js';
import { refundBytes } from '../refunds/kept-bytes.js';
import { FORGET_WORDS } from '../../frames/store/notifications.js';
import { FORGET_KEYS } from '../../frames/store/requests.js';
import { FORGET_LOOSE_NOTES, FORGET_NOTES } from '../../features/verify/difference-ack.entity.js';
import { FORGET_DETAILS } from '../../features/verify/verify-run.entity.js';

export const ERASED_PARTS: ErasedParts = {
  rows: [
    { row: SIGNUP, count: 'signups' },
    { row: CUSTOMER_LINK, count: 'texts' },
    { row: MOVE_WORDS, count: 'texts' },
  ],
  texts: [FORGET_NOTES, FORGET_DETAILS, FORGET_WORDS],
  mentions: [FORGET_LOOSE_NOTES, FORGET_KEYS],
  subjects: ['select id as subject from signup where customer_id = $1'],
  keeps: [refundBytes],
};
