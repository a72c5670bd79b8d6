// What `crossbill status` says of the customers whom the MoR charges.
import { type StatusPart } from '../../frames/cli/slots.js';
import { counted } from '../../frames/cli/table.js';
import { EnrolmentRepository, OUTSIDE_DAYS } from './enrolment.repository.js';

export const status: StatusPart = async (app) => {
  const { enrolment: by } = app.config;
  const rule = by.by === 'metadata' ? `metadata:${by.key}=${by.value}` : by.by;
  const migration = await app.get(EnrolmentRepository).migration();
  const { linked, renewed, notRenewed, waiting, outside } = migration;
  const head =
    linked === 0
      ? 'no customer is linked to the MoR'
      : `${counted(linked, 'customer')} ${linked === 1 ? 'is' : 'are'} linked to the MoR: ${renewed} with a renewal paid there, ${notRenewed} with an unpaid one, ${waiting} without a renewal so far`;
  const others = `${outside} customers with invoices of the last ${OUTSIDE_DAYS} days are not enrolled`;
  return { json: { enrolment: { rule, ...migration } }, text: `\nEnrolment: ${rule}\n  ${head}\n  ${others}\n` };
};
