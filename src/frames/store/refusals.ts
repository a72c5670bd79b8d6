// Turns an error of the login, a pooler or TLS into one clear sentence. Passing errors stay as they are.
import { types } from 'node:util';
import { DatabaseRefused, type RefusedBecause, sqlState, TLS } from './database-errors.js';

type Rule = {
  /** The pattern of SQLSTATE or Node's code. Null: the error has no code. */
  readonly code: RegExp | null;
  readonly message?: RegExp;
  readonly because: RefusedBecause;
  readonly whatIsWrong: string;
  readonly whatToDo: string;
};

const SIGNED_BY_NOBODY = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY|GET)_\w+)$/;
/**
 * PgBouncer reports all its own errors with one SQLSTATE, "protocol violation". PgBouncer uses the same code while its
 * server is missing for a time.
 */
const POOLER = /^08P01$/;

/** The first matching rule counts. */
const RULES: readonly Rule[] = [
  {
    code: /^28P01$/,
    because: 'login',
    whatIsWrong: 'The database refused the login',
    whatToDo: 'Put the right user and password into DATABASE_URL',
  },
  {
    code: /^28000$/,
    message: /no encryption|SSL off/,
    because: 'tls',
    whatIsWrong: 'The server takes no unencrypted login',
    whatToDo: 'Add sslmode=verify-full to DATABASE_URL; docs/install.md compares every sslmode',
  },
  {
    code: /^28000$/,
    because: 'login',
    whatIsWrong: 'The database refused the login',
    whatToDo: "Let the role log in (alter role ... login), and allow its login in the server's pg_hba.conf",
  },
  {
    code: /^42501$/,
    because: 'login',
    whatIsWrong: 'The database refused the login',
    whatToDo: 'Let the role connect (grant connect on database ... to ...)',
  },
  {
    code: null,
    message: /^SASL.*password/,
    because: 'login',
    whatIsWrong: 'The database asks for a password',
    whatToDo: 'Put the password into DATABASE_URL',
  },
  {
    code: /^3D000$/,
    because: 'unknown_database',
    whatIsWrong: 'The server has no such database',
    whatToDo: "Create it (create database ... encoding 'UTF8' template template0), or correct its name in DATABASE_URL",
  },
  {
    code: POOLER,
    message: /no such database/,
    because: 'unknown_database',
    whatIsWrong: 'The pooler before the database knows no such database',
    whatToDo: "Name one of the pooler's [databases] in DATABASE_URL",
  },
  {
    code: POOLER,
    message: /no such user|authentication failed/,
    because: 'login',
    whatIsWrong: 'The pooler before the database refused the login',
    whatToDo: 'Put the right user and password into DATABASE_URL, and add them to the pooler if it does not know them',
  },
  {
    code: POOLER,
    message: /unsupported startup parameter/,
    because: 'url',
    whatIsWrong: 'The pooler before the database refuses a parameter of DATABASE_URL',
    whatToDo: "Take the parameter out of DATABASE_URL, or name it in the pooler's ignore_startup_parameters",
  },
  {
    code: null,
    message: /does not support SSL/,
    because: 'tls',
    whatIsWrong: 'The server offers no encrypted connection',
    whatToDo:
      'Switch TLS on there (ssl = on), or set sslmode=disable in DATABASE_URL within a trusted network (docs/install.md)',
  },
  {
    code: SIGNED_BY_NOBODY,
    because: 'tls',
    whatIsWrong: "No authority trusted by Crossbill signed the server's certificate",
    whatToDo:
      "Give the provider's CA file in DATABASE_URL (sslmode=verify-full&sslrootcert=/path/to/ca.pem), or set sslmode=require: it encrypts, but does not check the server (docs/install.md)",
  },
  {
    code: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    because: 'tls',
    whatIsWrong: "The server's certificate is for another host name",
    whatToDo:
      'Use a host name of the certificate in DATABASE_URL, or sslmode=verify-ca: it checks only the signer (docs/install.md)',
  },
  {
    code: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    because: 'tls',
    whatIsWrong: "The server's certificate is not valid today",
    whatToDo: "Renew it on the server, and check this machine's clock",
  },
  {
    code: TLS,
    because: 'tls',
    whatIsWrong: 'The encrypted connection failed',
    whatToDo: 'See docs/install.md',
  },
];

/**
 * Turns an error of connecting into a refusal with one clear sentence. Returns the error itself if waiting may help, or
 * if no rule matches.
 */
export function refusalOf(error: unknown): unknown {
  // Not `instanceof`: a TLS error may come from another JavaScript realm.
  if (!types.isNativeError(error) || error instanceof DatabaseRefused) return error;
  const state = sqlState(error);
  const rule = RULES.find(
    ({ code, message }) =>
      (code === null ? state === null : code.test(state ?? '')) &&
      (message === undefined || message.test(error.message)),
  );
  if (rule === undefined) return error;
  return new DatabaseRefused(
    rule.because,
    `${rule.whatIsWrong}: ${error.message.replace(/\.$/, '')}`,
    rule.whatToDo,
    error,
  );
}
