import { quotable } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { StoreError, type StoreOperation } from '../errors/process.js';
import { textOf } from '../errors/textOf.js';

/** Whether a rule of the database is violated: `integrity_constraint_violation`, or errors of PL/pgSQL. */
export const isRuleViolation = (error: unknown): boolean => /^(23|P0)/.test(sqlStateOf(error) ?? '');

/** Whether a statement or its values are wrong, so that a repetition fails, too. */
export const isOfStatement = (error: unknown): boolean => /^(0A|2[12]|42)/.test(sqlStateOf(error) ?? '');

/** Whether the database requires the transaction to be repeated: `serialization_failure`, `deadlock_detected`. */
export const mustRepeat = (error: unknown): boolean => ['40001', '40P01'].includes(sqlStateOf(error) ?? '');

/**
 * Whether the database cannot work now, whatever the statement: it has no room, memory or connections left, does not get a lock in time,
 * is stopping or read-only, or cannot use its files.
 */
export const isOutage = (error: unknown): boolean =>
  /^(53[0-3]00|55P03|57P0[1-5]|58...|25006)$/.test(sqlStateOf(error) ?? '');

/** A transaction does not see what was committed after it began, and must be repeated, as after a `serialization_failure`. */
export class RepeatError extends Error {
  readonly code = '40001';
}

/**
 * Whether an earlier statement of the transaction failed and the handler ignored the failure:
 * `in_failed_sql_transaction`.
 */
export const isFailedTransaction = (error: unknown): boolean => sqlStateOf(error) === '25P02';

/**
 * Returns the reason of an error: its message, and the SQLSTATE. The messages of data errors and violated constraints may quote
 * values, and so may the details of any error: they are left out.
 */
export function reasonOf(error: unknown): string {
  const code = sqlStateOf(error);
  const message = messageOf(error);
  return code === undefined ? message : `${message} (${code})`;
}

const messageOf = (error: unknown): string =>
  /^2[23]/.test(sqlStateOf(error) ?? '') ? 'the database refuses a value' : quotable(textOf(error), []);

/**
 * Returns an error of the database without what may quote rows: its detail, its context, and the message of a data error or of a
 * violated constraint. Any other error is returned as it is.
 */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error) || !('severity' in error)) return error;
  const { code, severity } = error as { readonly code?: unknown; readonly severity: unknown };
  return Object.assign(new Error(messageOf(error)), { code, severity });
}

/** A database cannot be used as it is. A repetition cannot help. */
export class DatabaseError extends Error {
  constructor(
    message: string,
    /** The action that a person must take. */
    readonly next: string,
  ) {
    super(message);
  }
}

/**
 * Returns an error that a repetition cannot help with as a {@link StoreError} that ends the processor: user, password and database
 * must exist, and the user must have its rights. Once the processor has worked, such an error may pass, as while a password is
 * rotated: then it is retried. Any other error is returned as it is.
 */
export function asStoreError(
  operation: StoreOperation,
  processor: string,
  schema: string,
  error: unknown,
  hasWorked: boolean,
): unknown {
  if (isLedgerError(error)) return error;
  const trouble = error instanceof DatabaseError ? { text: error.message, next: error.next } : denial(error, schema);
  if (trouble === undefined) return error;
  return new StoreError(operation, processor, trouble.text, error, hasWorked ? undefined : trouble.next);
}

/** Returns what a person must correct in the database or in the options; `undefined` for another error. */
function denial(error: unknown, schema: string): DatabaseTrouble | undefined {
  const code = sqlStateOf(error) ?? '';
  const message = error instanceof Error ? error.message : '';
  if (
    !/^(28...|3D...|3F...|42501|42P01|42P07|42703|42704|42883|42809|22023|0P000)$/.test(code) &&
    !noPassword.test(message)
  )
    return undefined;
  const { text, next = 'check the database' } = explainDatabaseError(error, schema) ?? { text: 'access is denied' };
  return { text: `${text}${code && ` (${code})`}: ${quotable(message, [])}`, next };
}

/** Why a database cannot be used, and the next step. Contains no secret and no value of a row. */
export interface DatabaseTrouble {
  readonly text: string;
  readonly next?: string;
}

