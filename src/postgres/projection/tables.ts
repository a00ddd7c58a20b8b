import { quoteSchema } from '../storeTables.js';
import { channelOf } from '../projectionChanges.js';

/** The names of a projection's schema and tables. */
export type ProjectionSchema = ReturnType<typeof projectionSchema>;

/** Returns the names in a schema, quoted. Throws a TypeError for a schema name that readers would have to quote. */
export function projectionSchema(name: string) {
  const schema = quoteSchema(name);
  return {
    /** The unquoted name of the schema. */
    name,
    schema,
    /** The version of the tables. */
    versions: `${schema}.projection_versions`,
    /** One row: what readers see, and how far the projection has come. */
    state: `${schema}.projection_state`,
    /** Templates, interfaces and choices, which are named like templates. */
    templates: `${schema}.projection_templates`,
    /** A row for each contract, and one for each of its views. */
    contracts: `${schema}.projection_contracts`,
    /** A row for each update that changed a contract. */
    updates: `${schema}.projection_updates`,
    /** Ranges of offsets for which the changes are not known. */
    gaps: `${schema}.projection_gaps`,
    /** While a snapshot is loaded: those of its contracts that the projection already has. */
    kept: `${schema}.projection_kept`,
    /** A row for each exercise of a choice. */
    exercises: `${schema}.projection_exercises`,
    /** A row for each epoch: a stretch of the history in which offsets only grow. */
    epochs: `${schema}.projection_epochs`,
  };
}

/** Returns the tables that a processor writes. */
export const tablesOf = (names: ProjectionSchema): readonly string[] => {
  const { state, templates, contracts, updates, gaps, kept, exercises, epochs } = names;
  return [state, templates, contracts, updates, gaps, kept, exercises, epochs];
};

/**
 * Returns the place of an offset in the history, which PQS calls `ix`. Each participant numbers the updates in its own
 * way, and so does one that was restored from a backup. When a feed continues at a lower offset, a new epoch begins, whose
 * offsets are shifted such that their places follow all others. So whatever compares or limits history compares one
 * number, as if there had never been a move, and offsets are stored as the participant of their time sent them.
 *
 * The shift is in the row, because readers would otherwise look it up for each row. It is `NULL` before the first move,
 * which takes no room in a row. Neither a name of the participant nor a record time would do: changes of one stretch may
 * come from several participants, and record times do not ascend across synchronizers.
 */
const ixOf = (offset: string, shift: string): string => `(${offset} + coalesce(${shift}, 0))`;

/** The places at which a row of contracts was created and archived. */
export const ixOfContract = (row: string): { readonly created: string; readonly archived: string } => ({
  created: ixOf(`${row}created_at_offset`, `${row}created_shift`),
  archived: ixOf(`${row}archived_at_offset`, `${row}archived_shift`),
});

/** The place of an exercise. */
export const ixOfExercise = (row: string): string => ixOf(`${row}exercised_at_offset`, `${row}shift`);

/** The place of an update. */
export const ixOfUpdate = (row: string): string => ixOf(`${row}"offset"`, `${row}shift`);

/**
 * Whether readers see a row `c` of contracts, as is the case for nearly all rows. The addition prevents the planner
 * from using the statistics of the column, which would make it expect almost none.
 */
export const isVisibleIn = ({ state }: ProjectionSchema): string =>
  `c.generation + 0 <> ALL ((SELECT array_remove(s.garbage || s.loading, NULL) FROM ${state} s)::int[])`;

/**
 * Whether a contract `c` is active and followed. Written so that only the index by ID is useful. One that the query no
 * longer selects may have been kept without an end.
 */
export const isActive = (names: ProjectionSchema): string =>
  `coalesce(c.archived_at_offset, -1) < 0 AND c.end_reason IS NULL AND ${isVisibleIn(names)}`;

/**
 * Settings of the functions with which the processor writes. Their statements are planned once, for few rows of input:
 * each contract is found by its ID, whatever the planner assumes about a table that has just been loaded or was empty.
 */
