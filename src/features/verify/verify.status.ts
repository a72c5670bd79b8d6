// What `crossbill status` says of the last verify.
import { type StatusPart } from '../../frames/cli/slots.js';
import { counted, time } from '../../frames/cli/table.js';
import { showLossWindow } from './rules/loss-window.js';
import { openOf, unnotifiedOf } from './rules/run.js';
import { VerifyRepository } from './verify.repository.js';

export const status: StatusPart = async (app) => {
  const last = await app.get(VerifyRepository).last();
  if (last === null) return { json: { verify: null }, text: '\nLast verify\n  never\n' };
  const { finishedAt: at, outcome, lossWindows } = last;
  const [differences, differencesUnnotified] = [openOf(last), unnotifiedOf(last)];
  const head = `${outcome} at ${time(at)}, ${counted(differences, 'difference')}, ${differencesUnnotified} without an open review item`;
  const windows = lossWindows.map((w) => `  ${showLossWindow(w)}\n`).join('');
  return {
    json: { verify: { at, outcome, differences, differencesUntold: differencesUnnotified, lossWindows } },
    text: `\nLast verify\n  ${head}\n${windows}`,
  };
};
