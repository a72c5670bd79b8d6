// Writes a file of exports or settings. It replaces an older one in one step, and keeps whoever may read it.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CliError, EXIT } from './exit-codes.js';

export type Write = (text: string) => Promise<void>;

/** The error after the operator stopped the command. */
export class Stopped extends CliError {
  constructor() {
    super(EXIT.failed, 'stopped', 'Stopped: the export is not complete. Run it again.');
  }
}

/**
 * Replaces `file`, or the target of a symbolic link, after `write` is done. Owner, group and mode stay; only the owner
 * may read a new file. Returns the result of `write`.
 */
export async function intoFile<T>(file: string, write: (to: Write) => Promise<T>): Promise<T> {
  const part = besides(file);
  try {
    const written = await write((text) => Promise.resolve(part.write(text)));
    part.putInPlace();
    return written;
  } finally {
    part.drop();
  }
}

/** Does the same with a text at hand. */
export function replaceFile(file: string, text: string): void {
  const part = besides(file);
  try {
    part.write(text);
    part.putInPlace();
  } finally {
    part.drop();
  }
}

/** Opens a new file in the folder of `file`. It takes the place of `file` once it is whole. */
function besides(file: string) {
  const onDisk = <R>(work: () => R): R => {
    try {
      return work();
    } catch (e) {
      throw notWritten(file, e);
    }
  };
  const target = targetOf(file);
  const before = onDisk(() => statSync(target, { throwIfNoEntry: false }));
  const redirect = `${file} is no plain file. Leave out --out and redirect the standard output.`;
  if (before?.isFile() === false) throw new CliError(EXIT.failed, 'not_written', redirect);
  // Nobody else can have put a file or a link under a random name.
  const part = `${target}.${randomBytes(8).toString('hex')}`;
  const fd = onDisk(() => openSync(part, 'wx', 0o600));
  return {
    write: (text: string): void => onDisk(() => writeFileSync(fd, text)),
    putInPlace: (): void =>
      onDisk(() => {
        if (before === undefined || takesAfter(fd, before)) renameSync(part, target);
        // Another user's file keeps its owner and group only if it is written in place.
        else copyFileSync(part, target);
      }),
    drop: (): void => {
      closeSync(fd);
      rmSync(part, { force: true });
    },
  };
}

/** The file behind a link, even if that file does not exist yet. */
function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    try {
      return resolve(dirname(file), readlinkSync(file));
    } catch {
      return file;
    }
  }
}

/** Gives the new file the owner, group and mode of the old one. False: this user may not. */
function takesAfter(fd: number, { uid, gid, mode }: Stats): boolean {
  try {
    const now = fstatSync(fd);
    if (now.uid !== uid || now.gid !== gid) fchownSync(fd, uid, gid);
    fchmodSync(fd, mode & 0o7777);
    return true;
  } catch {
    return false;
  }
}

function notWritten(file: string, error: unknown): CliError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
  const message = `Crossbill cannot write ${file}${code}. Check its folder: it must exist, have room, and allow you to write.`;
  return new CliError(EXIT.failed, 'not_written', message);
}
