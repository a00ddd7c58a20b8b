/** The columns of inserted rows, with their types. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** The types of columns. `base64` is the form of a `bytea` in a row. */
export type ColumnType = 'bigint' | 'int' | 'boolean' | 'text' | 'text[]' | 'timestamptz' | 'jsonb' | 'json' | 'base64';

/** The inserted columns of a contract. */
export const contractColumns = {
  template_pk: 'int',
  contract_id: 'text',
  created_at_offset: 'bigint',
  created_node_id: 'int',
  created_effective_at: 'timestamptz',
  archived_at_offset: 'bigint',
  archived_node_id: 'int',
  archived_effective_at: 'timestamptz',
  synchronizer_id: 'text',
  in_flight_to: 'text',
  reassignment_counter: 'bigint',
  payload: 'jsonb',
  contract_key: 'jsonb',
  as_sent: 'json',
  signatories: 'text[]',
  observers: 'text[]',
  witnesses: 'text[]',
  metadata: 'base64',
} as const satisfies Columns;

/** The inserted columns of an exercise. */
export const exerciseColumns = {
  template_pk: 'int',
  contract_id: 'text',
  exercised_at_offset: 'bigint',
  node_id: 'int',
  last_descendant_node_id: 'int',
  exercised_effective_at: 'timestamptz',
  interface_id: 'text',
  consuming: 'boolean',
  synchronizer_id: 'text',
  argument: 'jsonb',
  result: 'jsonb',
  as_sent: 'json',
  controllers: 'text[]',
  witnesses: 'text[]',
} as const satisfies Columns;

/** The inserted columns of an update. */
export const updateColumns = {
  offset: 'bigint',
  update_id: 'text',
  effective_at: 'timestamptz',
  record_time: 'timestamptz',
  synchronizer_id: 'text',
  workflow_id: 'text',
  command_id: 'text',
  trace_context: 'jsonb',
  external_transaction_hash: 'text',
  paid_traffic_cost: 'bigint',
} as const satisfies Columns;

/** The columns of a template, interface or choice of a batch. */
export const templateColumns = {
  payload_type: 'text',
  template_id: 'text',
  template_fqn: 'text',
  module: 'text',
  entity: 'text',
  choice: 'text',
  package_name: 'text',
  package_id: 'text',
  type_name: 'text',
} as const satisfies Columns;

/** The columns of a change to a contract in the table. */
export const editColumns = {
  contract_id: 'text',
  synchronizer_id: 'text',
  in_flight_to: 'text',
  reassignment_counter: 'bigint',
  archived_at_offset: 'bigint',
  archived_node_id: 'int',
  archived_effective_at: 'timestamptz',
} as const satisfies Columns;

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
  const all = Object.entries(columns);
  const select = all.map(([name, type]) => `${readers[type]?.(`i."${name}"`) ?? `i."${name}"`} AS "${name}"`);
  const declare = all.map(([name, type]) => `"${name}" ${type in readers ? 'text' : type}`);
  return `(SELECT ${select.join(', ')} FROM jsonb_to_recordset(${parameter}) AS i(${declare.join(', ')}))`;
};

/** How to read columns that are text in a parameter. */
const readers: Partial<Record<ColumnType, (name: string) => string>> = {
  jsonb: (name) => `${name}::jsonb`,
  json: (name) => `${name}::json`,
  base64: (name) => `decode(${name}, 'base64')`,
};
