-- The tables and functions of version 1, in the schema "contracts".
SELECT pg_advisory_xact_lock(hashtextextended('canton_rx projection contracts', 1));
CREATE SCHEMA IF NOT EXISTS "contracts";
CREATE TABLE IF NOT EXISTS "contracts".projection_versions (version int PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now());

DO $step$ BEGIN
  IF NOT EXISTS (SELECT FROM "contracts".projection_versions WHERE version >= 1) THEN
    
CREATE TYPE "contracts".event_id AS ("offset" bigint, node_id int);
CREATE TABLE "contracts".projection_state (
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
INSERT INTO "contracts".projection_state DEFAULT VALUES;
CREATE TABLE "contracts".projection_templates (
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
CREATE TABLE "contracts".projection_contracts (
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
CREATE INDEX projection_contracts_id ON "contracts".projection_contracts (contract_id);
CREATE INDEX projection_contracts_created ON "contracts".projection_contracts (generation, created_at_offset);
CREATE INDEX projection_contracts_active ON "contracts".projection_contracts (template_pk) WHERE archived_at_offset IS NULL;
CREATE INDEX projection_contracts_archived ON "contracts".projection_contracts (archived_at_offset) WHERE archived_at_offset IS NOT NULL;
CREATE TABLE "contracts".projection_updates (
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
CREATE INDEX projection_updates_effective_at ON "contracts".projection_updates (effective_at, "offset");
CREATE TABLE "contracts".projection_gaps (
  generation int NOT NULL,
  after_offset bigint NOT NULL,
  until_offset bigint NOT NULL,
  reason text NOT NULL,
  PRIMARY KEY (generation, until_offset)
);
CREATE TABLE "contracts".projection_kept (
  contract_id text COLLATE "C" NOT NULL,
  template_pk int NOT NULL,
  synchronizer_id text COLLATE "C",
  in_flight_to text COLLATE "C",
  reassignment_counter bigint NOT NULL,
  payload jsonb
);
COMMENT ON SCHEMA "contracts" IS 'Contracts of a Canton ledger, by canton-rx. Read them by the functions, not from the tables.';

    INSERT INTO "contracts".projection_versions (version) VALUES (1);
  END IF;
END $step$;

CREATE OR REPLACE FUNCTION "contracts".projection_reached() RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  s record;
  cursors regclass;
  saved bigint;
BEGIN
  SELECT * INTO s FROM "contracts".projection_state;
  -- not by to_regclass, which fails for a schema that the reader may not use
  SELECT c.oid INTO cursors FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = split_part(s.cursor_at ->> 0, '.', 1) AND c.relname = split_part(s.cursor_at ->> 0, '.', 2)
      AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT');
  IF s.latest_offset IS NULL OR s.loading IS NOT NULL OR cursors IS NULL THEN
    RETURN s.latest_offset;
  END IF;
  -- the cursor of the processor is ahead of the last change while nothing changes
  EXECUTE format('SELECT (cursor ->> ''offset'')::bigint FROM %s WHERE name = $1 AND cursor ->> ''loading'' IS NULL', cursors)
    INTO saved USING s.cursor_at ->> 1;
  RETURN greatest(s.latest_offset, saved);
END $body$;
CREATE OR REPLACE FUNCTION "contracts".latest_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(nullif(current_setting('canton_rx.latest_of_contracts', true), '')::bigint, "contracts".projection_reached())
$body$;
CREATE OR REPLACE FUNCTION "contracts".oldest_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(nullif(current_setting('canton_rx.oldest_of_contracts', true), '')::bigint, (SELECT s.oldest_offset FROM "contracts".projection_state s))
$body$;
CREATE OR REPLACE FUNCTION "contracts".validate_offset_exists(at bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  reached bigint := "contracts".projection_reached();
  oldest bigint := (SELECT s.oldest_offset FROM "contracts".projection_state s);
BEGIN
  IF at IS NULL THEN
    RAISE EXCEPTION 'an offset is required' USING ERRCODE = 'null_value_not_allowed';
  ELSIF reached IS NULL THEN
    RAISE EXCEPTION 'offset % is not reached: the contracts are not loaded yet', at USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again later.';
  ELSIF at > reached THEN
    RAISE EXCEPTION 'offset % is not reached: the latest is %', at, reached USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again later.';
  ELSIF at < oldest THEN
    RAISE EXCEPTION 'offset % is before the oldest, %', at, oldest USING ERRCODE = 'numeric_value_out_of_range';
  ELSIF EXISTS (SELECT FROM "contracts".projection_gaps g WHERE g.generation = ANY ((SELECT s.visible FROM "contracts".projection_state s)::int[])
      AND at > g.after_offset AND at < g.until_offset) THEN
    RAISE EXCEPTION 'offset % is in a gap: the ledger was pruned before it was read', at USING
      ERRCODE = 'numeric_value_out_of_range';
  END IF;
  RETURN at;
END $body$;
CREATE OR REPLACE FUNCTION "contracts".projection_scope_at(at bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT CASE
    WHEN coalesce(at, nullif(current_setting('canton_rx.latest_of_contracts', true), '')::bigint) IS NULL THEN 9223372036854775807
    ELSE "contracts".validate_offset_exists(coalesce(at, nullif(current_setting('canton_rx.latest_of_contracts', true), '')::bigint))
  END
$body$;
CREATE OR REPLACE FUNCTION "contracts".projection_scope_from(from_offset bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(from_offset, nullif(current_setting('canton_rx.oldest_of_contracts', true), '')::bigint, 0)
$body$;
CREATE OR REPLACE FUNCTION "contracts".projection_scope_to(to_offset bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(to_offset, nullif(current_setting('canton_rx.latest_of_contracts', true), '')::bigint, 9223372036854775807)
$body$;
CREATE OR REPLACE FUNCTION "contracts".set_latest(at bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM set_config('canton_rx.latest_of_contracts',
    CASE WHEN at IS NULL THEN '' ELSE "contracts".validate_offset_exists(at)::text END, false);
  RETURN "contracts".latest_offset();
END $body$;
CREATE OR REPLACE FUNCTION "contracts".set_oldest(at bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM set_config('canton_rx.oldest_of_contracts',
    CASE WHEN at IS NULL THEN '' ELSE "contracts".validate_offset_exists(at)::text END, false);
  RETURN "contracts".oldest_offset();
END $body$;
CREATE OR REPLACE FUNCTION "contracts".nearest_offset("time" timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT u."offset" FROM "contracts".projection_updates u
  WHERE u.effective_at <= "time" AND u.generation = ANY ((SELECT s.visible FROM "contracts".projection_state s)::int[])
  ORDER BY u.effective_at DESC, u."offset" DESC LIMIT 1
$body$;
CREATE OR REPLACE FUNCTION "contracts".nearest_offset(ago interval) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT "contracts".nearest_offset(now() - ago)
$body$;
CREATE OR REPLACE VIEW "contracts".transactions AS
  SELECT u."offset" AS ix, u."offset", u.update_id AS transaction_id, u.effective_at, u.workflow_id, u.trace_context,
    u.external_transaction_hash, u.paid_traffic_cost,
    u.synchronizer_id COLLATE "default" AS synchronizer_id, u.record_time, u.command_id
  FROM "contracts".projection_updates u WHERE u.generation = ANY ((SELECT s.visible FROM "contracts".projection_state s)::int[]);


CREATE OR REPLACE FUNCTION "contracts".projection_find_templates(name text) RETURNS int[] LANGUAGE plpgsql STABLE AS $body$
DECLARE
  found_pks int[];
  found_names text[];
BEGIN
  IF coalesce(name, '') = '' THEN
    RETURN NULL;
  END IF;
  SELECT array_agg(t.template_pk) INTO found_pks FROM "contracts".projection_templates t WHERE t.type_name = name AND t.payload_type <> 'choice';
  IF found_pks IS NOT NULL THEN
    RETURN found_pks;
  END IF;
  SELECT array_agg(t.template_pk), array_agg(DISTINCT t.template_fqn ORDER BY t.template_fqn)
    INTO found_pks, found_names
    FROM "contracts".projection_templates t
    WHERE t.payload_type <> 'choice' AND CASE
      WHEN left(name, 1) = '#' THEN t.template_fqn = substr(name, 2)
      ELSE name IN (t.template_fqn, t.module || ':' || t.entity, t.entity, t.template_id)
    END;
  PERFORM "contracts".projection_check_names('template or interface', name, found_names,
    ARRAY(SELECT DISTINCT t.template_fqn FROM "contracts".projection_templates t WHERE t.payload_type <> 'choice' ORDER BY 1 LIMIT 10));
  RETURN found_pks;
END $body$;
CREATE OR REPLACE FUNCTION "contracts".projection_check_names(kind text, name text, found_names text[], known text[])
RETURNS void LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF cardinality(found_names) > 1 THEN
    RAISE EXCEPTION 'more than one % is called "%"', kind, name USING
      ERRCODE = 'ambiguous_alias', HINT = 'Use one of: ' || array_to_string(found_names[1:10], ', ');
  ELSIF found_names IS NULL THEN
    RAISE EXCEPTION 'no % is called "%"', kind, name USING
      ERRCODE = 'undefined_object',
      HINT = CASE WHEN cardinality(known) = 0 THEN 'None is known so far.'
        ELSE 'Known so far are, among others: ' || array_to_string(known, ', ') END;
  END IF;
END $body$;


CREATE OR REPLACE FUNCTION "contracts".active(name text DEFAULT NULL, at bigint DEFAULT NULL)
RETURNS TABLE (
  template_fqn text, payload_type text,
  create_event_id "contracts".event_id, created_at_offset bigint, created_effective_at timestamptz,
  archive_event_id "contracts".event_id, archived_at_offset bigint, archived_effective_at timestamptz,
  contract_id text, payload jsonb, contract_key jsonb,
  package_name text, package_id text,
  signatories text[], observers text[], witnesses text[], metadata bytea,
  synchronizer_id text, reassignment_counter bigint, in_flight_to text,
  type_name text, archived_in_gap boolean, as_sent json) LANGUAGE sql STABLE AS $body$
  
  SELECT t.template_fqn, t.payload_type,
    ROW(c.created_at_offset, c.created_node_id)::"contracts".event_id, c.created_at_offset, c.created_effective_at,
    CASE WHEN c.archived_node_id IS NOT NULL THEN ROW(c.archived_at_offset, c.archived_node_id)::"contracts".event_id END,
    c.archived_at_offset, c.archived_effective_at,
    c.contract_id COLLATE "default", c.payload, c.contract_key,
    t.package_name, t.package_id,
    c.signatories, c.observers, c.witnesses, c.metadata,
    c.synchronizer_id COLLATE "default", c.reassignment_counter, c.in_flight_to COLLATE "default",
    t.type_name, c.archived_in_gap, c.as_sent
  FROM (
    SELECT * FROM "contracts".projection_contracts a WHERE a.archived_at_offset IS NULL
    UNION ALL SELECT * FROM "contracts".projection_contracts b WHERE b.archived_at_offset > (SELECT "contracts".projection_scope_at($2))) c JOIN "contracts".projection_templates t ON t.template_pk = c.template_pk
  WHERE c.generation + 0 <> ALL ((SELECT array_remove(s.garbage || s.loading, NULL) FROM "contracts".projection_state s)::int[]) AND (coalesce($1, '') = '' OR c.template_pk = ANY ((SELECT "contracts".projection_find_templates($1))::int[])) AND c.created_at_offset + 0 <= (SELECT "contracts".projection_scope_at($2))
$body$;
CREATE OR REPLACE FUNCTION "contracts".creates(name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (
  template_fqn text, payload_type text,
  create_event_id "contracts".event_id, created_at_offset bigint, created_effective_at timestamptz,
  archive_event_id "contracts".event_id, archived_at_offset bigint, archived_effective_at timestamptz,
  contract_id text, payload jsonb, contract_key jsonb,
  package_name text, package_id text,
  signatories text[], observers text[], witnesses text[], metadata bytea,
  synchronizer_id text, reassignment_counter bigint, in_flight_to text,
  type_name text, archived_in_gap boolean, as_sent json) LANGUAGE sql STABLE AS $body$
  
  SELECT t.template_fqn, t.payload_type,
    ROW(c.created_at_offset, c.created_node_id)::"contracts".event_id, c.created_at_offset, c.created_effective_at,
    CASE WHEN c.archived_node_id IS NOT NULL THEN ROW(c.archived_at_offset, c.archived_node_id)::"contracts".event_id END,
    c.archived_at_offset, c.archived_effective_at,
    c.contract_id COLLATE "default", c.payload, c.contract_key,
    t.package_name, t.package_id,
    c.signatories, c.observers, c.witnesses, c.metadata,
    c.synchronizer_id COLLATE "default", c.reassignment_counter, c.in_flight_to COLLATE "default",
    t.type_name, c.archived_in_gap, c.as_sent
  FROM "contracts".projection_contracts c JOIN "contracts".projection_templates t ON t.template_pk = c.template_pk
  WHERE c.generation = ANY ((SELECT s.visible FROM "contracts".projection_state s)::int[]) AND (coalesce($1, '') = '' OR c.template_pk = ANY ((SELECT "contracts".projection_find_templates($1))::int[])) AND c.created_at_offset BETWEEN (SELECT "contracts".projection_scope_from($2)) AND (SELECT "contracts".projection_scope_to($3))
$body$;
CREATE OR REPLACE FUNCTION "contracts".archives(name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (
  template_fqn text, payload_type text,
  create_event_id "contracts".event_id, created_at_offset bigint, created_effective_at timestamptz,
  archive_event_id "contracts".event_id, archived_at_offset bigint, archived_effective_at timestamptz,
  contract_id text, payload jsonb, contract_key jsonb,
  package_name text, package_id text,
  signatories text[], observers text[], witnesses text[], metadata bytea,
  synchronizer_id text, reassignment_counter bigint, in_flight_to text,
  type_name text, archived_in_gap boolean, as_sent json) LANGUAGE sql STABLE AS $body$
  
  SELECT t.template_fqn, t.payload_type,
    ROW(c.created_at_offset, c.created_node_id)::"contracts".event_id, c.created_at_offset, c.created_effective_at,
    CASE WHEN c.archived_node_id IS NOT NULL THEN ROW(c.archived_at_offset, c.archived_node_id)::"contracts".event_id END,
    c.archived_at_offset, c.archived_effective_at,
    c.contract_id COLLATE "default", c.payload, c.contract_key,
    t.package_name, t.package_id,
    c.signatories, c.observers, c.witnesses, c.metadata,
    c.synchronizer_id COLLATE "default", c.reassignment_counter, c.in_flight_to COLLATE "default",
    t.type_name, c.archived_in_gap, c.as_sent
  FROM "contracts".projection_contracts c JOIN "contracts".projection_templates t ON t.template_pk = c.template_pk
  WHERE c.generation + 0 <> ALL ((SELECT array_remove(s.garbage || s.loading, NULL) FROM "contracts".projection_state s)::int[]) AND (coalesce($1, '') = '' OR c.template_pk = ANY ((SELECT "contracts".projection_find_templates($1))::int[])) AND c.archived_at_offset BETWEEN (SELECT "contracts".projection_scope_from($2)) AND (SELECT "contracts".projection_scope_to($3))
$body$;
CREATE OR REPLACE FUNCTION "contracts".lookup_contract(id text)
RETURNS TABLE (
  template_fqn text, payload_type text,
  create_event_id "contracts".event_id, created_at_offset bigint, created_effective_at timestamptz,
  archive_event_id "contracts".event_id, archived_at_offset bigint, archived_effective_at timestamptz,
  contract_id text, payload jsonb, contract_key jsonb,
  package_name text, package_id text,
  signatories text[], observers text[], witnesses text[], metadata bytea,
  synchronizer_id text, reassignment_counter bigint, in_flight_to text,
  type_name text, archived_in_gap boolean, as_sent json) LANGUAGE sql STABLE AS $body$
  
  SELECT t.template_fqn, t.payload_type,
    ROW(c.created_at_offset, c.created_node_id)::"contracts".event_id, c.created_at_offset, c.created_effective_at,
    CASE WHEN c.archived_node_id IS NOT NULL THEN ROW(c.archived_at_offset, c.archived_node_id)::"contracts".event_id END,
    c.archived_at_offset, c.archived_effective_at,
    c.contract_id COLLATE "default", c.payload, c.contract_key,
    t.package_name, t.package_id,
    c.signatories, c.observers, c.witnesses, c.metadata,
    c.synchronizer_id COLLATE "default", c.reassignment_counter, c.in_flight_to COLLATE "default",
    t.type_name, c.archived_in_gap, c.as_sent
  FROM "contracts".projection_contracts c JOIN "contracts".projection_templates t ON t.template_pk = c.template_pk
  WHERE c.contract_id = $1 AND c.generation + 0 <> ALL ((SELECT array_remove(s.garbage || s.loading, NULL) FROM "contracts".projection_state s)::int[])
$body$;

CREATE OR REPLACE FUNCTION "contracts".summary_active(at bigint DEFAULT NULL)
RETURNS TABLE (template_fqn text, payload_type text, count bigint) LANGUAGE sql STABLE AS $body$
  SELECT c.template_fqn, c.payload_type, count(*) FROM "contracts".active(NULL, $1) c GROUP BY 1, 2 ORDER BY 1, 2
$body$;

CREATE OR REPLACE FUNCTION "contracts".summary_creates(from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (template_fqn text, payload_type text, count bigint) LANGUAGE sql STABLE AS $body$
  SELECT c.template_fqn, c.payload_type, count(*) FROM "contracts".creates(NULL, $1, $2) c GROUP BY 1, 2 ORDER BY 1, 2
$body$;

CREATE OR REPLACE FUNCTION "contracts".summary_archives(from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (template_fqn text, payload_type text, count bigint) LANGUAGE sql STABLE AS $body$
  SELECT c.template_fqn, c.payload_type, count(*) FROM "contracts".archives(NULL, $1, $2) c GROUP BY 1, 2 ORDER BY 1, 2
$body$;

