/**
 * Returns a function that replaces a text of a schema or a codec if it may quote the value that was decoded. The text is the
 * author's: a message such as `not a memo: …` has the value in any form and at any place.
 *
 * A text may quote a value if the two have a word in common. Words of the schema languages themselves do not count. `own` is
 * the part of the value to which the text belongs: a shorter word of it counts.
 */
export function quoteFilter(value: unknown): (text: string, own?: unknown) => string {
  let whole: Words | undefined;
  return (text, own = value) => {
    const sentence = withoutQuote(text.slice(0, maxText)).replace(/\s+/g, ' ').trim();
    const words = wordsOf(sentence).filter((word) => !common.has(word));
    if (sentence !== '' && words.length === 0 && !/[^\w\s"'`|,.;:()[\]{}<>=/&-]/.test(sentence)) return sentence;
    whole ??= wordsIn(value);
    const inner = own === value ? whole : wordsIn(own);
    const isFree = sentence !== '' && !inner.isIn(sentence, words, 2) && !whole.isIn(sentence, words, 4);
    return isFree ? sentence : 'a value that the schema accepts';
  };
}

/** The maximum length of a text that is examined. */
const maxText = 500;

/** The maximum length of the texts of a value that are compared. A text about a larger value is replaced. */
const maxValue = 16_384;

/** Removes what is quoted at the end, as in `Invalid email: Received "…"` or `mail must be an email (was "…")`. */
const withoutQuote = (text: string): string =>
  text
    .replace(/[,;:]?\s*(\sbut\s+|[\s(])(received|was|got)[\s:].*/is, '')
    .replace(/^.*?\b(expected|must be) /i, '')
    .replace(/^invalid /i, 'a valid ');

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** Words of the messages of Zod, Valibot, ArkType and Daml's code generator. They say nothing about a value. */
const common: ReadonlySet<string> = new Set(
  `a an and array at be bigint boolean but character characters digits element elements email equal exactly expected
  false field greater have input instance integer invalid is key keys least length less match matching member more most
  multiple must non not null number object of one option optional or party pattern positive record required string than
  the to true tuple type undefined union unknown valid value values was with`.split(/\s+/),
);

/** The texts of a value. */
interface Words {
  /** Whether a text has one of them, as a whole or, from `minLength` on, in part. */
  readonly isIn: (text: string, words: readonly string[], minLength: number) => boolean;
}

function wordsIn(value: unknown): Words {
  const texts: string[] = [];
  let length = 0;
  const stack = [value];
  while (stack.length > 0 && length <= maxValue) {
    const next = stack.pop();
    if (typeof next === 'object' && next !== null) {
      const isList = Array.isArray(next);
      for (const [key, content] of Object.entries(next)) {
        // the name of a field is not a value
        if (!isList && !/^\w*$/.test(key)) stack.push(key);
        if (++length > maxValue) break;
        stack.push(content);
      }
    } else if (typeof next === 'string' || typeof next === 'number') {
      const text = String(next).toLowerCase();
      length += text.length;
      texts.push(text.slice(0, maxValue));
    }
  }
  const joined = texts.join('\n');
  const words = new Set(wordsOf(joined));
  const signs = texts.filter((text) => text.trim() !== '' && wordsOf(text).length === 0);
  return {
    isIn: (text, ofText, minLength) =>
      length > maxValue ||
      signs.some((sign) => text.includes(sign.trim())) ||
      ofText.some((word) => (word.length >= minLength ? joined.includes(word) : minLength === 2 && words.has(word))),
  };
}
