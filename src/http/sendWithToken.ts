import { catchError, concatMap, type Observable, tap, timer } from 'rxjs';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError, verdict } from '../errors/LedgerError.js';
import { ConnectionError, UnauthorizedError } from '../errors/request.js';
import { type Call, hostOf, type Link, requestHeaders, tokensOf } from './Link.js';
import { mapError } from './retry.js';
import { hasEnded } from './TokenSource.js';

/**
 * Sends a request with the link's token. If the participant refuses the token, calls the provider with the refused token,
 * and repeats the request with the one that it returns. A refused request was not carried out, so it is safe to repeat.
 */
export const sendWithToken = <A>(
  link: Link,
  call: Call,
  send: (token: string | undefined) => Observable<A>,
): Observable<A> =>
  tokensOf(link).current$.pipe(
    concatMap((token) =>
      sendOnce({ link, call, send }, token).pipe(
        catchError<A, Observable<A>>((error: unknown) => {
          const refusal = refusalIn(error, call, token);
          if (refusal === undefined) throw error;
          return sendAfter({ link, call, send }, token, refusal);
        }),
      ),
    ),
  );

/** A request that may be sent with several tokens. */
interface Sending<A> {
  readonly link: Link;
  readonly call: Call;
  readonly send: (token: string | undefined) => Observable<A>;
}

const sendOnce = <A>({ link, call, send }: Sending<A>, token: string | undefined): Observable<A> =>
  send(token).pipe(
    tap(() => {
      tokensOf(link).accepted(call.path);
    }),
  );

/** An error that may be about the token of a request. */
interface Refusal {
  readonly cause: ApiError;
  /** Whether it is about the token. Otherwise, it may be about a right that the user lacks. */
  readonly isCertain: boolean;
}

/**
 * Reads whether an error is about the token. The error in the second after the end of a token, and that of some gateways, is
 * a 403 like the one for a missing right. The end of the token shows which it is; if it is not known, another token does.
 */
function refusalIn(cause: unknown, { isSubmission = false }: Call, token: string | undefined): Refusal | undefined {
  if (!isLedgerError(cause, 'ApiError')) return undefined;
  const { status, code } = cause;
  // a token that expires while the participant processes a submission does not mean that the submission was refused
  if (status === 401 || (!isSubmission && verdict(cause) === 'refresh')) return { cause, isCertain: true };
  if (status !== 403 || token === undefined || (code !== undefined && code !== 'NA')) return undefined;
  const isEnded = hasEnded(token);
  if (isEnded === false || (isEnded === undefined && isSubmission && code === undefined)) return undefined;
  return { cause, isCertain: isEnded === true };
}

/** How long a participant refuses a token after its end like one whose user lacks a right, in milliseconds. */
const ambiguousMs = 1_000;

/** Sends a request again with the token that the provider returns after a refusal. */
function sendAfter<A>(sending: Sending<A>, refused: string | undefined, refusal: Refusal): Observable<A> {
  const { link, call } = sending;
  const { cause, isCertain } = refusal;
  const tokens = tokensOf(link);
  // what answers in place of the ledger does not show what the ledger did
  if (call.isSubmission === true && cause.status === 403 && cause.code === undefined)
    throw new ConnectionError(call.path, 'the answer is 403, and the token has ended', undefined, hostOf(link));
  const fail = (token: string | undefined): never => {
    const hasToken = 'authorization' in requestHeaders(link, token);
    throw new UnauthorizedError(call.path, token !== refused, hostOf(link), hasToken, tokens.mayAcceptLater(token));
  };
  const sendWith = (token: string | undefined): Observable<A> =>
    sendOnce(sending, token).pipe(
      mapError((error) => (refusalIn(error, call, token)?.isCertain === true ? fail(token) : error)),
    );
  return tokens.after(refused).pipe(
    concatMap((token) => {
      if (token !== refused) {
        link.report(() => ({ _tag: 'TokenRefreshed', path: call.path }));
        return sendWith(token);
      }
      if (isCertain) return fail(token);
      if (!tokens.mayHaveEnded(call.path)) throw cause;
      // after that time, a token that has ended is a 401
      return timer(ambiguousMs).pipe(
        concatMap(() => tokens.after(refused)),
        concatMap(sendWith),
      );
    }),
  );
}
