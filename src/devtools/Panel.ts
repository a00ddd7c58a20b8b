import type { Activity } from './Activity.js';

/** The elements of a panel, in a shadow tree, so that the styles of the page do not change them. */
export class Panel {
  readonly #host: HTMLElement;
  readonly #feeds: Table;
  readonly #submissions: Table;
  readonly #errors: Table;
  /** Forgets what has ended. */
  readonly clear: HTMLButtonElement;

  constructor(parent: Element) {
    const document = parent.ownerDocument;
    const create = <K extends keyof HTMLElementTagNameMap>(tag: K, text = ''): HTMLElementTagNameMap[K] =>
      Object.assign(document.createElement(tag), { textContent: text });
    this.#feeds = table(create, 'Feeds and views', ['Name', 'Kind', 'State', 'Offset', 'Lag', 'Received', 'Last']);
    this.#submissions = table(create, 'Submissions', ['Command', 'State', 'Attempts', 'Offset', 'Last']);
    this.#errors = table(create, 'Errors', ['Time', 'From', 'Error', 'Times']);
    this.clear = create('button', 'Clear');
    this.clear.type = 'button';
    const header = create('header');
    header.append(create('h2', 'Ledger'), this.clear);
    const panel = create('section');
    panel.setAttribute('aria-label', 'Ledger');
    panel.append(header, ...[this.#feeds, this.#submissions, this.#errors].map(({ details }) => details));
    this.#host = create('div');
    const root = this.#host.attachShadow({ mode: 'open' });
    // unlike a style element, allowed by every policy of the page
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    root.append(panel);
    parent.append(this.#host);
  }

  draw({ feeds, submissions, errors }: Activity): void {
    this.#feeds.draw(
      feeds.map(({ name, kind, state, offset, lag, received, at }) => [
        name,
        kind,
        state,
        offset,
        lag,
        received,
        timeOf(at),
      ]),
    );
    this.#submissions.draw(
      submissions.map(({ name, state, attempts, offset, at }) => [name, state, attempts, offset, timeOf(at)]),
    );
    this.#errors.draw(errors.map(({ at, source, text, count }) => [timeOf(at), source, text, count]));
  }

  unsubscribe(): void {
    this.#host.remove();
  }
}

/** A table that can be closed, with the number of its rows. */
interface Table {
  readonly details: HTMLDetailsElement;
  readonly draw: (rows: readonly Row[]) => void;
}

/** The texts of a row; `undefined` for an empty cell. */
type Row = readonly (string | number | undefined)[];

type Create = <K extends keyof HTMLElementTagNameMap>(tag: K, text?: string) => HTMLElementTagNameMap[K];

function table(create: Create, title: string, columns: readonly string[]): Table {
  const rowOf = (cells: Row, tag: 'td' | 'th'): HTMLTableRowElement => {
    const row = create('tr');
    row.append(...cells.map((cell) => create(tag, String(cell ?? ''))));
    return row;
  };
  const details = create('details');
  details.open = true;
  const [summary, scroll, head, body, shown] = [
    create('summary'),
    create('div'),
    create('thead'),
    create('tbody'),
    create('table'),
  ];
  head.append(rowOf(columns, 'th'));
  for (const cell of head.querySelectorAll('th')) cell.scope = 'col';
  shown.append(head, body);
  // what scrolls is reached by the keyboard
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'group');
  scroll.setAttribute('aria-label', title);
  scroll.append(shown);
  details.append(summary, scroll);
  let drawn: string | undefined;
  const draw = (rows: readonly Row[]): void => {
    const content = JSON.stringify(rows);
    // a selection in an unchanged table stays
    if (content === drawn) return;
    drawn = content;
    summary.textContent = `${title} (${rows.length})`;
    scroll.hidden = rows.length === 0;
    body.replaceChildren(...rows.map((row) => rowOf(row, 'td')));
  };
  return { details, draw };
}

const timeOf = (ms: number): string => new Date(ms).toLocaleTimeString();

/** Its colors are those that the browser has for the `color-scheme` of the page. */
const style = `
:host { display: block; }
section { font: 12px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; padding: 8px 12px; border-top: 1px solid GrayText; }
header { display: flex; justify-content: space-between; align-items: center; }
h2 { font-size: 13px; margin: 0; }
button { font: inherit; padding: 2px 10px; }
summary { cursor: pointer; padding: 3px 0; font-weight: 600; }
div { overflow: auto; max-height: 30vh; }
div[hidden] { display: none; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: start; padding: 2px 12px 2px 0; vertical-align: top; }
th { white-space: nowrap; }
td { border-top: 1px solid color-mix(in srgb, GrayText 35%, transparent); unicode-bidi: isolate; overflow-wrap: break-word; }
`;
