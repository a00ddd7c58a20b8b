import type { Observable } from 'rxjs';
import { acsDelta } from '../../codecs/formats.js';
import { JsCantonError } from '../../codecs/JsCantonError.js';
import type { Offset, Party } from '../../codecs/scalars.js';
import type { HttpResponse } from '../../http/HttpPort.js';
import type { Connection } from '../Connection.js';
import type { ProbeRequest, ProbeResponse } from '../probe.js';
import { escapeText } from '../text.js';

/** The result of one check. */
export interface Finding {
  /** Its name for programs. */
  readonly id: string;
  /** Its name for people. */
  readonly label: string;
  /** `ok`; `failed`: needs action; `warned`: works but is not safe; `open`: unknown, or missing and optional. */
  readonly state: 'ok' | 'failed' | 'warned' | 'open';
  /** The result in one line. */
  readonly text: string;
  /** The next step, if there is one. */
  readonly next?: string;
  /** The cause of a failure. */
  readonly trouble?: TroubleKind;
  /** The result for programs. */
  readonly data?: Data;
}

/** No response; the response of another server; a token that is refused or lacks rights; anything else. */
export type TroubleKind = 'unreachable' | 'foreign' | 'token' | 'other';

/** Why a check failed, and the next step. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly text: string;
  readonly next?: string;
}

type Data = Readonly<Record<string, unknown>>;

/** Builds the findings of one check. */
export interface FindingBuilder {
  readonly ok: (text: string, data?: Data) => Finding;
  readonly open: (text: string, data?: Data) => Finding;
  readonly failed: (trouble: Trouble, data?: Data) => Finding;
  readonly warned: (warning: Required<Pick<Finding, 'text' | 'next'>>) => Finding;
}

export function findings(id: string, label: string): FindingBuilder {
  const build = (state: Finding['state'], text: string, data: Data | undefined): Finding => ({
    id,
    label,
    state,
    text,
    ...(data !== undefined && { data }),
  });
  return {
    ok: (text, data) => build('ok', text, data),
    open: (text, data) => build('open', text, data),
    failed: ({ kind, text, next }, data) => ({
      ...build('failed', text, data),
      trouble: kind,
      ...(next !== undefined && { next }),
    }),
    warned: ({ text, next }) => ({ ...build('warned', text, undefined), next }),
  };
}

/** The ledger that checks send requests to. */
export interface Probe {
  readonly connection: Connection;
  /** The parties to read as. */
  readonly parties: readonly Party[] | 'any';
  /** Errors with a `LedgerError` if there is no response. */
  readonly send: (request: ProbeRequest) => Observable<ProbeResponse>;
}

/** A response, or the error of a request without one. */
export type Outcome = { readonly response: ProbeResponse } | { readonly error: unknown };

/** The outcomes of the first requests, which the other checks build on. */
export interface Basics {
  readonly version: Outcome;
  readonly ledgerEnd: Outcome;
  readonly prunedOffsets: Outcome;
  /** The ledger end and the offset up to which the ledger is pruned, if the service reports them. */
  readonly endOffset: Offset | undefined;
  readonly prunedOffset: Offset | undefined;
}

/** The result of a check that requires an accepted token. The check of the token reports the reason. */
export const needsToken = 'unknown without an accepted token';

/** Whether the service refuses the token, or requires one. */
export const isTokenRefused = ({ ledgerEnd }: Basics): boolean =>
  'response' in ledgerEnd && ledgerEnd.response.status === 401;

/** Whether a service lacks an endpoint or has disabled it. */
export const lacksEndpoint = ({ status, text }: HttpResponse): boolean =>
  status === 404 || status === 405 || status === 501 || cantonErrorCode(text) === 'DEPRECATED_API_DISABLED';

/** The code of the error in the body of a response; `undefined` for any other body. */
export function cantonErrorCode(text: string): string | undefined {
  try {
    const decoded = JsCantonError.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right.code : undefined;
  } catch {
    return undefined;
  }
}

/** An id with the start of its fingerprint, which is enough to distinguish ids. */
export function shortenId(id: string): string {
  const [name = '', fingerprint] = id.split('::');
  const start = fingerprint === undefined ? '' : `::${fingerprint.slice(0, 12)}…`;
  return escapeText(`${name.slice(0, 60)}${start}`);
}

/** The body of a request for the updates of a range. */
export const updatesBody = (
  parties: readonly Party[] | 'any',
  range: { readonly beginExclusive: Offset; readonly endInclusive?: Offset },
): object => ({ ...range, updateFormat: acsDelta({ parties }) });
