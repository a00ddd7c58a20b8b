import type { ContractRow } from './contract-row';

/**
 * Keeps a row where it is on the screen while contracts come and go: the selected one, the one under the pointer, or the
 * first that is visible. At the top of the table, with none of them, the newest contracts move in.
 */
export class RowAnchor {
  #rows: readonly ContractRow[] = [];
  #scrollTop = 0;
  /** The place of the pointer below the head of the table. */
  #hovered: number | undefined;

  constructor(private readonly rowHeight: () => number) {}

  /** Notes how far the table is scrolled. */
  note(scrollTop: number): void {
    this.#scrollTop = scrollTop;
  }

  hover(y: number): void {
    this.#hovered = y;
  }

  leave(): void {
    this.#hovered = undefined;
  }

  /** Begins again at the top. */
  forget(): void {
    this.#rows = [];
    this.#scrollTop = 0;
  }

  /** Where to scroll, so that the anchor stays where it was before these rows; `undefined` if it has not moved. */
  keep(rows: readonly ContractRow[], activeId: string, visibleHeight: number): number | undefined {
    const before = this.#rows;
    this.#rows = rows;
    const index = this.#indexIn(before, activeId, visibleHeight);
    if (index === undefined || before.length === 0) return undefined;
    const placeOf = placesIn(rows, before[index]);
    // where the row is gone, the next one that is still there
    for (let at = index; at < Math.min(before.length, index + 100); at += 1) {
      const place = placeOf(before[at]);
      if (place === undefined) continue;
      const scrollTop = Math.max(0, this.#scrollTop + (place - index) * this.rowHeight());
      if (scrollTop === this.#scrollTop) return undefined;
      this.#scrollTop = scrollTop;
      return scrollTop;
    }
    return undefined;
  }

  #indexIn(rows: readonly ContractRow[], activeId: string, visibleHeight: number): number | undefined {
    const at = (y: number): number => Math.floor((this.#scrollTop + y) / this.rowHeight());
    const active = activeId === '' ? -1 : rows.findIndex(({ contractId }) => contractId === activeId);
    if (active >= at(0) && active <= at(visibleHeight)) return active;
    if (this.#hovered !== undefined) return at(this.#hovered);
    return this.#scrollTop > this.rowHeight() ? at(0) : undefined;
  }
}

/** Returns where rows are now. The first one is usually there, as the same object: then the others are not looked at. */
function placesIn(rows: readonly ContractRow[], first?: ContractRow): (row?: ContractRow) => number | undefined {
  const place = first === undefined ? -1 : rows.indexOf(first);
  if (place >= 0) return () => place;
  const places = new Map(rows.map(({ contractId }, at) => [contractId, at]));
  return (row) => places.get(row?.contractId ?? '');
}
