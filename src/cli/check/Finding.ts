import { type Paint, showText, wrap } from '../terminal.js';

/** The result of one check. */
export interface Finding {
  /** Its name for programs. */
  readonly id: string;
  /** Its name for people. */
  readonly label: string;
  /** `ok`; `failed`: needs action; `warned`: works but is not safe, or will stop working; `open`: unknown, or missing and optional. */
  readonly state: 'ok' | 'failed' | 'warned' | 'open';
  /** The result in one line. */
  readonly text: string;
  /** The next step, if there is one. */
  readonly next?: string;
  /** The cause of a failure. */
  readonly trouble?: TroubleKind;
  /** The result for programs. */
  readonly data?: Data;
}

/** No response; the response of another server; a token that is refused or lacks rights; anything else. */
type TroubleKind = 'unreachable' | 'foreign' | 'token' | 'other';

/** Why a check failed, and the next step. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly text: string;
  readonly next?: string;
}

type Data = Readonly<Record<string, unknown>>;

/** Builds the findings of one check. */
export interface FindingBuilder {
  readonly ok: (text: string, data?: Data) => Finding;
  readonly open: (text: string, data?: Data) => Finding;
  readonly failed: (trouble: Trouble, data?: Data) => Finding;
  readonly warned: (warning: Required<Pick<Finding, 'text' | 'next'>>, data?: Data) => Finding;
}

/** The result of a check that requires an accepted token. The check of the token reports the reason. */
export const needsToken = 'unknown without an accepted token';

/** The names for people that are not those for programs. */
const labels: Readonly<Partial<Record<string, string>>> = {
  ledgerEnd: 'ledger end',
  pageLimit: 'page limit',
  roundTrip: 'round trip',
  webSocket: 'WebSocket',
};

export function findings(id: string, label = labels[id] ?? id): FindingBuilder {
  const build = (state: Finding['state'], text: string, data: Data | undefined): Finding => ({
    id,
    label,
    state,
    text,
    ...(data !== undefined && { data }),
  });
  return {
    ok: (text, data) => build('ok', text, data),
    open: (text, data) => build('open', text, data),
    failed: ({ kind, text, next }, data) => ({
      ...build('failed', text, data),
      trouble: kind,
      ...(next !== undefined && { next }),
    }),
    warned: ({ text, next }, data) => ({ ...build('warned', text, data), next }),
  };
}

/** The exit codes in order of precedence: a failure hides those after it. */
const exitCodes: readonly (readonly [TroubleKind, number])[] = [
  ['unreachable', 3],
  ['foreign', 4],
  ['token', 5],
  ['other', 1],
];

/** The exit code of a command whose checks have these findings; 0 if none failed. */
export const exitCodeOf = (findings: readonly Finding[]): number =>
  exitCodes.find(([kind]) => findings.some(({ trouble }) => trouble === kind))?.[1] ?? 0;

const marks = {
  ok: ['✓', 'green'],
  failed: ['✗', 'red'],
  warned: ['!', 'yellow'],
  open: ['–', 'dim'],
} as const;

/** Formats findings as text of at most `columns` columns, each followed by its next step. */
export function formatFindings(findings: readonly Finding[], columns: number, paint: Paint): readonly string[] {
  const width = Math.max(...findings.map(({ label }) => label.length));
  const indent = width + 4;
  const room = Math.max(20, columns - indent);
  return findings.flatMap(({ state, label, text, next }) => {
    const [mark, colour] = marks[state];
    const result = wrap(showText(text), room).map((line) => (state === 'open' ? paint('dim', line) : line));
    const advice = next === undefined ? [] : wrap(`→ ${showText(next)}`, room).map((line) => paint('yellow', line));
    const [first = '', ...more] = [...result, ...advice];
    return [
      `${paint(colour, mark)} ${label.padEnd(width)}  ${first}`,
      ...more.map((line) => `${' '.repeat(indent)}${line}`),
    ];
  });
}
