import type { ProjectionSchema } from './projectionSchema.js';

/** One step from one version of the tables to the next. */
interface Migration {
  /** The version of the tables after this step. */
  readonly version: number;
  /** The SQL that creates the tables, or changes those of the previous version. */
  readonly sql: string;
}

/**
 * Returns the steps to the current tables, in order. A published step never changes: a change is a new step.
 *
 * Texts have the collation "C", so they are compared as bytes. Contract IDs are long and random: a hash index is a
 * fifth of the size of a B-tree.
 */
export const migrations = (names: ProjectionSchema): readonly Migration[] => [
  { version: 1, sql: firstTables(names) },
  { version: 2, sql: exercisesTables(names) },
];

/**
 * A row is visible if its generation is. All rows of a snapshot have a new generation, which becomes visible with the
 * last of them.
 */
const firstTables = ({ state, templates, contracts, updates, gaps, kept, schema }: ProjectionSchema): string => `
CREATE TYPE ${schema}.event_id AS ("offset" bigint, node_id int);
CREATE TABLE ${state} (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  generation int NOT NULL DEFAULT 0,
  visible int[] NOT NULL DEFAULT '{}',
  loading int,
  replaces boolean NOT NULL DEFAULT true,
  garbage int[] NOT NULL DEFAULT '{}',
  latest_offset bigint,
  oldest_offset bigint,
  cursor_at json
);
INSERT INTO ${state} DEFAULT VALUES;
CREATE TABLE ${templates} (
  template_pk int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payload_type text NOT NULL,
  template_id text NOT NULL,
  template_fqn text NOT NULL,
  module text NOT NULL,
  entity text NOT NULL,
  package_name text,
  package_id text,
  type_name text,
  CONSTRAINT projection_templates_once UNIQUE (payload_type, template_id)
);
CREATE TABLE ${contracts} (
  generation int NOT NULL,
  template_pk int NOT NULL,
  created_at_offset bigint NOT NULL,
  archived_at_offset bigint,
  created_node_id int NOT NULL,
  archived_node_id int,
  created_effective_at timestamptz NOT NULL,
  archived_effective_at timestamptz,
  reassignment_counter bigint NOT NULL,
  archived_in_gap boolean NOT NULL DEFAULT false,
  contract_id text COLLATE "C" NOT NULL,
  synchronizer_id text COLLATE "C",
  in_flight_to text COLLATE "C",
  payload jsonb,
  contract_key jsonb,
  signatories text[] NOT NULL,
  observers text[] NOT NULL,
  witnesses text[] NOT NULL,
  metadata bytea,
  as_sent json
);
CREATE INDEX projection_contracts_id ON ${contracts} USING hash (contract_id);
CREATE INDEX projection_contracts_created ON ${contracts} (generation, created_at_offset);
CREATE INDEX projection_contracts_active ON ${contracts} (template_pk) WHERE archived_at_offset IS NULL;
CREATE INDEX projection_contracts_archived ON ${contracts} (archived_at_offset) WHERE archived_at_offset IS NOT NULL;
CREATE TABLE ${updates} (
  generation int NOT NULL,
  "offset" bigint NOT NULL,
  update_id text NOT NULL,
  effective_at timestamptz NOT NULL,
  record_time timestamptz NOT NULL,
  synchronizer_id text COLLATE "C",
  workflow_id text,
  command_id text,
  trace_context jsonb,
  external_transaction_hash text,
  paid_traffic_cost bigint,
  PRIMARY KEY (generation, "offset")
);
CREATE INDEX projection_updates_effective_at ON ${updates} (effective_at, "offset");
CREATE TABLE ${gaps} (
  generation int NOT NULL,
  after_offset bigint NOT NULL,
  until_offset bigint NOT NULL,
  reason text NOT NULL,
  PRIMARY KEY (generation, until_offset)
);
CREATE TABLE ${kept} (
  contract_id text COLLATE "C" NOT NULL,
  template_pk int NOT NULL,
  synchronizer_id text COLLATE "C",
  in_flight_to text COLLATE "C",
  reassignment_counter bigint NOT NULL,
  payload jsonb
);
`;

/** Choices are named like templates: they are in the same table, with the template that is exercised. */
const exercisesTables = ({ schema, exercises, templates }: ProjectionSchema): string => `
DROP FUNCTION IF EXISTS ${schema}.set_latest(bigint), ${schema}.set_oldest(bigint);
ALTER TABLE ${templates} ADD COLUMN choice text NOT NULL DEFAULT '',
  DROP CONSTRAINT projection_templates_once,
  ADD CONSTRAINT projection_templates_once UNIQUE (payload_type, template_id, choice);
CREATE TABLE ${exercises} (
  generation int NOT NULL,
  template_pk int NOT NULL,
  exercised_at_offset bigint NOT NULL,
  node_id int NOT NULL,
  last_descendant_node_id int NOT NULL,
  consuming boolean NOT NULL,
  exercised_effective_at timestamptz NOT NULL,
  contract_id text COLLATE "C" NOT NULL,
  synchronizer_id text COLLATE "C",
  interface_id text,
  argument jsonb,
  result jsonb,
  controllers text[] NOT NULL,
  witnesses text[] NOT NULL,
  as_sent json,
  PRIMARY KEY (generation, exercised_at_offset, node_id)
);
CREATE INDEX projection_exercises_choice ON ${exercises} (template_pk, exercised_at_offset);
CREATE INDEX projection_exercises_contract ON ${exercises} USING hash (contract_id);
`;
