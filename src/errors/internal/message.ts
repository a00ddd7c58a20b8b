/** Whether a value is an error with this `_tag`. By tag, not by class: two copies of a package have two classes. */
export const hasTag = (u: unknown, tag: string): boolean =>
  typeof u === 'object' && u !== null && '_tag' in u && u._tag === tag;

/** The message of an error: a sentence, then the facts, one a line; what is absent is left out. */
export const lines = (fact: string, details: Readonly<Record<string, string | number | undefined>> = {}): string =>
  [fact, ...Object.entries(details).flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${value}`]))].join(
    '\n',
  );

/** What is longer is no explanation. */
const longest = 10_000;

/** Somebody else's words as an error may quote them: on one line, of bounded length, without what must not come out. */
export const quotable = (words: string, secrets: readonly string[]): string =>
  secrets
    .reduce((rest, secret) => rest.replaceAll(pattern(secret), '…'), words.slice(0, 100 * longest))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, longest);

/** By so much of it a secret is known, also where it comes back cut. */
const prefix = 16;

/** A short secret as it is; of a long one its begin, and what follows up to the next blank or quote. */
const pattern = (secret: string): RegExp =>
  new RegExp(
    secret.slice(0, prefix).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') + (secret.length > prefix ? `[^\\s"'<>]*` : ''),
    'g',
  );
