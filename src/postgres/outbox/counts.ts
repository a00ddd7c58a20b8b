import type { QueryResultRow } from 'pg';
import type { WorkCounts } from '../../diagnostics/SubmissionDiagnostic.js';
import { noWork } from '../../dispatch/WorkStatus.js';

/** Whether a pending command is being sent, for SQL: it was begun, and no time is set for another attempt. */
export const isRunning = `(may_be_committed AND retry_at IS NULL)`;

/** The statement that counts the commands of an outbox, by its name. */
export const countsSql = ({ commands }: { readonly commands: string }): string => `WITH open AS (
    SELECT state, enqueued_at,
      ${isRunning} AS "isRunning",
      retry_at > now() OR (key IS NOT NULL AND EXISTS (SELECT FROM ${commands} AS earlier
        WHERE earlier.name = c.name AND earlier.key = c.key AND earlier.id < c.id
          AND earlier.state IN ('pending', 'parked'))) AS "isWaiting"
    FROM ${commands} AS c WHERE name = $1 AND state IN ('pending', 'parked'))
  SELECT count(*) FILTER (WHERE state = 'parked') AS parked,
    count(*) FILTER (WHERE state = 'pending' AND "isRunning") AS running,
    count(*) FILTER (WHERE state = 'pending' AND NOT "isRunning" AND "isWaiting") AS waiting,
    count(*) FILTER (WHERE state = 'pending' AND NOT "isRunning" AND "isWaiting" IS NOT TRUE) AS due,
    coalesce(round(extract(epoch FROM max(now() - enqueued_at) FILTER (WHERE state = 'pending')) * 1000), 0) AS "oldestMs"
  FROM open`;

/** The counts in the result of {@link countsSql}. */
export const countsOf = ([row = {}]: readonly QueryResultRow[]): WorkCounts =>
  Object.fromEntries(Object.keys(noWork).map((key) => [key, Number(row[key])])) as unknown as WorkCounts;
