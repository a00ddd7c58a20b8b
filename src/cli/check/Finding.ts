import type { Observable } from 'rxjs';
import { acsDelta } from '../../codecs/formats.js';
import { JsCantonError } from '../../codecs/JsCantonError.js';
import type { Offset, Party } from '../../codecs/scalars.js';
import type { Connection } from '../arguments.js';
import type { Answer, Question } from '../probe/ask.js';
import { plain } from '../terminal.js';

/** What one check found. */
export interface Finding {
  /** Its name for programs. */
  readonly id: string;
  /** Its name for people. */
  readonly label: string;
  /** `ok`; `failed`, something is to be done; `warned`, it works and is not safe; `open`, not found out, or not there and not needed. */
  readonly state: 'ok' | 'failed' | 'warned' | 'open';
  /** What it found, in one line. */
  readonly text: string;
  /** What to do next, where something is to be done. */
  readonly next?: string;
  /** Of a failure, whose it is. */
  readonly trouble?: TroubleKind;
  /** The same for programs. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Nobody answers; somebody else answers; the token is not taken; the participant cannot; anything else. */
export type TroubleKind = 'unreachable' | 'foreign' | 'token' | 'other';

/** What checks ask with. */
export interface Probe {
  readonly connection: Connection;
  /** As whom updates are read. */
  readonly parties: readonly Party[] | 'any';
  /** Errors with an `AskError` where there is no answer. */
  readonly ask: (question: Question) => Observable<Answer>;
}

/** An answer, or the error of having none. */
export type Outcome = { readonly answer: Answer } | { readonly error: unknown };

/** What was asked first, all at a time; the other checks build on it. */
export interface First {
  readonly version: Outcome;
  readonly end: Outcome;
  readonly pruned: Outcome;
  /** Where the ledger ends, and up to where it is pruned, if that was told. */
  readonly endOffset: Offset | undefined;
  readonly prunedOffset: Offset | undefined;
}

/** Why something cannot be found out or is not as it should be, and what to do about it. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly text: string;
  readonly next?: string;
}

/** Which ledger to look at, and how to tell. */
export interface CheckOptions extends Connection {
  /** As whom to read. */
  readonly parties: readonly Party[] | 'any';
  /** Whether a program reads it. */
  readonly isJson: boolean;
}

type Data = Readonly<Record<string, unknown>>;

/** What makes the findings of one check. */
interface Finder {
  readonly ok: (text: string, data?: Data) => Finding;
  readonly open: (text: string, data?: Data) => Finding;
  readonly failed: (trouble: Trouble, data?: Data) => Finding;
  readonly warned: (warning: Required<Pick<Finding, 'text' | 'next'>>) => Finding;
}

export function finder(id: string, label: string): Finder {
  const made = (state: Finding['state'], text: string, data: Data | undefined): Finding => ({
    id,
    label,
    state,
    text,
    ...(data !== undefined && { data }),
  });
  return {
    ok: (text, data) => made('ok', text, data),
    open: (text, data) => made('open', text, data),
    failed: ({ kind, text, next }, data) => ({
      ...made('failed', text, data),
      trouble: kind,
      ...(next !== undefined && { next }),
    }),
    warned: ({ text, next }) => ({ ...made('warned', text, undefined), next }),
  };
}

/** Of an error of the ledger, its name. */
export function codeIn(text: string): string | undefined {
  try {
    const decoded = JsCantonError.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right.code : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a service does not have an endpoint, or has switched it off. */
export const isUntold = ({ status, text }: Answer): boolean =>
  status === 404 || status === 405 || status === 501 || codeIn(text) === 'DEPRECATED_API_DISABLED';

/** An id with the begin of its fingerprint: enough to tell it from others. */
export function shortened(id: string): string {
  const [name = '', fingerprint] = id.split('::');
  const begin = fingerprint === undefined ? '' : `::${fingerprint.slice(0, 12)}…`;
  return plain(`${name.slice(0, 60)}${begin}`);
}

/** The body that asks for the updates of a range. */
export const updatesBody = (
  parties: readonly Party[] | 'any',
  range: { readonly beginExclusive: Offset; readonly endInclusive?: Offset },
): object => ({ ...range, updateFormat: acsDelta({ parties }) });
