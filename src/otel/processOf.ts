import type { Observable } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Committed } from '../process/Committed.js';
import type { AnyProcessOptions, ProcessOptions } from '../process/ProcessOptions.js';
import type { AnyHandler } from './watchedWork.js';

type AnyProcess = (request: UpdatesRequest, handler: AnyHandler, how: AnyProcessOptions) => Observable<Committed>;

/** A ledger's `process` for handlers and options of which no type says that they belong together. */
export const processOf =
  (ledger: Ledger): AnyProcess =>
  (request, handler, how) =>
    ledger.process(request, handler, how as ProcessOptions<unknown>);
