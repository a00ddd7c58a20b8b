import { defer, finalize, type Observable } from 'rxjs';
import { type Client, reportOf } from '../client/Client.js';
import type { SubmissionCall, Submitter } from '../client/Interceptor.js';
import type { Report } from '../diagnostics/Diagnostic.js';

/**
 * Names the rule or the outbox to the diagnostics and the interceptors of a submission. It may go through a function of the
 * caller, which passes on the command id.
 */
export const submittedBy = <A>(
  { learned: { submitters } }: Client,
  submitter: Submitter,
  commandId: string,
  submission$: Observable<A>,
): Observable<A> =>
  defer(() => {
    submitters.set(commandId, submitter);
    return submission$;
  }).pipe(finalize(() => submitters.delete(commandId)));

/** Returns what interceptors see of a submission, with its rule or its outbox if it has one. */
export const submissionCall = (
  { learned: { submitters } }: Client,
  method: SubmissionCall['method'],
  commandId?: string,
): SubmissionCall => ({ method, commandId, ...submitters.get(commandId ?? '') });

/** Returns the report function of the submission with a command id, if that is known. */
export const submissionReport =
  ({ report, learned: { submitters } }: Client, commandId: string | undefined): Report =>
  (body) => {
    const { action, outbox } = submitters.get(commandId ?? '') ?? {};
    const name = { ...(action !== undefined && { rule: action.rule }), ...(outbox !== undefined && { outbox }) };
    reportOf(report, name)(body);
  };
