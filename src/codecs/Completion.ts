import type * as t from 'io-ts';
import type { DeduplicationPeriod } from './ExecuteRequest.js';
import { adapt, atKey, Codec, fail, invalid, isRecord, readerOf } from './internal/Codec.js';
import {
  ignored,
  json,
  lenient,
  list,
  nullable,
  optional,
  repeated,
  tag,
  text,
  texts,
  withDefault,
} from './internal/field.js';
import { envelope, exact, message } from './internal/message.js';
import { oneOf, oneOfKeys, unknownWithOffset } from './internal/variant.js';
import { TextValues } from './JsCantonError.js';
import type { Duration } from './MinLedgerTime.js';
import { OffsetCheckpoint, SynchronizerTime, TraceContext } from './OffsetCheckpoint.js';
import { Int64, Offset, type Opt, Party, UserId } from './scalars.js';

/**
 * The status of a command, as gRPC reports it.
 *
 * @inline
 */
interface Status {
  /** The gRPC code; 0 for a success. */
  readonly code: Int64;
  /** The explanation. */
  readonly message: string;
  /** Details of an error, undecoded. */
  readonly details: readonly unknown[];
}

const Status = message<Status>('Status', {
  code: lenient(Int64, 0),
  message: lenient(text, ''),
  details: repeated(json),
});

/**
 * The fields of every completion.
 *
 * @inline
 */
interface CompletionFields {
  /** The variant. */
  readonly _tag: 'Completion';
  /** The command id that the submitter chose. */
  readonly commandId: string;
  /** The user that submitted. */
  readonly userId: string;
  /** The parties that acted, without those that the request does not name. Their order has no meaning. */
  readonly actAs: readonly Party[];
  /** Identifies the attempt. */
  readonly submissionId?: string;
  /** The id of the committed update; absent after a rejection. */
  readonly updateId?: string;
  /**
   * The period that the participant has searched for the same change; absent for a reassignment. A period of a kind that
   * only a newer ledger has stays as it is.
   */
  readonly deduplicationPeriod?: DeduplicationPeriod;
  /** The trace context of the submission. */
  readonly traceContext?: TraceContext;
  /** The position on this participant's ledger: that of the update, if there is one. */
  readonly offset: Offset;
  /** The synchronizer of the submission, and the record time. */
  readonly synchronizerTime: SynchronizerTime;
  /** The traffic cost of the confirmation request, in bytes, also of a rejected one. Since 3.4.12. */
  readonly paidTrafficCost?: Int64;
  /** The hash that an external party signed, in base64. Since 3.6. */
  readonly transactionHash?: string;
  /** The status on the wire. A rejection has its content as `code`, `errorCategory`, `reason` and `context`. */
  readonly status?: Status;
}

/**
 * Why a command was rejected.
 *
 * @inline
 */
interface Rejection {
  /** The attempt has committed nothing. */
  readonly outcome: 'rejected';
  /** The ledger's error code, such as `LOCAL_VERDICT_LOCKED_CONTRACTS`. `NA` if the ledger withholds it. */
  readonly code: string;
  /** The ledger's error category, 1 to 14. -1 if the ledger withholds it. */
  readonly errorCategory: Int64;
  /** The ledger's explanation. */
  readonly reason: string;
  /** The details that the ledger gives. */
  readonly context: Readonly<Record<string, string>>;
}

/**
 * The end of an attempt to execute commands, by its `outcome`:
 *
 * - `committed`: a transaction was committed.
 * - `reassigned`: a reassignment was committed. A participant reassigns contracts automatically if a transaction needs
 *   them on one synchronizer: then the completion has the command id of that transaction, which is still open.
 * - `rejected`: the attempt has committed nothing. An earlier attempt of the same change may have.
 *
 * A change can have several completions, because rejected commands may be sent again. A command that is refused before
 * the participant has registered it has none.
 *
 * @category Completions
 */
export type Completion = CompletionFields &
  (
    | {
        /** The update that was committed. */
        readonly outcome: 'committed' | 'reassigned';
        /** The id of the update. */
        readonly updateId: string;
      }
    | Rejection
  );

/** A field that is empty on the wire if it is absent. */
const filled = adapt(optional(text), (u) => (u === '' ? undefined : u));

/** A request's period is closed, and would refuse what a newer ledger adds. An empty one is none. */
const knownPeriod = adapt(
  optional(
    oneOfKeys<DeduplicationPeriod>('DeduplicationPeriod', {
      DeduplicationDuration: message('DeduplicationDuration', {
        value: message<Duration>('Duration', { seconds: Int64, nanos: nullable(Int64), unknownFields: optional(json) }),
      }),
      DeduplicationOffset: message('DeduplicationOffset', { value: Offset }),
      Empty: message('Empty', {}),
    }),
  ),
  (u) => (isRecord(u) && 'Empty' in u ? undefined : u),
);

/** Whether a period is of a kind that this version does not know. It is kept as it is. */
const isOther = (u: unknown): u is DeduplicationPeriod =>
  isRecord(u) &&
  Object.keys(u).length === 1 &&
  !Object.keys(u).some((key) => ['DeduplicationDuration', 'DeduplicationOffset', 'Empty'].includes(key));

const readPeriod = readerOf(knownPeriod);

