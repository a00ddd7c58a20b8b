/** The names of a projection's schema and tables, quoted. */
export interface ProjectionSchema {
  /** The schema, as its name is. */
  readonly name: string;
  /** The schema, quoted. */
  readonly schema: string;
  /** The steps by which the tables were made. */
  readonly versions: string;
  /** One row: what readers see, and how far the projection is. */
  readonly state: string;
  /** Templates and interfaces. */
  readonly templates: string;
  /** A row for each contract, and one for each of its views. */
  readonly contracts: string;
  /** A row for each update that changed a contract. */
  readonly updates: string;
  /** Ranges of offsets in which nobody knows what happened. */
  readonly gaps: string;
  /** While a snapshot is loaded: the contracts of it that are in the projection already. */
  readonly kept: string;
  /** A row for each exercise of a choice. */
  readonly exercises: string;
}

/** The version of the tables that this code works with. */
export const currentVersion = 2;

/** The names in a schema. Throws a TypeError for a schema that readers would have to quote. */
export function projectionSchema(name: string): ProjectionSchema {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw new TypeError('schema must be a plain name: lower-case letters, digits and underscores');
  // quoted nevertheless, since a plain name may be a word of SQL
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
 * Whether readers see a row `c` of contracts, as nearly all are. The sum keeps the planner from the statistics of the column,
 * by which it would expect hardly any.
 */
export const isVisibleIn = ({ state }: ProjectionSchema): string =>
  `c.generation + 0 <> ALL ((SELECT array_remove(s.garbage || s.loading, NULL) FROM ${state} s)::int[])`;
