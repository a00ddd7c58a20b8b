import { Injectable } from '@nestjs/common';
import { filter, type Observable } from 'rxjs';
import type { Login } from './login.js';
import { UserTables } from './user-tables.js';

const find = 'SELECT FROM users.logouts WHERE token_id = $1';

/** The tokens that were logged out before they expired, in all processes of the service. */
@Injectable()
export class Logouts {
  constructor(private readonly tables: UserTables) {}

  async has({ tokenId }: Login): Promise<boolean> {
    return (await this.tables.read(find, [tokenId])).length > 0;
  }

  /** Emits when a token is logged out. */
  of({ tokenId }: Login): Observable<unknown> {
    return this.tables.watch(find, tokenId).pipe(filter((rows) => rows.length > 0));
  }

  /** Ends the login. What has expired needs no row any more. */
  async add({ tokenId, expiresAt }: Login): Promise<void> {
    await this.tables.read('DELETE FROM users.logouts WHERE expires_at < now()', []);
    await this.tables.read(
      'INSERT INTO users.logouts VALUES ($1, to_timestamp($2)) ON CONFLICT (token_id) DO NOTHING',
      [tokenId, expiresAt],
    );
  }
}
