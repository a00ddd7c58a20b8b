import { brokenConnection, errorBody, errorReply, notFound, timedOut } from './wire.js';

export const executePath = '/v2/interactive-submission/executeAndWaitForTransaction';
export const byOffsetPath = '/v2/updates/update-by-offset';
export const completionPath = '/v2/commands/completion-by-hash';
export const participantPath = '/v2/parties/participant-id';
export const endPath = '/v2/state/ledger-end';

/** Error replies that are sent before the request is processed. */
export const immediateErrors = {
  unauthorized: errorReply(401, errorBody('NA', -1)),
  'back-pressure': errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2)),
  'back-pressure with a wait': errorReply(409, errorBody('SEQUENCER_BACKPRESSURE', 2), { 'retry-after': '2' }),
  'rate limit': errorReply(429, 'slow down'),
  'not running': errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1)),
  'bad gateway': errorReply(502, '<html>Bad Gateway</html>'),
  'no such path': notFound,
  forbidden: errorReply(403, 'not through this gateway'),
} as const;

/** Replies in place of a lost one; `undefined` for none. */
export const lossReplies = {
  reset: brokenConnection,
  silence: undefined,
  '503 text': timedOut,
  '504': errorReply(504, errorBody('REQUEST_TIME_OUT', 3)),
  '500': errorReply(500, errorBody('NA', -1)),
  '502': errorReply(502, '<html>Bad Gateway</html>'),
} as const;

export type ImmediateError = keyof typeof immediateErrors;
export type Loss = keyof typeof lossReplies;

/** The fault of one request. */
export type SubmissionFault =
  /** The connection is refused. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'answered'; readonly how: ImmediateError }
  /** The request or its reply is lost. The reply in its place follows after a while. */
  | { readonly kind: 'lost'; readonly isReceived: boolean; readonly how: Loss; readonly afterMs: number }
  /** The request is processed, and its reply cannot be decoded. */
  | { readonly kind: 'garbled'; readonly how: 'cut' | 'undecodable' | 'huge' }
  /** The submission is sequenced and rejected, because another transaction has locked the contracts. */
  | { readonly kind: 'contention' }
  /** A load balancer sends the request to another participant, which does not search for earlier attempts at the first. */
  | { readonly kind: 'elsewhere' }
  /** An intermediary delays the request for long, and there is no reply. */
  | { readonly kind: 'held'; readonly ms: number };

/** The behaviour of a participant. */
export interface SubmissionPlan {
  readonly latencyMs: number;
  /** The times from the receipt of a submission to its commit, by the number of the commit or contention. The last one repeats. */
  readonly commitMs: readonly number[];
  /** The faults of execute requests, by their number. Later requests have none. */
  readonly faults: readonly (SubmissionFault | null)[];
  /** The faults of requests that read, by their number. */
  readonly readFaults: readonly (SubmissionFault | null)[];
  readonly down: { readonly fromMs: number; readonly forMs: number; readonly how: Loss | 'refused' | '404' } | null;
  readonly byOffset: 'served' | 'gone';
  readonly ledgerEnd: 'served' | 'gone' | 'silent' | 'slow';
  /** While the participant is disconnected from the synchronizer it rejects submissions. Sequenced ones are committed. */
  readonly disconnected: { readonly fromMs: number; readonly forMs: number } | null;
  readonly completions: 'served' | 'gone';
  readonly isForged: boolean;
  readonly expiresAtMs: number | null;
}
