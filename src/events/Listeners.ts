import type { Subject } from 'rxjs';
import type { LedgerEvent } from './LedgerEvent.js';

/** Those who listen to a ledger's events: what of a Subject is needed to tell them. */
export type Listeners = Pick<Subject<LedgerEvent>, 'observed' | 'next' | 'asObservable'>;
