import { types } from 'node:util';
import type { Trouble } from '../check/Finding.js';
import { escapeText } from '../text.js';

/** Why a database cannot be used, and the next step; `undefined` for an error that has another cause. */
export function troubleOfDatabase(error: unknown, schema: string): Trouble | undefined {
  for (const cause of causesOf(error)) {
    const trouble = known(cause, schema);
    if (trouble !== undefined) return { kind: 'other', ...trouble };
  }
  return undefined;
}

/** An error and its causes: stores and handlers wrap those of the database. */
function* causesOf(error: unknown): Generator<Error, void> {
  let current = error;
  for (let depth = 0; depth < 10 && types.isNativeError(current); depth += 1) {
    yield current;
    // Node.js tries all addresses of a host name
    if (current instanceof AggregateError) yield* current.errors.filter((one) => types.isNativeError(one));
    current = current.cause;
  }
}

type Advice = Pick<Trouble, 'text' | 'next'>;

function known(error: Error, schema: string): Advice | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'ENOENT' && 'path' in error && 'syscall' in error && error.syscall === 'open')
    return {
      text: `there is no file ${escapeText(String(error.path))}`,
      next: 'check sslrootcert, sslcert and sslkey',
    };
  const advice = byCode(schema)[code] ?? byMessage.find(([pattern]) => pattern.test(error.message))?.[1];
  if (advice !== undefined) return advice;
  // the message names tables and columns; values are in the details of the error
  return /^[0-9A-Z]{5}$/.test(code) && 'severity' in error
    ? { text: `the database refuses a statement (${code}): ${escapeText(error.message).slice(0, 200)}` }
    : undefined;
}

const checkPassword =
  'check user and password: they are in the URL, in $PGPASSWORD or in ~/.pgpass; CANTON_RX_DATABASE_URL keeps them out of the arguments';

const certificate: Advice = {
  text: 'the certificate of the database is not trusted',
  next: 'add its authority with NODE_EXTRA_CA_CERTS=FILE or ?sslrootcert=FILE, or contact the operator of the database',
};

/** By the codes of the system and the SQLSTATEs of PostgreSQL. */
const byCode = (schema: string): Readonly<Partial<Record<string, Advice>>> => ({
  ECONNREFUSED: {
    text: 'connection refused: nothing listens on this port',
    next: 'check that PostgreSQL is running, and host and port of --database',
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
    text: 'the server does not admit this user from here',
    next: 'check the user, and pg_hba.conf; the server may require TLS: ?sslmode=require',
  },
  '3D000': { text: 'the database does not exist', next: 'create it with createdb, or check the end of the URL' },
  '42501': {
    text: `the user lacks rights in the schema ${schema}, or to create it`,
    next: `let the owner of the database run: CREATE SCHEMA ${schema} AUTHORIZATION the_user; or choose another --schema`,
  },
  '25006': {
    text: 'the database is read-only',
    next: 'it may be a standby: use the address of the primary',
  },
  '53300': { text: 'the database has too many connections', next: 'raise max_connections, or end other clients' },
  '57P03': { text: 'the database is starting or stopping', next: 'try again in a moment' },
  '42P07': {
    text: `the schema ${schema} has other tables of the same names`,
    next: 'choose another schema with --schema',
  },
});

/** By the messages of the package pg, which have no codes. */
const byMessage: readonly (readonly [RegExp, Advice])[] = [
  [/password must be a (?:non-empty )?string/, { text: 'the database requires a password', next: checkPassword }],
  [
    /connection timeout|timeout (?:expired|exceeded)/,
    {
      text: 'the server does not answer in time',
      next: 'check that this is the port of PostgreSQL; a firewall may drop the packets',
    },
  ],
  [
    /does not support SSL/,
    { text: 'the server has no TLS', next: 'leave out sslmode in --database, or enable TLS on the server' },
  ],
  [
    /Connection terminated|ECONNRESET|unexpected|Unknown authenticationOk/i,
    {
      text: 'the connection was closed',
      next: 'check that this is the port of PostgreSQL, and its log for the reason',
    },
  ],
];
