/**
 * The history has no unique constraint on the offset, since no update is written twice. A contract may be on two
 * synchronizers for a moment, since its assignment and its unassignment are two updates.
 */
export const postgresTables = `
  CREATE TABLE IF NOT EXISTS history (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    "offset" bigint NOT NULL,
    update_id text,
    kind text NOT NULL,
    changes jsonb NOT NULL
  );
  CREATE TABLE IF NOT EXISTS contracts (
    contract_id text,
    synchronizer_id text,
    template_id text NOT NULL,
    payload jsonb,
    PRIMARY KEY (contract_id, synchronizer_id)
  );
`;
