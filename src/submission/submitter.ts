import { defer, finalize, type Observable } from 'rxjs';
import { type Client, reportOf } from '../client/Client.js';
import type { Report, WorkName } from '../diagnostics/Diagnostic.js';

/**
 * Names the rule or the outbox in all diagnostics of a submission. It may go through a function of the caller, which passes on the
 * command id.
 */
export const submittedBy = <A>(
  { learned: { submitters } }: Client,
  name: WorkName,
  commandId: string,
  submission$: Observable<A>,
): Observable<A> =>
  defer(() => {
    submitters.set(commandId, name);
    return submission$;
  }).pipe(finalize(() => submitters.delete(commandId)));

/** Returns the report function of the submission with a command id, if that is known. */
export const submissionReport =
  ({ report, learned }: Client, commandId: string | undefined): Report =>
  (body) => {
    reportOf(report, learned.submitters.get(commandId ?? ''))(body);
  };