export const byId = 'SET jit = off SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off';

/** The cursor of the processor, as its store sets it in its transactions: the table, and the name of the processor. */
export const cursorAt = `nullif(current_setting('canton_rx.cursor', true), '')::json`;

/** Whether the processor of this transaction writes the projection: it must be the one that began the last load. */
export const isOwner = `cursor_at::text IS NOT DISTINCT FROM ${cursorAt}::text`;

/** Why a processor may not continue. */
export const replaced = 'another processor writes it, or it was replaced since the cursor was saved';

/** The version of the tables. A published version never changes: a change is a new version, with a step to it. */
export const currentVersion = 1;

/** The columns of templates, interfaces and choices. */
export const templateColumns = {
  payload_type: 'text NOT NULL',
  template_id: 'text NOT NULL',
  template_fqn: 'text NOT NULL',
  module: 'text NOT NULL',
  entity: 'text NOT NULL',
  /** Empty for templates and interfaces. */
  choice: 'text NOT NULL',
  package_name: 'text',
  package_id: 'text',
  type_name: 'text',
} as const;

/** The columns of contracts and their views. Texts have the collation "C", so they are compared as bytes. */
export const contractColumns = {
  template_pk: 'int NOT NULL',
  created_at_offset: 'bigint NOT NULL',
  archived_at_offset: 'bigint',
  created_node_id: 'int NOT NULL',
  archived_node_id: 'int',
  created_effective_at: 'timestamptz NOT NULL',
  archived_effective_at: 'timestamptz',
  reassignment_counter: 'bigint NOT NULL',
  contract_id: 'text COLLATE "C" NOT NULL',
  synchronizer_id: 'text COLLATE "C"',
  in_flight_to: 'text COLLATE "C"',
  payload: 'jsonb',
  contract_key: 'jsonb',
  signatories: 'text[] NOT NULL',
  observers: 'text[] NOT NULL',
  witnesses: 'text[] NOT NULL',
  metadata: 'bytea',
  as_sent: 'json',
} as const;

/** The columns of exercises. */
export const exerciseColumns = {
  template_pk: 'int NOT NULL',
  exercised_at_offset: 'bigint NOT NULL',
  node_id: 'int NOT NULL',
  last_descendant_node_id: 'int NOT NULL',
  consuming: 'boolean NOT NULL',
  exercised_effective_at: 'timestamptz NOT NULL',
  contract_id: 'text COLLATE "C" NOT NULL',
  synchronizer_id: 'text COLLATE "C"',
  interface_id: 'text',
  argument: 'jsonb',
  result: 'jsonb',
  controllers: 'text[] NOT NULL',
  witnesses: 'text[] NOT NULL',
  as_sent: 'json',
} as const;

/** The columns of updates. */
export const updateColumns = {
  offset: 'bigint NOT NULL',
  update_id: 'text NOT NULL',
  effective_at: 'timestamptz NOT NULL',
  record_time: 'timestamptz NOT NULL',
  synchronizer_id: 'text COLLATE "C"',
  workflow_id: 'text',
  command_id: 'text',
  trace_context: 'jsonb',
  external_transaction_hash: 'text',
  paid_traffic_cost: 'bigint',
  /** The synchronizers of a reassignment, and the number of contracts that left the one or reached the other. */
  reassigned_from: 'text COLLATE "C"',
  reassigned_to: 'text COLLATE "C"',
  unassigned: 'int',
  assigned: 'int',
} as const;

/**
 * Returns the SQL that creates the tables.
 *
 * A row is visible if its generation is. All rows of a snapshot have a new generation, which becomes visible with the
 * last of them. Contract IDs are long and random: a hash index is a fifth of the size of a B-tree.
 */
