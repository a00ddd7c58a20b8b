import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { filter, firstValueFrom, map, merge, skip, timer } from 'rxjs';
import type { Machine } from '../../helpers/network.js';
import type { TestServer } from '../../helpers/servers.js';
import type { Child } from './Child.js';
import type { Taken } from './flaws.js';

/** What is killed. */
export type Kind = 'process' | 'suspended process' | 'connection' | 'pooler' | 'machine';

/** A place in which a processor runs. */
interface Place {
  child: Child;
  readonly machine: Machine | undefined;
  readonly start: () => Child;
}

/** A kill, and how long no leader has committed after it, in milliseconds. */
export interface Kill {
  readonly kind: Kind;
  readonly leaderlessMs: number;
}

/** An update that took effect, and the fencing token of the transaction. */
export interface Effect extends Taken {
  readonly fence: number;
  /** When it was committed, in milliseconds by the clock of the database. */
  readonly committedAt: number;
}

/** The most time that may pass until a leader commits, in milliseconds. */
const maxWaitMs = 60_000;

/** How often the database is read, in milliseconds. */
const readMs = 50;

/** Two processors of one name in a database of their own, of which the leader is killed. */
export class Lane {
  readonly kills: Kill[] = [];
  readonly #places: readonly Place[];
  #life = 0;

  /**
   * @param pool - the database
   * @param start - starts a processor
   * @param machines - the machines on which they run, if that is not this one
   */
  constructor(
    readonly name: string,
    private readonly pool: Pool,
    private readonly random: () => number,
    start: (life: number, machine: Machine | undefined) => Child,
    machines: readonly Machine[] = [],
    private readonly pooler?: TestServer,
  ) {
    this.#places = [0, 1].map((index) => {
      const machine = machines[index];
      const startNext = (): Child => start((this.#life += 1), machine);
      return { child: startNext(), machine, start: startNext };
    });
  }

  /** Creates the table of the effects. The database itself adds the fencing token of the transaction. */
  static async createTable(pool: Pool): Promise<void> {
    await pool.query(`CREATE TABLE seen (n bigserial, "offset" bigint, update_id text, hash text, life int,
      fence bigint NOT NULL DEFAULT current_setting('canton_rx.fence')::bigint)`);
  }

  /** The effects in the order in which they were inserted. */
  async effects(): Promise<readonly Effect[]> {
    const { rows } = await this.pool
      .query<Effect>(`SELECT "offset"::int AS "offset", update_id AS "updateId", hash, life,
      fence::int AS fence, extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 * 1000 AS "committedAt" FROM seen ORDER BY n`);
    return rows;
  }

  /** Waits until a leader works, and another processor waits for the name. Then kills at a random moment. */
  async kill(kind: Kind): Promise<void> {
    const first = await this.#next(() => true);
    const leader = this.#placeOf(first.life);
    const standby = this.#places.find((place) => place !== leader);
    if (leader === undefined || standby === undefined) return this.kill(kind);
    // the last effect may be that of a former leader
    if (!(await standsBy(standby.child))) return this.kill(kind);
    await this.#moment(leader.child);
    const before = await this.#last();
    // it has lost the name meanwhile
    if (before?.life !== leader.child.life) return this.kill(kind);
    const begunAt = performance.now();
    const restore = await this.#cut(kind, leader);
    const ended = kind === 'connection' || kind === 'pooler' ? await this.#last() : before;
    await this.#next(({ n, fence }) =>
      kind === 'connection' || kind === 'pooler' ? n > (ended?.n ?? 0) : fence > before.fence,
    );
    this.kills.push({ kind, leaderlessMs: performance.now() - begunAt });
    await restore();
  }

  end(): void {
    for (const { child } of this.#places) child.signal('SIGKILL');
  }

  /** Kills, and returns what restores the place. */
  async #cut(kind: Kind, place: Place): Promise<() => Promise<void>> {
    const nothing = (): Promise<void> => Promise.resolve();
    switch (kind) {
      case 'process':
        place.child.signal('SIGKILL');
        return async () => {
          await place.child.over;
          place.child = place.start();
        };
      case 'suspended process':
        place.child.signal('SIGSTOP');
        return () => {
          place.child.signal('SIGCONT');
          return Promise.resolve();
        };
      case 'connection': {
        const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()`;
        while ((await this.pool.query(sql, [`life ${place.child.life}`])).rows.length === 0) await wait(1);
        return nothing;
      }
      case 'pooler':
        await this.pooler?.crash();
        await wait(this.random() * 300);
        await this.pooler?.start();
        return nothing;
      case 'machine':
        await place.machine?.disconnect();
        return async () => place.machine?.reconnect();
    }
  }

  /** Some time of work, then a mark: during a handler, a save or a commit. */
  async #moment(leader: Child): Promise<void> {
    await wait(this.random() * 500);
    const letter = ['u', 's', 'c'][Math.floor(this.random() * 3)];
    const at$ = leader.mark$.pipe(filter((mark) => mark === letter));
    await firstValueFrom(merge(at$, timer(2_000)), { defaultValue: undefined });
  }

  #placeOf(life: number): Place | undefined {
    return this.#places.find(({ child }) => child.life === life);
  }

  /** The last effect. */
  async #last(): Promise<{ readonly n: number; readonly life: number; readonly fence: number } | undefined> {
    const sql = 'SELECT n::int AS n, life, fence::int AS fence FROM seen ORDER BY n DESC LIMIT 1';
    return (await this.pool.query<{ n: number; life: number; fence: number }>(sql)).rows[0];
  }

  /** Why no leader commits. */
  async #describe(): Promise<string> {
    const places = this.#places.map(({ child }) => `life ${child.life} in ${child.phase()}`).join(', ');
    const leases = await this.pool.query('SELECT l.*, clock_timestamp() AS now FROM canton_rx_leases l');
    const sessions = await this.pool.query(`SELECT pid, application_name AS name, state, wait_event AS wait, query
      FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    const rows = JSON.stringify([leases.rows, sessions.rows]);
    return `${this.name}: no leader has committed for ${maxWaitMs / 1_000} s: ${places}; ${rows}`;
  }

  /** Waits for an effect, and returns it. */
  async #next(is: (last: { readonly n: number; readonly fence: number }) => boolean) {
    const end = performance.now() + maxWaitMs;
    for (;;) {
      const last = await this.#last();
      if (last !== undefined && is(last)) return last;
      if (performance.now() > end) throw new Error(await this.#describe());
      await wait(readMs);
    }
  }
}

/** Resolves with true when a processor has found twice that another one holds the name; with false when it commits itself. */
async function standsBy(child: Child): Promise<boolean> {
  const twice$ = child.mark$.pipe(
    filter((mark) => mark === 'h'),
    skip(1),
    map(() => true),
  );
  const commits$ = child.mark$.pipe(
    filter((mark) => mark === 'c'),
    map(() => false),
  );
  const unknown$ = timer(maxWaitMs).pipe(map(() => undefined));
  const found = await firstValueFrom(merge(twice$, commits$, unknown$), { defaultValue: undefined });
  if (found !== undefined) return found;
  throw new Error(
    `life ${child.life} does not stand by: ${child.isOver() ? ((await child.over) ?? '') : child.phase()}`,
  );
}
