/** What is longer is no explanation. */
const longest = 10_000;

/** Somebody else's words as an error may quote them: on one line, of bounded length, without what must not come out. */
export const quotable = (words: string, secrets: readonly string[]): string =>
  secrets
    .reduce((rest, secret) => rest.replaceAll(secret, '…'), words.slice(0, 100 * longest))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, longest);
