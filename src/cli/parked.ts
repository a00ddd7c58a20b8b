import { map, type Observable } from 'rxjs';
import { UsageError } from './arguments.js';
import { rowsOf } from './database.js';
import {
  cells,
  type OptionValues,
  refusal,
  required,
  requiredOffset,
  type Result,
  type Store,
  withStore,
} from './processors.js';
import { escapeText } from './text.js';
import type { World } from './World.js';

/** `canton-rx parked list | drop`; emits the exit code, once. */
export function parkedCommand([action, ...args]: readonly string[], world: World): Observable<number> {
  switch (action) {
    case 'list':
      return withStore(args, world, ['name'], listParked);
    case 'drop':
      return withStore(args, world, ['name', 'offset'], drop);
    case 'replay':
      throw new UsageError(
        'only the service has the handler: call handleParked in it, such as node service.js replay in docs/services.md',
      );
    default:
      throw new UsageError('parked requires list or drop first (canton-rx parked --help)');
  }
}

const listParked = ({ pool, schema }: Store, { name = null }: { readonly name?: string | null }): Result =>
  rowsOf(
    pool,
    `SELECT name, "offset"::text AS "offset", record ->> 'parkedAt' AS at, record ->> 'attempts' AS attempts, record ->> 'reason' AS reason
    FROM "${schema}".canton_rx_parked WHERE $1::text IS NULL OR name = $1 ORDER BY name, canton_rx_parked."offset"`,
    [name],
  ).pipe(
    map((rows) =>
      rows.map(({ name: processor, offset, at, attempts, reason }) =>
        cells(processor, `offset ${String(offset)}`, `parked ${String(at)}`, `attempts ${String(attempts)}`, reason),
      ),
    ),
  );

function drop({ pool, schema }: Store, values: OptionValues): Result {
  const [name, offset] = [required(values, 'name'), requiredOffset(values, 'offset')];
  return rowsOf(pool, `DELETE FROM "${schema}".canton_rx_parked WHERE name = $1 AND "offset" = $2 RETURNING 1`, [
    name,
    offset,
  ]).pipe(
    map((rows) => {
      if (rows.length === 0)
        throw refusal(`no update of ${name} is parked at offset ${offset}`, 'see canton-rx parked list');
      return [`dropped the parked update of ${escapeText(name)} at offset ${offset}`];
    }),
  );
}