const period: t.Type<DeduplicationPeriod | undefined, unknown> = new Codec<DeduplicationPeriod | undefined>(
  knownPeriod.name,
  (u): u is DeduplicationPeriod | undefined => isOther(u) || knownPeriod.is(u),
  (u, sink) => (isOther(u) ? u : readPeriod(u, sink)),
  (a) => (isOther(a) ? a : knownPeriod.encode(a)),
);

const fields = message<CompletionFields>('Completion', {
  _tag: tag('Completion'),
  commandId: text,
  userId: text,
  actAs: texts,
  submissionId: filled,
  updateId: filled,
  deduplicationPeriod: period,
  traceContext: optional(TraceContext),
  offset: Offset,
  synchronizerTime: SynchronizerTime,
  paidTrafficCost: optional(Int64),
  transactionHash: filled,
  status: optional(Status),
  // these follow from others
  outcome: ignored,
  code: ignored,
  errorCategory: ignored,
  reason: ignored,
  context: ignored,
});

const readFields = readerOf(fields);

/**
 * Codec of `Completion`.
 *
 * @category Completions
 */
export const Completion: t.Type<Completion, unknown> = new Codec<Completion>(
  'Completion',
  (u): u is Completion => fields.is(u) && 'outcome' in u && (u.outcome === 'rejected' || u.updateId !== undefined),
  (u, sink) => {
    const decoded = readFields(u, sink);
    if (decoded === invalid) return invalid;
    const { status, updateId, deduplicationPeriod } = decoded;
    if (status !== undefined && status.code !== 0) return { ...decoded, ...rejectionOf(status) };
    if (updateId === undefined) return fail(updateId, atKey(sink, 'updateId', text, updateId), 'an update id');
    // a transaction always has a period, and a reassignment never
    return { ...decoded, updateId, outcome: deduplicationPeriod === undefined ? 'reassigned' : 'committed' };
  },
  (a) => fields.encode(a),
);

/** Reads `CODE(category,trace): text`, and the details. */
function rejectionOf({ message, details }: Status): Rejection {
  const [, code, category, explanation] = /^([A-Z][A-Z0-9_]*)\((-?\d+),[^)]*\): (.*)$/s.exec(message) ?? [];
  const [info] = details.flatMap((detail) => {
    const decoded = Detail.decode(detail);
    return decoded._tag === 'Right' ? [decoded.right.valueDecoded] : [];
  });
  return {
    outcome: 'rejected',
    code: code ?? info?.reason ?? 'NA',
    errorCategory: Number(category ?? info?.metadata['category']) || -1,
    reason: explanation ?? message,
    context: info?.metadata ?? {},
  };
}

/** A detail with the code of the error. Others name the trace and the resources. */
const Detail = message<{ readonly valueDecoded: ErrorInfo }>('Detail', {
  valueDecoded: message<ErrorInfo>('ErrorInfo', { reason: text, metadata: lenient(TextValues, {}) }),
});

interface ErrorInfo {
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * An element of a variant that this version does not know, undecoded. Feeds emit it, so a newer ledger does not end
 * them.
 *
 * @category Completions
 */
export interface UnknownCompletion {
  /** The variant. */
  readonly _tag: 'UnknownCompletion';
  /** The wire name of the variant. */
  readonly variant: string;
  /** The position on this participant's ledger. */
  readonly offset: Offset;
  /** The content, undecoded. */
  readonly value: unknown;
}

/**
 * An element of the feed of completions: a union, discriminated by `_tag`. A checkpoint means that all completions up to
 * its offset were sent.
 *
 * @category Completions
 */
export type CompletionResponse = Completion | OffsetCheckpoint | UnknownCompletion;

/** Codec of an element in a response with completions, `{"completionResponse": {...}}`. */
export const CompletionElement: t.Type<CompletionResponse, unknown> = envelope(
  'completionResponse',
  oneOf<Completion | OffsetCheckpoint, UnknownCompletion>(
    'CompletionResponse',
    { Completion: envelope('value', Completion), OffsetCheckpoint: envelope('value', OffsetCheckpoint) },
    unknownWithOffset('UnknownCompletion'),
  ),
);

/**
 * A request for the completions of commands, in wire format.
 *
 * @example
 * ```ts
 * import type { CompletionsRequest } from 'canton-rx';
 *
 * const request: CompletionsRequest = { parties: ['alice::1220ab'], userId: 'app', beginExclusive: 0 };
 * ```
 * @category Requests
 */
export interface CompletionsRequest {
  /** At least one party. A completion is selected if one of them is in the `actAs` of its command. */
  readonly parties: readonly [Party, ...Party[]];
  /**
   * The user that submitted. Default: the user of the token. If the participant serves only
   * `/v2/commands/command-completions`, the default is all users. Then name the user. A participant without
   * authentication requires it.
   */
  readonly userId?: Opt<UserId>;
  /** The offset after which the completions start; 0 is the beginning of the ledger. Not before the pruned offset. */
  readonly beginExclusive: Offset;
}

/**
 * Codec of `CompletionsRequest`.
 *
 * @category Requests
 */
export const CompletionsRequest: t.Type<CompletionsRequest, unknown> = exact<CompletionsRequest>('CompletionsRequest', {
  parties: list(Party, 1, Infinity, 'at least one party') as unknown as t.Type<CompletionsRequest['parties'], unknown>,
  userId: withDefault(UserId, ''),
  beginExclusive: Offset,
});
