// The filters of the list of moves.
import { CustomerFilter } from '../../frames/api/http/filters.js';
import { PageQuery } from '../../frames/api/http/page.js';
import { Filter } from '../../frames/api/http/rules.js';
import { MOVE_STATUSES, type MoveStatus } from './move.rules.js';

export class MovesQuery extends PageQuery {
  @Filter('Only moves in this status.', MOVE_STATUSES) status?: MoveStatus;
  @CustomerFilter() customer?: string;
  @Filter('The same as `customer`.') customer_id?: string;
}
