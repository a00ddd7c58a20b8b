import type { ContractRow } from './contract-row';
import { commonKind, type FieldKind, kindOf } from './field-kind';
import { fractionOf, showValue } from './show-value';

/** A field of a template, with all that was seen in it. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** The most digits after the point. */
  readonly fraction: number;
  /** The length of its longest value as it is shown. */
  readonly length: number;
}

/** The fields of each template, learned from its contracts. They only become wider. */
export class TemplateFields {
  readonly #templates = new Map<string, Map<string, Seen>>();
  readonly #lists = new Map<string, readonly Field[]>();
  /** How often each field of each template was there. */
  readonly #counts = new Map<string, number>();

  add({ template, fields }: ContractRow): void {
    const seen = this.#templates.get(template) ?? new Map<string, Seen>();
    this.#templates.set(template, seen);
    for (const name in fields) {
      const key = `${template} ${name}`;
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      const before = seen.get(name);
      const after = withValue(before, fields[name]);
      if (after === before) continue;
      seen.set(name, after);
      this.#lists.delete(template);
    }
  }

  /** The fields in the order of their declaration, rare ones last; the same array as long as nothing has changed. */
  of(template: string): readonly Field[] {
    const known = this.#lists.get(template);
    if (known !== undefined) return known;
    const all = [...(this.#templates.get(template) ?? [])].map(
      ([name, { kind = 'text', fraction, length }]): Field => ({ name, kind, fraction, length }),
    );
    const countOf = ({ name }: Field): number => this.#counts.get(`${template} ${name}`) ?? 0;
    const most = Math.max(...all.map(countOf));
    const isRare = (field: Field): number => Number(countOf(field) < most / 10);
    const fields = all.sort((a, b) => isRare(a) - isRare(b));
    this.#lists.set(template, fields);
    return fields;
  }
}

interface Seen {
  readonly kind: FieldKind | undefined;
  readonly fraction: number;
  readonly length: number;
}

/** Longer values do not make a column wider. */
const maxLength = 44;

const unseen: Seen = { kind: undefined, fraction: 0, length: 1 };

function withValue(before: Seen | undefined, value: unknown): Seen {
  const seen = before ?? unseen;
  const own = kindOf(value);
  const kind = commonKind(seen.kind, own);
  const fraction = Math.max(seen.fraction, own === 'number' ? fractionOf(value) : 0);
  const isFull = seen.length >= maxLength;
  const shown = isFull ? maxLength : Math.min(maxLength, showValue(value, kind ?? 'text', fraction).length);
  const length = Math.max(seen.length, shown);
  const isSame = kind === seen.kind && fraction === seen.fraction && length === seen.length;
  return before !== undefined && isSame ? before : { kind, fraction, length };
}