export const createTables = (names: ProjectionSchema): string => `
CREATE TYPE ${names.schema}.event_id AS ("offset" bigint, node_id int);
CREATE TABLE ${names.state} (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  generation int NOT NULL DEFAULT 0,
  visible int[] NOT NULL DEFAULT '{}',
  loading int,
  replaces boolean NOT NULL DEFAULT true,
  garbage int[] NOT NULL DEFAULT '{}',
  latest_offset bigint,
  shift bigint NOT NULL DEFAULT 0,
  oldest_ix bigint,
  cursor_at json
);
INSERT INTO ${names.state} DEFAULT VALUES;
CREATE FUNCTION ${names.schema}.projection_notify() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
  PERFORM pg_notify('${channelOf(names.name)}', NEW.latest_offset::text);
  RETURN NULL;
END $body$;
-- also where the offset stays: contracts that were read again may differ
CREATE TRIGGER projection_changed AFTER UPDATE OF latest_offset ON ${names.state} FOR EACH ROW
  EXECUTE FUNCTION ${names.schema}.projection_notify();
CREATE TABLE ${names.epochs} (epoch int PRIMARY KEY, first_ix bigint NOT NULL, first_offset bigint NOT NULL);
INSERT INTO ${names.epochs} VALUES (0, 0, 0);
CREATE TABLE ${names.templates} (
  template_pk int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ${definitionsOf(templateColumns)},
  CONSTRAINT projection_templates_once UNIQUE (payload_type, template_id, choice)
);
CREATE TABLE ${names.contracts} (
  generation int NOT NULL, ${definitionsOf(contractColumns)}, end_reason text, redaction_id text,
  created_shift bigint, archived_shift bigint
);
CREATE INDEX projection_contracts_id ON ${names.contracts} USING hash (contract_id);
CREATE INDEX projection_contracts_created ON ${names.contracts} (generation, ${ixOfContract('').created});
CREATE INDEX projection_contracts_active ON ${names.contracts} (template_pk) WHERE archived_at_offset IS NULL;
CREATE INDEX projection_contracts_newest ON ${names.contracts} (created_at_offset) WHERE archived_at_offset IS NULL;
CREATE INDEX projection_contracts_archived ON ${names.contracts} (${ixOfContract('').archived}) WHERE archived_at_offset IS NOT NULL;
CREATE TABLE ${names.exercises} (
  generation int NOT NULL, ${definitionsOf(exerciseColumns)}, redaction_id text, shift bigint
);
CREATE UNIQUE INDEX projection_exercises_once ON ${names.exercises} (generation, ${ixOfExercise('')}, node_id);
CREATE INDEX projection_exercises_choice ON ${names.exercises} (template_pk, ${ixOfExercise('')});
CREATE INDEX projection_exercises_contract ON ${names.exercises} USING hash (contract_id);
CREATE TABLE ${names.updates} (
  generation int NOT NULL, ${definitionsOf(updateColumns)}, shift bigint
);
CREATE UNIQUE INDEX projection_updates_once ON ${names.updates} (generation, ${ixOfUpdate('')});
CREATE INDEX projection_updates_effective_at ON ${names.updates} (effective_at, ${ixOfUpdate('')});
CREATE TABLE ${names.gaps} (
  generation int NOT NULL, after_ix bigint NOT NULL, until_ix bigint NOT NULL, reason text NOT NULL,
  PRIMARY KEY (generation, until_ix)
);
CREATE TABLE ${names.kept} (
  contract_id text COLLATE "C" NOT NULL, template_pk int NOT NULL, synchronizer_id text COLLATE "C",
  in_flight_to text COLLATE "C", reassignment_counter bigint NOT NULL, payload jsonb
);
`;

/** Columns of a table, with their definitions in SQL, such as `bigint NOT NULL`. */
export type Columns = Readonly<Record<string, string>>;

/** A row of a table. JSON in it is text, and so are bytes, in base64. */
export type Row<C extends Columns> = { [K in RequiredOf<C>]: ValueOf<C[K]> } & {
  [K in Exclude<keyof C, RequiredOf<C>>]?: ValueOf<C[K]> | undefined;
};

type RequiredOf<C extends Columns> = { [K in keyof C]: C[K] extends `${string} NOT NULL` ? K : never }[keyof C];

