// A short-lived link to a file of the MoR. Crossbill passes it on, and neither stores nor logs it.
import { type FileLink, type WhenReady } from '@crossbill/mor/file-link.js';
import { type Response } from 'express';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { Example, Text, TextOrNull, TimeOrNull, type PendingView } from '../../frames/api/http/docs.js';
import { morProblem } from '../../frames/api/http/problem.js';
import { timeOf } from '../../frames/api/http/values.js';

export class FileLinkView {
  @Example('invoice.pdf') @TextOrNull() fileName!: string | null;
  @Example('https://files.example/123') @Text('Pre-signed: opens the file for anybody until it expires.') url!: string;
  @TimeOrNull() expiresAt!: string | null;
}

const WAIT_SEC = 2; // Document 2 gives the same wait for a new proforma invoice

/**
 * Responds 200 with the link, or 202 with the MoR's Retry-After while the MoR makes the file. Throws the MoR's refusal
 * with its status and code.
 */
export function linkOrWait(outcome: CallOutcome<WhenReady<FileLink>>, res: Response): FileLinkView | PendingView {
  if (!outcome.ok) throw morProblem(outcome);
  const { value } = outcome;
  if (value.state === 'ready') {
    const { fileName, url, expiresAt } = value.value;
    return { fileName, url, expiresAt: timeOf(expiresAt) };
  }
  const sec = value.retryAfterMs === null ? WAIT_SEC : Math.max(1, Math.ceil(value.retryAfterMs / 1000));
  res.status(202).setHeader('Retry-After', String(sec));
  return { status: 'pending' };
}
