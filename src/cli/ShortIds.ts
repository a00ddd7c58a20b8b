import { cut, escapeText } from '../errors/escapeText.js';
import { truncate } from './terminal.js';

/** How many ids are distinguished. Further ones have letters of the fingerprint in any case. */
const maxIds = 10_000;

/** How many letters of a fingerprint distinguish ids of the same name. */
const letters = 4;

/** All fingerprints begin with the code of their hash and its length. */
const hashCode = /^1220/;

/** How much of a name is looked at, in UTF-16 units. */
const maxNameLength = 255;

/**
 * The short forms of parties, participants or synchronizers in rows: the part before `::`. An id that would look like an
 * earlier one, because the name is the same or is too long for the column, gets letters of its fingerprint. An id keeps its
 * form.
 */
export class ShortIds {
  readonly #forms = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** @param width - the width of the column */
  constructor(private readonly width = Infinity) {}

  /** The short form of an id, safe for a terminal. */
  of(id: string): string {
    const known = this.#forms.get(id);
    if (known !== undefined) return known;
    const [name = '', fingerprint = ''] = id.split('::', 2);
    const text = escapeText(cut(name, maxNameLength));
    const hash = fingerprint.replace(hashCode, '');
    if (this.#forms.size >= maxIds) return this.#withEnd(text, hash.slice(0, letters));
    const form =
      [
        truncate(text, this.width),
        this.#withEnd(text, hash.slice(0, letters)),
        this.#withEnd(text, hash.slice(-letters)),
      ].find((one) => !this.#taken.has(one)) ?? this.#withEnd(text, `#${this.#forms.size}`);
    this.#forms.set(id, form);
    this.#taken.add(form);
    return form;
  }

  /** `name…1a2b`, cut to the width before the mark. */
  #withEnd(text: string, end: string): string {
    const shown = escapeText(end);
    const start = truncate(`${text} `, this.width - shown.length).replace(/[ …]$/, '');
    return `${start}…${shown}`;
  }
}