type TypeOf<D extends string> = D extends `${infer T} ${string}` ? T : D;

type ValueOf<D extends string> = TypeOf<D> extends keyof Values ? Values[TypeOf<D>] : string;

/** The values of columns other than texts. */
interface Values {
  readonly int: number;
  readonly bigint: number;
  readonly boolean: boolean;
  readonly 'text[]': readonly string[];
}

/** Returns the type of a column: the first word of its definition. */
export const typeOf = (definition: string): string => definition.split(' ', 1)[0] ?? '';

/** Returns the definitions of columns, for `CREATE TABLE`. */
const definitionsOf = (columns: Columns): string =>
  Object.entries(columns)
    .map(([name, definition]) => `"${name}" ${definition}`)
    .join(', ');

/** Returns the names of columns, quoted and separated by commas. */
export const namesOf = (columns: Columns): string =>
  Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(', ');

/**
 * Returns SQL for the rows of the JSON in a parameter. JSON within it is text, which is parsed once.
 *
 * @param parameter - such as `$1`
 */
export const rowsFrom = (parameter: string, columns: Columns): string => {
  const all = Object.entries(columns).map(([name, definition]) => ({ name: `"${name}"`, type: typeOf(definition) }));
  const select = all.map(({ name, type }) => `${readers[type]?.(`i.${name}`) ?? `i.${name}`} AS ${name}`);
  const declare = all.map(({ name, type }) => `${name} ${type in readers ? 'text' : type}`);
  return `(SELECT ${select.join(', ')} FROM jsonb_to_recordset(${parameter}) AS i(${declare.join(', ')}))`;
};

/** How to read columns that are text in a parameter. */
const readers: Readonly<Partial<Record<string, (name: string) => string>>> = {
  jsonb: (name) => `${name}::jsonb`,
  json: (name) => `${name}::json`,
  bytea: (name) => `decode(${name}, 'base64')`,
};

/** The values as `jsonb` stores them, and the original values if they differ. */
interface StorableJson {
  /** JSON of each value, in a form that `jsonb` accepts; `undefined` for an absent value. */
  readonly texts: readonly (string | undefined)[];
  /** JSON of the original list of values, for a column of the type `json`; absent if `jsonb` stores them unchanged. */
  readonly asSent?: string;
}

/**
 * Writes values as JSON that `jsonb` accepts. PostgreSQL texts cannot contain NUL or a lone surrogate; they are
 * replaced with U+FFFD, the replacement character.
 */
export function toStorableJson(values: readonly unknown[]): StorableJson {
  // JSON.stringify returns undefined for an absent value
  const texts = values.map((value) => JSON.stringify(value) as string | undefined);
  if (!texts.some((text) => text !== undefined && mayBeUnstorable(text))) return { texts };
  const storable = values.map((value) => JSON.stringify(value, cleanKeysAndTexts) as string | undefined);
  return storable.every((text, index) => text === texts[index])
    ? { texts }
    : { texts: storable, asSent: `[${texts.map((text) => text ?? 'null').join(',')}]` };
}

/** Returns JSON of the rows of a statement, in which JSON is text. */
export const toJsonParameter = (rows: object): string => {
  const text = JSON.stringify(rows);
  return mayBeUnstorable(text) ? JSON.stringify(rows, cleanKeysAndTexts) : text;
};

/** Returns a text that PostgreSQL can store. */
export const toStorableText = (text: string): string => text.replaceAll(unstorable, '\uFFFD');

/** NUL, or a lone surrogate. */
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * Whether JSON may contain such a character, which is escaped there. There may also be a backslash before these
 * letters.
 */
const mayBeUnstorable = (text: string): boolean => text.includes(String.raw`\u0000`) || text.includes(String.raw`\ud`);

/** A replacer for `JSON.stringify`. */
function cleanKeysAndTexts(_: string, part: unknown): unknown {
  if (typeof part === 'string') return toStorableText(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [toStorableText(key), value as unknown]));
}
