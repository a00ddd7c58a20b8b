import type { Observable } from 'rxjs';
import type { Party } from '../../codecs/Party.js';
import type { Connection } from '../arguments/Connection.js';
import type { Answer } from '../probe/Answer.js';
import type { Question } from '../probe/Question.js';

/** What checks ask with. */
export interface Probe {
  readonly connection: Connection;
  /** As whom updates are read. */
  readonly parties: readonly Party[] | 'any';
  /** Errors with an `AskError` where there is no answer. */
  readonly ask: (question: Question) => Observable<Answer>;
}
