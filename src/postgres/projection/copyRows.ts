import type { ClientBase, Connection, Pool, Submittable } from 'pg';
import { Observable } from 'rxjs';
import { type Columns, type ColumnType, namesOf } from './columns.js';
import { toStorableText } from './toJson.js';

/** A row of a table. JSON in it is text. */
type Row = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/**
 * Whether rows can be copied over a connection: the JavaScript client of `pg` supports it, unless it sends several
 * queries at once.
 */
export const canCopy = (db: ClientBase | Pool): boolean => {
  const { connection, pipeline = false } = db as { readonly connection?: unknown; readonly pipeline?: unknown };
  return connection !== undefined && isCopyConnection(connection) && pipeline === false;
};

/** Inserts rows with `COPY`, which takes the database half the time of `INSERT`. */
export const copyRows = (db: ClientBase, table: string, columns: Columns, rows: readonly Row[]): Observable<never> =>
  new Observable((subscriber) => {
    db.query(
      new CopyQuery(`COPY ${table} (${namesOf(columns)}) FROM STDIN`, encodeParts(columns, rows), (error) => {
        if (error === undefined) subscriber.complete();
        else subscriber.error(error);
      }),
    );
  });

/** A connection of `pg`, with members that its types lack. */
interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

const isCopyConnection = (connection: unknown): connection is CopyConnection =>
  typeof connection === 'object' &&
  connection !== null &&
  ['sendCopyFromChunk', 'endCopyFrom', 'sendCopyFail'].every(
    (name) => name in connection && typeof (connection as Readonly<Record<string, unknown>>)[name] === 'function',
  );

/** A query of `pg` that sends data. The client calls its methods. */
class CopyQuery implements Submittable {
  /** Set by a client that limits the time of queries. */
  callback?: (error?: Error) => void;
  #error: Error | undefined;

  constructor(
    readonly text: string,
    private readonly parts: Iterable<Buffer>,
    private readonly end: (error: Error | undefined) => void,
  ) {}

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    try {
      // the database works on the first part while the next one is encoded
      for (const part of this.parts) connection.sendCopyFromChunk(part);
      connection.endCopyFrom();
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
      connection.sendCopyFail('the rows could not be encoded');
    }
  }

  handleError(error: Error): void {
    this.#end(this.#error ?? error);
  }

  handleReadyForQuery(): void {
    this.#end(undefined);
  }

  /** Does nothing: the end follows. */
  handleCommandComplete(): void {
    return undefined;
  }

  #end(error: Error | undefined): void {
    this.callback?.(error);
    this.end(error);
  }
}

/** The size of a part, in characters. */
const partSize = 65_536;

/** Encodes rows in the text format of `COPY`. */
function* encodeParts(columns: Columns, rows: readonly Row[]): Generator<Buffer> {
  const all = Object.entries(columns).map(([name, type]) => ({ name, type }));
  let part = '';
  for (const row of rows) {
    for (const [index, { name, type }] of all.entries()) part += (index === 0 ? '' : '\t') + encode(row[name], type);
    part += '\n';
    if (part.length < partSize) continue;
    yield Buffer.from(part);
    part = '';
  }
  if (part !== '') yield Buffer.from(part);
}

function encode(value: Row[string], type: ColumnType): string {
  if (value === undefined) return String.raw`\N`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return encodeText(toArray(value));
  // JSON has no other characters that must be escaped
  if (type === 'jsonb' || type === 'json') return value.includes('\\') ? value.replaceAll('\\', '\\\\') : value;
  if (type === 'base64') return String.raw`\\x${Buffer.from(value, 'base64').toString('hex')}`;
  return encodeText(value);
}

/** Escapes the characters that are special in the format. */
const encodeText = (text: string): string =>
  special.test(text)
    ? toStorableText(text).replaceAll(/[\\\t\n\r]/g, (character) => escapes[character] ?? character)
    : text;

const special = /[\\\t\n\r\0\uD800-\uDFFF]/;

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Returns the literal of an array of texts. */
function toArray(texts: readonly string[]): string {
  let elements = '';
  for (const text of texts) elements += `${elements === '' ? '' : ','}"${quote(text)}"`;
  return `{${elements}}`;
}

const quote = (text: string): string =>
  text.includes('"') || text.includes('\\') ? text.replaceAll(/["\\]/g, String.raw`\$&`) : text;
