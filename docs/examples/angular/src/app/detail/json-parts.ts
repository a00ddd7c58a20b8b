export interface JsonPart {
  readonly kind: 'plain' | 'name' | 'text' | 'number';
  readonly text: string;
}

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;

/** The JSON of a value, split into parts of one colour each. */
export function jsonParts(value: unknown): readonly JsonPart[] {
  const text = JSON.stringify(value, null, 2) ?? '';
  const parts: JsonPart[] = [];
  let at = 0;
  for (const match of text.matchAll(token)) {
    const [whole, quoted, colon] = match;
    if (match.index > at) parts.push({ kind: 'plain', text: text.slice(at, match.index) });
    parts.push({ kind: kindOf(quoted, colon), text: whole });
    at = match.index + whole.length;
  }
  return [...parts, { kind: 'plain', text: text.slice(at) }];
}

function kindOf(quoted: string | undefined, colon: string | undefined): JsonPart['kind'] {
  if (quoted === undefined) return 'number';
  return colon === undefined ? 'text' : 'name';
}