/** Returns why a database cannot be used; `undefined` for an error that has another cause. */
export function explainDatabaseError(error: unknown, schema: string): DatabaseTrouble | undefined {
  for (const cause of causesOf(error)) {
    const trouble = explain(cause, schema);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}

/** An error, structurally: those of the system may be of another realm. */
interface Cause {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** An error and its causes: stores, handlers and their libraries wrap those of the database. */
function* causesOf(error: unknown): Generator<Cause, void> {
  let current = error;
  for (let depth = 0; depth < 10 && isCause(current); depth += 1) {
    yield current;
    // Node.js tries all addresses of a host name
    if (Array.isArray(current.errors)) yield* current.errors.filter(isCause);
    current = current.cause;
  }
}

const isCause = (u: unknown): u is Cause => typeof u === 'object' && u !== null;

const codeOf = ({ code }: Cause): string => (typeof code === 'string' ? code : '');

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

/** Returns the SQLSTATE of an error or of its causes. */
function sqlStateOf(error: unknown): string | undefined {
  for (const cause of causesOf(error)) if (isSqlState(codeOf(cause))) return codeOf(cause);
  return undefined;
}

function explain(error: Cause, schema: string): DatabaseTrouble | undefined {
  const code = codeOf(error);
  const message = typeof error.message === 'string' ? error.message : '';
  if (code === 'ENOENT' && 'path' in error && 'syscall' in error && error.syscall === 'open')
    return {
      text: `there is no file ${quotable(String(error.path), [])}`,
      next: 'check sslrootcert, sslcert and sslkey',
    };
  const trouble = byCode(schema)[code] ?? byMessage.find(([pattern]) => pattern.test(message))?.[1];
  if (trouble !== undefined) return trouble;
  // the message names tables and columns; values are in the details of the error
  return isSqlState(code) && 'severity' in error
    ? { text: `the database refuses a statement (${code}): ${quotable(message, []).slice(0, 200)}` }
    : undefined;
}

const checkPassword = 'check user and password: they are in the URL, in $PGPASSWORD or in ~/.pgpass';

const certificate: DatabaseTrouble = {
  text: 'the certificate of the database is not trusted',
  next: 'add its authority with NODE_EXTRA_CA_CERTS=FILE or ?sslrootcert=FILE, or contact the operator of the database',
};

/** By the codes of the system and the SQLSTATEs of PostgreSQL. */
const byCode = (schema: string): Readonly<Partial<Record<string, DatabaseTrouble>>> => ({
  ECONNREFUSED: {
    text: 'connection refused: nothing listens on this port',
    next: 'check that PostgreSQL is running, and host and port of the URL',
  },
  ENOTFOUND: { text: 'the host name does not resolve', next: 'check the spelling of the host name, and DNS' },
  EAI_AGAIN: { text: 'DNS does not answer', next: 'check the network and the DNS of this machine' },
  EHOSTUNREACH: { text: 'no route to the host', next: 'check the network, a VPN, the routes' },
  ENETUNREACH: { text: 'no route to the network', next: 'check the network, a VPN, the routes' },
  ETIMEDOUT: { text: 'no connection in time', next: 'check the port, and firewalls' },
  ENOENT: { text: 'there is no socket of PostgreSQL', next: 'check that PostgreSQL is running on this machine' },
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  '28P01': { text: 'the password is refused', next: checkPassword },
  '28000': {
    text: 'the server refuses the login',
    next: 'check that the user is the right one and may log in (ALTER ROLE … LOGIN), and pg_hba.conf; the server may require TLS: ?sslmode=require',
  },
  '3D000': { text: 'the database does not exist', next: 'create it with createdb, or check the end of the URL' },
  '3F000': {
    text: `the schema ${schema} does not exist`,
    next: `create it: CREATE SCHEMA "${schema}"; or choose another schema`,
  },
  '42P01': {
    text: `a table in the schema ${schema} is missing`,
    next: 'create the tables, and check the schema in the options',
  },
  '42703': { text: `the schema ${schema} has other tables of the same names`, next: 'choose another schema' },
  '42809': { text: `the schema ${schema} has other objects of the same names`, next: 'choose another schema' },
  '0P000': { text: 'the role is invalid', next: 'check the role in the options of the connection' },
  '22023': { text: 'an option of the connection is invalid', next: 'check the options of the connection' },
  '42501': {
    text: `the user lacks rights in the schema ${schema}, or to create it`,
    next: `let the owner of the database run: CREATE SCHEMA "${schema}" AUTHORIZATION the_user; or choose another schema`,
  },
  '25006': { text: 'the database is read-only', next: 'it may be a standby: use the address of the primary' },
  '53300': { text: 'the database has too many connections', next: 'raise max_connections, or end other clients' },
  '57P03': { text: 'the database is starting or stopping', next: 'try again in a moment' },
  '42P07': { text: `the schema ${schema} has other tables of the same names`, next: 'choose another schema' },
});

/** The message of the package `pg` without a password. */
const noPassword = /password must be a (?:non-empty )?string/;

/** By the messages of the package `pg`, which have no codes. */
const byMessage: readonly (readonly [RegExp, DatabaseTrouble])[] = [
  [noPassword, { text: 'the database requires a password', next: checkPassword }],
  [
    /connection timeout|timeout (?:expired|exceeded)/,
    {
      text: 'the server does not answer in time',
      next: 'check that this is the port of PostgreSQL; a firewall may drop the packets',
    },
  ],
  [
    /does not support SSL/,
    { text: 'the server has no TLS', next: 'leave out sslmode in the URL, or enable TLS on the server' },
  ],
  [
    /Connection terminated|ECONNRESET|not queryable|unexpected|Unknown authenticationOk/i,
    {
      text: 'the connection was closed',
      next: 'check that this is the port of PostgreSQL, and its log for the reason',
    },
  ],
];
