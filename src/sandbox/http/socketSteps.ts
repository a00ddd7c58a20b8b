import { jsonLayerError, RequestError, requestError } from '../errors.js';
import type { FaultSocket } from '../faults/socketFaults.js';
import type { Ledger } from '../ledger/Ledger.js';
import { type Answer, type Call, errorAnswer, jsonAnswer, rewriteAnswer, type Stream } from './Call.js';
import { Wait } from './Wait.js';

/** A step of the server side of a WebSocket: a message, its end, or that nothing more is sent. */
export type SocketStep =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'close'; readonly code?: number | undefined; readonly reason?: string | undefined }
  | { readonly kind: 'cut' }
  | { readonly kind: 'silence' };

/** The steps of a WebSocket that sends the stream of a request; an error is sent as the last message. */
export function* socketSteps(stream: Stream, call: Call): Generator<SocketStep | Wait, void> {
  try {
    yield* stepsOf(stream, call);
  } catch (error) {
    yield* errorSteps(error, call);
  }
}

function* stepsOf(stream: Stream, call: Call): Generator<SocketStep | Wait, void> {
  const { fault, isAuthorized } = call;
  if (!isAuthorized()) throw requestError('UNAUTHENTICATED', 'no good token');
  const socketFault = fault?.kind === 'socket' && fault.how !== 'refuse' ? fault : undefined;
  let remaining = socketFault?.elements ?? 0;
  if (socketFault !== undefined && remaining <= 0) {
    yield* faultSteps(socketFault);
    return;
  }
  const { ledger } = call.participant;
  const { restores } = ledger;
  for (const element of stream(call)) {
    checkRestored(ledger, restores);
    if (element instanceof Wait) {
      yield element;
      continue;
    }
    if (!isAuthorized()) throw requestError('ACCESS_TOKEN_EXPIRED', 'JWT token has expired');
    yield { kind: 'text', text: toMessage(jsonAnswer(element), call) };
    remaining -= 1;
    if (socketFault !== undefined && remaining <= 0) {
      yield* faultSteps(socketFault);
      return;
    }
  }
  checkRestored(ledger, restores);
  yield { kind: 'close' };
}

/** Breaks off a stream whose ledger was restored: a normal end would look like a complete stream. */
function checkRestored(ledger: Ledger, restoresBefore: number): void {
  if (ledger.restores !== restoresBefore) throw new Error('The ledger was restored');
}

/** The fault of a WebSocket. */
function* faultSteps(fault: Exclude<FaultSocket, { how: 'refuse' }>): Generator<SocketStep, void> {
  switch (fault.how) {
    case 'close':
      yield { kind: 'close', code: fault.code, reason: fault.reason };
      return;
    case 'cut':
      yield { kind: 'cut' };
      return;
    case 'silence':
      yield { kind: 'silence' };
      return;
    case 'error':
      yield { kind: 'text', text: typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body) };
      yield { kind: 'close' };
  }
}

/** The end of a stream that fails: internal errors have a code instead of a message. */
function* errorSteps(error: unknown, call: Call): Generator<SocketStep, void> {
  try {
    if (!(error instanceof RequestError)) throw error;
    yield { kind: 'text', text: toMessage(errorMessage(error, call.trace.id), call) };
    yield { kind: 'close' };
  } catch {
    yield { kind: 'close', code: 1011 };
  }
}

function toMessage(answer: Answer, { fault }: Call): string {
  if (fault?.kind !== 'rewrite') return answer.body;
  const { contentType, body } = rewriteAnswer(answer, fault);
  if (contentType !== answer.contentType) throw new Error(body);
  return body;
}

/** The message of an error. An error that is plain text over HTTP is an internal error here. */
function errorMessage(error: RequestError, traceId: string): Answer {
  if (typeof error.body !== 'string') return errorAnswer(error, traceId);
  return errorAnswer(jsonLayerError(500, 'LEDGER_API_INTERNAL_ERROR', error.body), traceId);
}
