// PostgreSQL's user: the user of this process, or for root an unprivileged user of this host, since PostgreSQL refuses
// root.
import { readFileSync, statSync } from 'node:fs';
import { EmbeddedPostgresError, systemCode } from './errors.js';

/** For the options of `spawn`. Null: run as the user of this process. */
export type RunAs = { readonly uid: number; readonly gid: number } | null;

// initdb looks its user up by id, so the host must know the id. Nearly every host has these two users.
const PREFERRED = ['nobody', 'daemon'];

/**
 * The user for the cluster in `clusterDir`. Null unless this process is root. For root: the owner of an existing
 * cluster, or else an unprivileged user of the host. Creates and changes no user. Throws `cannot_drop_root` if the host
 * has no such user, and `data_dir_unusable` if the cluster belongs to root.
 */
export function chooseRunAs(clusterDir: string): RunAs {
  if (process.getuid?.() !== 0) return null;
  const owner = ownerOf(clusterDir);
  if (owner === null) return unprivilegedUser();
  if (owner.uid !== 0) return owner;
  throw new EmbeddedPostgresError(
    'data_dir_unusable',
    `${clusterDir} belongs to root, and PostgreSQL does not run as root`,
    'Give it back to the user it belonged to (chown -R), use another CROSSBILL_DATA_DIR',
  );
}

function ownerOf(path: string): { readonly uid: number; readonly gid: number } | null {
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function unprivilegedUser(): { readonly uid: number; readonly gid: number } {
  const users = parsePasswd(readPasswd()).filter((user) => user.uid > 0 && user.uid <= 65_534);
  const chosen = PREFERRED.map((name) => users.find((user) => user.name === name)).find((user) => user) ?? users[0];
  if (chosen !== undefined) return { uid: chosen.uid, gid: chosen.gid };
  throw new EmbeddedPostgresError(
    'cannot_drop_root',
    'PostgreSQL does not run as root, and /etc/passwd names no other user',
    'Start as an ordinary user',
  );
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

/** Parses the users of a passwd file. Leaves out malformed lines. */
export function parsePasswd(text: string): { readonly name: string; readonly uid: number; readonly gid: number }[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([^:#]+):[^:]*:(\d+):(\d+):/.exec(line);
    return match === null ? [] : [{ name: match[1] ?? '', uid: Number(match[2]), gid: Number(match[3]) }];
  });
}
