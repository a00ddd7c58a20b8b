import { catchError, concatMap, defer, type Observable, tap, timer } from 'rxjs';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import { ConnectionError, UnauthorizedError } from '../errors/request.js';
import { mapError } from '../http/retry.js';
import type { Client } from './Client.js';

/**
 * Sends a request with the client's token. If the participant refuses the token, calls the provider with the refused token,
 * and repeats the request with the one that it returns. A refused request was not carried out, so it is safe to repeat.
 */
export const sendWithToken = <A>(
  client: TokenUser,
  call: Call,
  send: (token: string | undefined) => Observable<A>,
): Observable<A> =>
  client.tokens.current$.pipe(
    concatMap((token) =>
      sendOnce({ client, call, send }, token).pipe(
        catchError<A, Observable<A>>((error: unknown) => {
          const refusal = refusalIn(error, client, call, token);
          if (refusal === undefined) throw error;
          return sendAfter({ client, call, send }, token, refusal);
        }),
      ),
    ),
  );

/** What sends requests with tokens. */
export type TokenUser = Pick<Client, 'tokens' | 'host' | 'headersWith' | 'report'>;

/** What a request shows of the meaning of its refusal. */
interface Call {
  readonly path: string;
  readonly isSubmission?: boolean;
  readonly checkToken?: (token: string | undefined) => void;
}

/** A request that may be sent with several tokens. */
interface Sending<A> {
  readonly client: TokenUser;
  readonly call: Call;
  readonly send: (token: string | undefined) => Observable<A>;
}

const sendOnce = <A>({ client, call, send }: Sending<A>, token: string | undefined): Observable<A> =>
  defer(() => {
    call.checkToken?.(token);
    return send(token);
  }).pipe(
    tap(() => {
      client.tokens.accepted(call.path);
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
function refusalIn(
  cause: unknown,
  { tokens }: TokenUser,
  { isSubmission = false }: Call,
  token: string | undefined,
): Refusal | undefined {
  if (!isLedgerError(cause, 'ApiError')) return undefined;
  const { status, code } = cause;
  // a token that expires while the participant processes a submission does not mean that the submission was refused
  if (status === 401 || (!isSubmission && verdict(cause) === 'refresh')) return { cause, isCertain: true };
  if (status !== 403 || token === undefined || (code !== undefined && code !== 'NA')) return undefined;
  const isEnded = tokens.hasEnded(token);
  if (isEnded === false || (isEnded === undefined && isSubmission && code === undefined)) return undefined;
  return { cause, isCertain: isEnded === true };
}

/** How long a participant refuses a token after its end like one whose user lacks a right, in milliseconds. */
const ambiguousMs = 1_000;

/** Sends a request again with the token that the provider returns after a refusal. */
function sendAfter<A>(sending: Sending<A>, refused: string | undefined, refusal: Refusal): Observable<A> {
  const { client, call } = sending;
  const { cause, isCertain } = refusal;
  const tokens = client.tokens;
  // what answers in place of the ledger does not show what the ledger did
  if (call.isSubmission === true && cause.status === 403 && cause.code === undefined)
    throw new ConnectionError(call.path, 'the answer is 403, and the token has ended', { host: client.host });
  const fail = (token: string | undefined): never => {
    const hasToken = 'authorization' in client.headersWith(token);
    throw new UnauthorizedError(call.path, token !== refused, client.host, hasToken, tokens.mayAcceptLater(token));
  };
  const sendWith = (token: string | undefined): Observable<A> =>
    sendOnce(sending, token).pipe(
      mapError((error) => (refusalIn(error, client, call, token)?.isCertain === true ? fail(token) : error)),
    );
  return tokens.after(refused).pipe(
    concatMap((token) => {
      if (token !== refused) {
        client.report(() => ({ _tag: 'TokenRefreshed', path: call.path }));
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
