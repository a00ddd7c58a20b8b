import { Injectable } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { UserTables } from './user-tables.js';

/** The parties of the users. */
@Injectable()
export class Rights {
  constructor(private readonly tables: UserTables) {}

  /** Emits the parties of a user at once, and again when they change: none for a user without rights. */
  partiesOf(subject: string): Observable<readonly string[]> {
    return this.tables
      .watch<{ party: string }>('SELECT party FROM users.rights WHERE subject = $1 ORDER BY party', subject)
      .pipe(map((rows) => rows.map(({ party }) => party)));
  }
}
