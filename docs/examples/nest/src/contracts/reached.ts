import { Inject, Injectable } from '@nestjs/common';
import type { Offset } from 'canton-rx';
import type { Pool } from 'pg';
import { defer, exhaustMap, filter, firstValueFrom, map, of, share, timeout, timer, type Observable } from 'rxjs';
import { POOL } from '../database/pool.js';

/** How often the database is asked while somebody waits, and how long somebody waits, in milliseconds. */
const everyMs = 50;
const withinMs = 5_000;

/**
 * Waits until the tables have an offset. Another process may be the one that writes them, so the database is asked; one
 * query serves everybody who waits, and there is none while nobody does.
 */
@Injectable()
export class Reached {
  private readonly latest$: Observable<Offset>;

  constructor(@Inject(POOL) pool: Pool) {
    this.latest$ = timer(0, everyMs).pipe(
      exhaustMap(() =>
        defer(() => pool.query<{ latest: string | null }>('SELECT contracts.latest_offset() AS latest')),
      ),
      map(({ rows }) => Number(rows[0]?.latest ?? 0)),
      share(),
    );
  }

  /** Whether the tables have the offset, after a while. */
  has(offset: Offset): Promise<boolean> {
    return firstValueFrom(
      this.latest$.pipe(
        filter((latest) => latest >= offset),
        map(() => true),
        timeout({ first: withinMs, with: () => of(false) }),
      ),
    );
  }
}
