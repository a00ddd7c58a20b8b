import type { Problem } from '../../codecs/Problem.js';
import { cut, escapeText, joinLines } from '../escapeText.js';

/** Whether a value is an error with this `_tag`. Not by class, because two copies of the package have different classes. */
export const hasTag = (u: unknown, tag: string): boolean =>
  typeof u === 'object' && u !== null && '_tag' in u && u._tag === tag;

/** The details in a message. Absent ones are omitted. */
type Details = Readonly<Record<string, string | number | undefined>>;

/** The common base of all errors of this library. The message is a sentence, then lines that explain it, then the details. */
export abstract class TaggedError<T extends string> extends Error {
  /** The class's name. */
  override readonly name: T;
  /** Identifies the error in the union. */
  readonly _tag: T;
  /**
   * One sentence for the person at a screen: what it means for them, without ids, addresses and details. Always in English; see
   * `summarize`. The `message` is for a log.
   */
  abstract get summary(): string;

  /** @internal */
  constructor(tag: T, fact: string, details?: Details, options?: MessageOptions) {
    super(errorMessage(fact, details, options?.lines), options);
    this.name = tag;
    this._tag = tag;
  }
}

/** Where the guide for operators is: in the package, as the registry has it. Its sections are named after the errors. */
const runbookUrl = 'https://unpkg.com/canton-rx/docs/runbook.md';

/** The address of a section of the guide for operators. The name of a section does not change. */
export const runbook = (section: string): string => `${runbookUrl}#${section}`;

/** Further lines of a message, before the details, and the cause of the error. */
interface MessageOptions extends ErrorOptions {
  readonly lines?: readonly string[];
}

/** The message of an error: a sentence, then what explains it, then the details, one per line. Whatever they quote adds no line. */
const errorMessage = (fact: string, details: Details = {}, lines: readonly string[] = []): string =>
  [
    fact,
    ...lines,
    ...Object.entries(details).flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${value}`])),
  ]
    .map((line) => escapeText(cut(line, 2 * maxLength)))
    .join('\n');

/** Problems whose texts cannot control what shows them: keys are from outside. */
export const printableProblems = (problems: readonly Problem[]): readonly Problem[] =>
  problems.map(({ path, expected }) => ({ path: escapeText(path), expected: escapeText(expected) }));

/** The subject of an error: the host and the port, if they are known. */
export const nameOf = (host = 'The ledger'): string => host;

/** The maximum length of a quoted text. A longer one would not explain more. */
const maxLength = 10_000;

/** A text from outside the library, as an error quotes it: on one line, of bounded length, without control characters and secrets. */
export const quotable = (foreign: string, secrets: readonly string[]): string =>
  cut(
    joinLines(
      secrets.reduce((rest, secret) => rest.replaceAll(secretPattern(secret), '…'), cut(foreign, 100 * maxLength)),
    ),
    maxLength,
  );

/** A long secret is recognised by this many characters, because it may be echoed truncated. */
const prefixLength = 16;

/** Matches a short secret literally; a long one by its prefix and the characters up to the next blank or quote. */
const secretPattern = (secret: string): RegExp =>
  new RegExp(
    secret.slice(0, prefixLength).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') +
      (secret.length > prefixLength ? `[^\\s"'<>]*` : ''),
    'g',
  );

/**
 * The retries before a feed or an operation gave up.
 *
 * @inline
 */
export interface Retried {
  /** The number of retries. */
  readonly times: number;
  /** The total duration of the attempts and the delays, in milliseconds. */
  readonly forMs: number;
}
