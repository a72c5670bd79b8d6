// Writes rows into a temporary file. The file gets its final name after the last row.
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { CliError, EXIT } from './exit-codes.js';

export type Write = (text: string) => Promise<void>;

/** The error after the operator stopped the command. */
export class Stopped extends CliError {
  constructor() {
    super(EXIT.failed, 'stopped', 'Stopped: the export is not complete. Run it again.');
  }
}

/** Replaces `file`, or the target of a symbolic link. Returns the result of `write`. */
export async function intoFile(file: string, write: (to: Write) => Promise<number>): Promise<number> {
  const target = await realpath(file).catch(() => file);
  const found = await stat(target).catch(() => null);
  const redirect = `${file} is no plain file. Leave out --out and redirect the standard output.`;
  if (found !== null && !found.isFile()) throw new CliError(EXIT.failed, 'not_written', redirect);
  const onDisk = <T>(work: Promise<T>): Promise<T> => work.catch((e: unknown) => Promise.reject(notWritten(file, e)));
  const part = `${target}.part`;
  const handle = await onDisk(open(part, 'w'));
  try {
    const written = await write((text) => onDisk(handle.writeFile(text)));
    await onDisk(handle.close());
    await onDisk(rename(part, target));
    return written;
  } catch (e) {
    await handle.close().catch(() => undefined); // the file may be closed already
    await rm(part, { force: true });
    throw e;
  }
}

function notWritten(file: string, e: unknown): CliError {
  const code = typeof e === 'object' && e !== null && 'code' in e ? ` (${String(e.code)})` : '';
  const message = `Crossbill cannot write ${file}${code}. Check its folder: it must exist, have room, and allow you to write.`;
  return new CliError(EXIT.failed, 'not_written', message);
}
