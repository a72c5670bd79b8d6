// What `crossbill status` says of moved subscriptions.
import { type StatusPart } from '../../frames/cli/slots.js';
import { MovesRepository } from './moves.repository.js';

export const status: StatusPart = async (app) => {
  const moves = await app.get(MovesRepository).counts();
  const some = Object.entries(moves).filter(([, n]) => n > 0);
  const said = some.map(([status, n]) => `${n} ${status}`).join(', ');
  return { json: { enrolment: { moves } }, text: said === '' ? '' : `  subscriptions by their last move: ${said}\n` };
};
