/** The names of a projection's schema and tables, quoted. */
export interface ProjectionSchema {
  /** The unquoted name of the schema. */
  readonly name: string;
  /** The schema, quoted. */
  readonly schema: string;
  /** The migration steps that have run. */
  readonly versions: string;
  /** One row: what readers see, and how far the projection has come. */
  readonly state: string;
  /** Templates and interfaces. */
  readonly templates: string;
  /** A row for each contract, and one for each of its views. */
  readonly contracts: string;
  /** A row for each update that changed a contract. */
  readonly updates: string;
  /** Ranges of offsets for which the changes are not known. */
  readonly gaps: string;
  /** While a snapshot is loaded: those of its contracts that the projection already has. */
  readonly kept: string;
  /** A row for each exercise of a choice. */
  readonly exercises: string;
}

/** The version of the tables that this code requires. */
export const currentVersion = 2;

/** Returns the names in a schema. Throws a TypeError for a schema name that readers would have to quote. */
export function projectionSchema(name: string): ProjectionSchema {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw new TypeError('schema must consist of lower-case letters, digits and underscores');
  // quoted nevertheless, because such a name may be a keyword of SQL
  const schema = `"${name}"`;
  return {
    name,
    schema,
    versions: `${schema}.projection_versions`,
    state: `${schema}.projection_state`,
    templates: `${schema}.projection_templates`,
    contracts: `${schema}.projection_contracts`,
    updates: `${schema}.projection_updates`,
    gaps: `${schema}.projection_gaps`,
    kept: `${schema}.projection_kept`,
    exercises: `${schema}.projection_exercises`,
  };
}

/**
 * Whether readers see a row `c` of contracts, as is the case for nearly all rows. The addition prevents the planner
 * from using the statistics of the column, which would make it expect almost none.
 */
export const isVisibleIn = ({ state }: ProjectionSchema): string =>
  `c.generation + 0 <> ALL ((SELECT array_remove(s.garbage || s.loading, NULL) FROM ${state} s)::int[])`;
