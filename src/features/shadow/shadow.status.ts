// What `crossbill status` says of shadow mode.
import { type StatusPart } from '../../frames/cli/slots.js';
import { ShadowRepository } from './shadow.repository.js';

export const status: StatusPart = async (app) => {
  if (!app.config.sendsNothing) return { json: { shadow: null }, text: '' };
  const { agreed, unmarked } = await app.get(ShadowRepository).status();
  const notice = `Shadow mode: Crossbill sends nothing. Of its marks others made ${agreed}, and ${unmarked} are missing so far.`;
  return { json: { shadow: { marksAgreed: agreed, marksNotMadeYet: unmarked } }, text: '', notice };
};
