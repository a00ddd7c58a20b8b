import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { prettyRows } from '../../src/cli/pretty.js';
import { toJsonLine } from '../../src/cli/terminal.js';
import { Update } from '../../src/codecs/Update.js';
import { updateArbitrary } from '../helpers/arbitraries/index.js';

const withoutColours = (_: unknown, text: string): string => text;
const visibleColours = (format: unknown, text: string): string => `<${String(format)}>${text}</>`;

const common = { offset: 12, nodeId: 0, contractId: '00ab', packageName: 'assets', witnessParties: ['dora::1220dd'] };
const parties = { signatories: ['alice::1220aa'], observers: ['bob::1220bb'] };
const created = (entity: string): object => ({
  CreatedEvent: { ...common, ...parties, templateId: `ab12:Main:${entity}`, createdAt: '2026-07-24T10:00:00Z' },
});
const choice = { choice: 'Split', actingParties: ['carol::1220cc'], lastDescendantNodeId: 1 };
const exercised = (consuming: boolean): object => ({
  ExercisedEvent: { ...common, ...choice, templateId: 'ab12:Main:Asset', consuming },
});
const archived = { ArchivedEvent: { ...common, templateId: 'ab12:Main:Offer' } };
const decodedUpdate = (wire: object): Update => {
  const decoded = Update.decode(wire);
  if (decoded._tag === 'Left') throw new Error(JSON.stringify(decoded.left[0]?.context.map(({ key }) => key)));
  return decoded.right;
};
const transaction = (events: readonly object[], recordTime = '2026-07-24T10:00:00.123456Z'): Update => {
  const ids = { updateId: '1220ab', offset: 12, synchronizerId: 'global::1220ff' };
  return decodedUpdate({ Transaction: { value: { ...ids, effectiveAt: recordTime, recordTime, events } } });
};
const rowOf = (update: Update, columns = 120): string =>
  prettyRows(
    () => columns,
    withoutColours,
  )(update)
    .split('\n')
    .at(-2) ?? '';

describe('the row of an update', () => {
  it('has the offset, the time, the synchronizer, the events and the parties', () => {
    const update = transaction([created('Asset'), created('Asset'), archived, exercised(false), exercised(true)]);

    expect(rowOf(update)).toBe(
      '      12  10:00:00.123  global        tx          +Asset ×2  -Offer  *Asset.Split  -Asset.Split  alice, bob, dora, carol',
    );
  });

  it('follows a heading with its day, once for each day', () => {
    const rows = prettyRows(() => 60, withoutColours);
    const next = transaction([], '2026-07-25T00:00:00Z');

    expect(rows(transaction([])).split('\n')).toHaveLength(3);
    expect(rows(transaction([])).split('\n')).toHaveLength(2);
    expect(rows(next).split('\n')[0]).toBe('── 2026-07-25 ──');
  });

  it('is cut to the width of the terminal', () => {
    expect(rowOf(transaction([created('Asset')]), 80)).toBe(
      '      12  10:00:00.123  global        tx          +Asset  alice, bob',
    );
    expect(rowOf(transaction([created('Asset'), archived, exercised(true)]), 80)).toBe(
      '      12  10:00:00.123  global        tx          +Asset  -Offer  -Asset.Split …',
    );
  });

  it('has no time on a narrow terminal, and on a very narrow one no synchronizer, so that the events have room', () => {
    expect(rowOf(transaction([created('Asset')]), 79)).toBe('      12  global        tx          +Asset  alice, bob');
    expect(rowOf(transaction([created('Asset')]), 49)).toBe('      12  tx          +Asset  alice, bob');
    expect(rowOf(transaction([created('Asset')]), 30)).toBe('      12  tx          +Asset …');
  });

  it('has a colour for each kind of event', () => {
    expect(prettyRows(() => 120, visibleColours)(transaction([created('Asset'), archived]))).toContain(
      '<green>+Asset</>  <red>-Offer</>',
    );
  });

  it('of a checkpoint has the latest time of its synchronizers', () => {
    const synchronizerTimes = ['08', '11', '09'].map((hour) => ({
      synchronizerId: `s${hour}::1220ff`,
      recordTime: `2026-07-24T${hour}:00:00Z`,
    }));

    expect(rowOf(decodedUpdate({ OffsetCheckpoint: { value: { offset: 7, synchronizerTimes } } }))).toContain(
      '11:00:00',
    );
  });

  it('has gaps for a missing synchronizer or time', () => {
    expect(rowOf(decodedUpdate({ OffsetCheckpoint: { value: { offset: 7 } } }))).toBe(
      '       7                              checkpoint',
    );
    expect(rowOf(decodedUpdate({ Novelty: { value: { offset: 8 } } }))).toBe(
      '       8                              ?Novelty',
    );
  });

  const hostile = [
    '\u001b]0;title\u0007',
    '\u009b2J',
    '\r\n',
    '\u202e',
    '\u200f',
    '漢字かな',
    '😀👩‍👩‍👧',
    'e\u0301\u0301',
    '\u0000',
    '\ud800',
    '::',
    ':',
  ];
  /** An update with hostile characters in each of its strings. */
  const hostileUpdate = fc
    .tuple(updateArbitrary, fc.array(fc.constantFrom(...hostile), { minLength: 1, maxLength: 6 }))
    .map(([update, parts]) => withText(update, parts.join('')) as Update);
  const withText = (value: unknown, text: string): unknown => {
    if (typeof value === 'string') return `${value.slice(0, 3)}${text}${value.slice(3)}`;
    if (Array.isArray(value)) return value.map((element) => withText(element, text));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, content]) => [
        key,
        key === '_tag' ? (content as unknown) : withText(content, text),
      ]),
    );
  };

  it('never has control characters and is never wider than the terminal, whatever the ledger sends', () => {
    fc.assert(
      fc.property(hostileUpdate, fc.integer({ min: 1, max: 200 }), (update, columns) => {
        const text = prettyRows(() => columns, withoutColours)(update);

        expect(text).not.toMatch(/[^\P{C}\n]/u);
        for (const line of text.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
        expect(text.split('\n').length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 500 },
    );
  });

  it('as JSON on a terminal has the same value, without control characters', () => {
    fc.assert(
      fc.property(hostileUpdate, (update) => {
        const line = toJsonLine(update);

        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(update)));
        expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 200 },
    );
  });

  /** Counts as terminals do: East Asian writing and emoji take two columns. */
  const columnsOf = (text: string): number =>
    Array.from(text).reduce(
      (sum, one) => sum + (/\p{Script=Han}|\p{Script=Hiragana}|\p{Emoji_Presentation}/u.test(one) ? 2 : 1),
      0,
    );
});
