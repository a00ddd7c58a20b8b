import { ixOfExercise, type ProjectionSchema } from './tables.js';

/**
 * Returns the functions that erase what a contract or an exercise says, and keep that it was. Only what has ended can be
 * erased, and what is not followed any more: readers rely on the payloads of active contracts, and a reload would read them again.
 */
export const redactFunctions = ({ schema, name, state, contracts, exercises }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.redact_contract(id text, redaction_id text) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  redacted bigint;
BEGIN
  ${checkRedactionId}
  IF EXISTS (SELECT FROM ${contracts} c WHERE c.contract_id = $1 AND c.archived_at_offset IS NULL AND c.end_reason IS NULL) THEN
    RAISE EXCEPTION 'contract % is active', $1 USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Archive it on the ledger first.';
  END IF;
  UPDATE ${contracts} c SET payload = NULL, contract_key = NULL, metadata = NULL, as_sent = NULL, redaction_id = $2
    WHERE c.contract_id = $1;
  GET DIAGNOSTICS redacted = ROW_COUNT;
  IF redacted = 0 THEN
    RAISE EXCEPTION 'contract % is unknown', $1 USING ERRCODE = 'no_data_found';
  END IF;
  RETURN redacted;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.redact_exercise(event_id ${schema}.event_id, redaction_id text) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  redacted bigint;
BEGIN
  ${checkRedactionId}
  -- the rows of an earlier epoch show their id, too: what cannot come back is never taken for another one
  IF coalesce(current_setting('canton_rx.epoch_of_${name}', true), '') = '' AND (
    SELECT count(DISTINCT ${ixOfExercise('e.')}) > 1 FROM ${exercises} e
    WHERE e.exercised_at_offset = ($1)."offset" AND e.node_id = ($1).node_id
      AND e.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])) THEN
    RAISE EXCEPTION 'there are several exercises % in different epochs', $1 USING
      ERRCODE = 'numeric_value_out_of_range', HINT = 'Choose the offsets: see the view epochs, and set_epoch().';
  END IF;
  UPDATE ${exercises} e SET argument = NULL, result = NULL, as_sent = NULL, redaction_id = $2
    WHERE ${ixOfExercise('e.')} = ${schema}.projection_ix_of(($1)."offset") AND e.node_id = ($1).node_id;
  GET DIAGNOSTICS redacted = ROW_COUNT;
  IF redacted = 0 THEN
    RAISE EXCEPTION 'exercise % is unknown', $1 USING ERRCODE = 'no_data_found';
  END IF;
  RETURN redacted;
END $body$;
`;

/** Without the id of a redaction, an erased row would look like one whose payload is absent. */
const checkRedactionId = `IF coalesce($2, '') = '' THEN
    RAISE EXCEPTION 'a redaction needs an id' USING ERRCODE = 'invalid_parameter_value';
  END IF;`;
