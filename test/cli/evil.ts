/** Sequences that control a terminal, changes of direction, invisible characters, separators, and a false line. */
export const evil =
  '\u001b[2J\u001b]0;title\u0007\u009b31m\u0085\u007f\u0008\r\u202e\u2066\u200e\u061c\u200b\u2060\ufeff\u00ad\u2028\u2029\u{e0041}\u3164\ud800\ncanton-rx: ok';

/** Characters that no output has; a terminal gets colours and the status line only where a test allows them. */
export const unprintable = /[^\P{C}\n]|[\p{Zl}\p{Zp}\u3164]/u;

/** The fields that are not text for people. */
const technical = /At$|Time$|PageToken$|Blob$|^(?:offset|nodeId|kind|value|transaction|hash\w*)$/;

/** The same, and the command id: an answer with another one is no answer to a submission. */
export const technicalOfSubmissions = new RegExp(`${technical.source}|^commandId$`);

/** Appends a text to all texts of an answer, and adds it as a field to each payload. */
export function poison(answer: unknown, text: string, isLeft = technical, key = ''): unknown {
  if (typeof answer === 'string') return isLeft.test(key) ? answer : `${answer}${text}`;
  if (Array.isArray(answer)) return answer.map((element) => poison(element, text, isLeft, key));
  if (typeof answer !== 'object' || answer === null) return answer;
  const fields = Object.entries(answer).map(([name, value]) => [name, poison(value, text, isLeft, name)] as const);
  return Object.fromEntries([...fields, ...(key === 'createArgument' ? [[text, text] as const] : [])]);
}
