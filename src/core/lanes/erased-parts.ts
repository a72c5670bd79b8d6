// Lists the rows and texts about a customer for an erasure to delete. Also lists the bytes an erasure keeps, because
// an unfinished call still needs them.
import { type ErasedParts } from '../../engine/erasure.js';
import { type Feature } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { FORGET_KEYS } from '../../frames/store/requests.js';
import { CUSTOMER_LINK } from '../../shared/domain/customer-link.js';
import { SIGNUP } from '../../shared/domain/signup.js';
import { refundBytes } from '../refunds/kept-bytes.js';

const OF_FEATURES = FEATURES.map(({ erased }: Feature) => erased ?? {});

export const ERASED_PARTS: ErasedParts = {
  rows: [
    { row: SIGNUP, count: 'signups' },
    { row: CUSTOMER_LINK, count: 'texts' },
    ...OF_FEATURES.flatMap(({ rows = [] }) => rows),
  ],
  texts: OF_FEATURES.flatMap(({ texts = [] }) => texts),
  mentions: [...OF_FEATURES.flatMap(({ mentions = [] }) => mentions), FORGET_KEYS],
  subjects: ['select id as subject from signup where customer_id = $1'],
  keeps: [refundBytes],
};
