/** The SQLSTATE of an error, or of what caused it: handlers and their libraries wrap errors. */
export function sqlStateOf(error: unknown): string | undefined {
  let link = error;
  for (let depth = 0; depth < 10 && typeof link === 'object' && link !== null; depth += 1) {
    if ('code' in link && typeof link.code === 'string' && /^[0-9A-Z]{5}$/.test(link.code)) return link.code;
    link = 'cause' in link ? link.cause : undefined;
  }
  return undefined;
}

/** The database asks for the transaction to be done once more: `serialization_failure`, `deadlock_detected`. */
export const isRetriable = (error: unknown): boolean => ['40001', '40P01'].includes(sqlStateOf(error) ?? '');

/** Something has failed in the transaction before, and nobody has said so: `in_failed_sql_transaction`. */
export const isSpoilt = (error: unknown): boolean => sqlStateOf(error) === '25P02';

/** The transaction breaks a rule of the database's, which may look only at its end: `integrity_constraint_violation`, PL/pgSQL's own. */
export const isForbidden = (error: unknown): boolean => /^(23|P0)/.test(sqlStateOf(error) ?? '');
