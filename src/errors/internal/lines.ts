/** The message of an error: a sentence, then the facts, one a line; what is absent is left out. */
export const lines = (fact: string, details: Readonly<Record<string, string | number | undefined>> = {}): string =>
  [fact, ...Object.entries(details).flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${value}`]))].join(
    '\n',
  );
