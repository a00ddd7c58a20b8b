/** The duration of a lease since it was last renewed, in milliseconds, by the clock of the database. */
export const leaseMs = 15_000;

/** SQL: whether the server process of the holder of a row `l` has ended, if it is known. */
export const hasEnded = `(l.pid IS NOT NULL AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = l.pid))`;

/** SQL: whether the lease of a row `l` is free, because it was released or the server process of its holder has ended. */
export const isFree = `(l.holder IS NULL OR ${hasEnded})`;

/** SQL: whether the lease of a row `l` has expired. One that was renewed in the future was renewed before the clock was set back. */
export const isExpired = `clock_timestamp() NOT BETWEEN l.renewed_at AND l.renewed_at + interval '${leaseMs} milliseconds'`;

/** SQL: whether a row `l` of leases shows that a processor runs. */
export const isHeld = `(NOT ${isFree} AND NOT (${isExpired}))`;

/** SQL: when the lease of a row `l` was last renewed, in seconds, as text. */
export const renewedAt = `extract(epoch FROM l.renewed_at)::text`;

/** SQL: the key of a lock. */
export const lockKey = (lock: string): string => `hashtextextended(${lock}, 0)`;

/** SQL: whether a row `l` of `pg_locks` is the lock of an open transaction of this database. */
export const isLockOf = (lock: string): string => `l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (l.classid::bigint << 32 | l.objid::bigint) = ${lockKey(lock)}`;
