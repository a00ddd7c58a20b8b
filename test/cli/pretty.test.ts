import { describe, it, expect } from '@jest/globals';
import fc from 'fast-check';
import { Update } from '../../src/codecs/Update.js';
import { prettyRows } from '../../src/cli/pretty.js';
import { escapedLine, fitted, lineOf, paintFor, plain, widthOf, wrapped } from '../../src/cli/terminal.js';
import { replayText, sizeText } from '../../src/cli/replay/progress.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { updateArbitrary } from '../helpers/arbitraries/index.js';
import { captured, play } from './support.js';

const plainly = (_: unknown, text: string): string => text;
const visibly = (format: unknown, text: string): string => `<${String(format)}>${text}</>`;

const created = (entity: string, more: object = {}): object => ({
  CreatedEvent: {
    offset: 12,
    nodeId: 0,
    contractId: '00ab',
    templateId: `ab12:Main:${entity}`,
    packageName: 'assets',
    createdAt: '2026-07-24T10:00:00Z',
    signatories: ['alice::1220aa'],
    observers: ['bob::1220bb'],
    witnessParties: ['alice::1220aa'],
    ...more,
  },
});
const exercised = (consuming: boolean): object => ({
  ExercisedEvent: {
    offset: 12,
    nodeId: 1,
    contractId: '00ab',
    templateId: 'ab12:Main:Asset',
    packageName: 'assets',
    choice: 'Split',
    actingParties: ['carol::1220cc'],
    consuming,
    witnessParties: [],
    lastDescendantNodeId: 1,
  },
});
const archived = {
  ArchivedEvent: {
    offset: 12,
    nodeId: 2,
    contractId: '00ab',
    templateId: 'ab12:Main:Offer',
    packageName: 'assets',
    witnessParties: ['dora::1220dd'],
  },
};
const transaction = (events: readonly object[], more: object = {}): Update => {
  const value = {
    updateId: '1220ab',
    effectiveAt: '2026-07-24T10:00:00Z',
    recordTime: '2026-07-24T10:00:00.123456Z',
    offset: 12,
    synchronizerId: 'global::1220ff',
    events,
    ...more,
  };
  return decodedUpdate({ Transaction: { value } });
};
const decodedUpdate = (wire: object): Update => {
  const decoded = Update.decode(wire);
  if (decoded._tag === 'Left')
    throw new Error(JSON.stringify(decoded.left.map(({ context }) => context.map(({ key }) => key))));
  return decoded.right;
};
const rowOf = (update: Update, columns = 120): string =>
  prettyRows(
    () => columns,
    plainly,
  )(update)
    .split('\n')
    .at(-2) ?? '';

describe('an update in a row', () => {
  it('is told with its place, its time, its synchronizer, what happened and to whom', () => {
    const update = transaction([created('Asset'), created('Asset'), archived, exercised(false), exercised(true)]);

    expect(rowOf(update)).toBe(
      '      12  10:00:00.123  global        tx          +Asset ×2  -Offer  *Asset.Split  -Asset.Split  alice, bob, dora, carol',
    );
  });

  it('has its day above it, once', () => {
    const rows = prettyRows(() => 60, plainly);
    const next = transaction([], { recordTime: '2026-07-25T00:00:00Z' });

    expect(rows(transaction([])).split('\n')).toHaveLength(3);
    expect(rows(transaction([])).split('\n')).toHaveLength(2);
    expect(rows(next).split('\n')[0]).toBe('── 2026-07-25 ──');
  });

  it('is cut to the width of the terminal', () => {
    expect(rowOf(transaction([created('Asset')]), 40)).toBe('      12  10:00:00.123  global        t…');
    expect(rowOf(transaction([created('Asset')]), 58)).toBe(
      '      12  10:00:00.123  global        tx          +Asset …',
    );
  });

  it('has colours for what happened', () => {
    expect(prettyRows(() => 120, visibly)(transaction([created('Asset'), archived]))).toContain(
      '<green>+Asset</>  <red>-Offer</>',
    );
  });

  it('of a checkpoint has the time of the synchronizer that is farthest', () => {
    const synchronizerTimes = ['08', '11', '09'].map((hour) => ({
      synchronizerId: `s${hour}::1220ff`,
      recordTime: `2026-07-24T${hour}:00:00Z`,
    }));

    expect(rowOf(decodedUpdate({ OffsetCheckpoint: { value: { offset: 7, synchronizerTimes } } }))).toContain(
      '11:00:00',
    );
  });

  it('may be of a synchronizer or a time that it does not tell', () => {
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
  /** An update with hostile text in its texts. */
  const hostileUpdate = fc
    .tuple(updateArbitrary, fc.array(fc.constantFrom(...hostile), { minLength: 1, maxLength: 6 }))
    .map(([update, parts]) => spoilt(update, parts.join('')) as Update);
  const spoilt = (value: unknown, text: string): unknown => {
    if (typeof value === 'string') return `${value.slice(0, 3)}${text}${value.slice(3)}`;
    if (Array.isArray(value)) return value.map((element) => spoilt(element, text));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, content]) => [
        key,
        key === '_tag' ? (content as unknown) : spoilt(content, text),
      ]),
    );
  };

  it('never steers the terminal, and is never wider than it, whatever the ledger says', () => {
    fc.assert(
      fc.property(hostileUpdate, fc.integer({ min: 1, max: 200 }), (update, columns) => {
        const text = prettyRows(() => columns, plainly)(update);

        expect(text).not.toMatch(/[^\P{C}\n]/u);
        for (const line of text.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
        expect(text.split('\n').length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 500 },
    );
  });

  it('as JSON on a terminal is the same JSON, and does not steer it either', () => {
    fc.assert(
      fc.property(hostileUpdate, (update) => {
        const line = escapedLine(lineOf(update));

        expect(JSON.stringify(JSON.parse(line))).toBe(JSON.stringify(JSON.parse(lineOf(update))));
        expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 200 },
    );
  });

  /** As terminals count: East Asian writing and emoji take two columns. */
  const columnsOf = (text: string): number =>
    Array.from(text).reduce(
      (sum, one) => sum + (/\p{Script=Han}|\p{Script=Hiragana}|\p{Emoji_Presentation}/u.test(one) ? 2 : 1),
      0,
    );
});

describe('colours', () => {
  const painted = (isTTY: boolean, env: Record<string, string>): boolean =>
    paintFor(captured({ isTTY }).output, env)('red', 'x') !== 'x';

  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: 'false' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('on a terminal %j with %j: %j', (isTTY, env, expected) => {
    expect(painted(isTTY, env)).toBe(expected);
  });
});

describe('tail', () => {
  const tailed = async (
    isTTY: boolean,
    env: Record<string, string>,
    ...options: readonly string[]
  ): Promise<string> => {
    const sandbox = await startSandbox();
    sandbox.generate(30);
    const { code, out } = play(['tail', '--ledger', sandbox.url, '--to', '30', ...options], {
      out: captured({ isTTY }),
      env,
    });
    expect(await code).toBe(0);
    await sandbox.close();
    return out.text();
  };
  const isJson = (text: string): boolean =>
    text
      .trimEnd()
      .split('\n')
      .every((line) => line.startsWith('{"_tag":'));

  it.each([
    ['a terminal', true, [], false],
    ['a terminal and --json', true, ['--json'], true],
    ['a pipe', false, [], true],
    ['a pipe and --pretty', false, ['--pretty'], false],
  ])('on %s', async (_, isTTY, options, expected) => {
    expect(isJson(await tailed(isTTY, {}, ...options))).toBe(expected);
  });

  it('has colours on a terminal, and none with NO_COLOR or into a pipe', async () => {
    expect(await tailed(true, {})).toContain('\u001b[32m+');
    expect(await tailed(true, { NO_COLOR: '1' })).not.toContain('\u001b');
    expect(await tailed(false, {}, '--pretty')).not.toContain('\u001b');
    expect(await tailed(false, { FORCE_COLOR: '1' }, '--pretty')).toContain('\u001b[32m+');
  });

  it.each([['--json'], ['--pretty']])('%s does not let the ledger steer the terminal', async (form) => {
    const sandbox = await startSandbox();
    const evil = '\u009b2J\u001b[2J\u202e';
    const events = [{ CreatedEvent: { templateId: `ab:Main:${evil}` } }];
    sandbox.append({ Transaction: { value: { commandId: evil, events } } });
    const out = captured({ isTTY: true });
    const { code } = play(['tail', '--ledger', sandbox.url, '--to', '1', form], { out, env: { NO_COLOR: '1' } });
    expect(await code).toBe(0);
    await sandbox.close();

    expect(out.text()).toMatch(/u\{?(?:009b|9b)/);
    expect(out.text()).not.toMatch(/[^\P{C}\n]/u);
  });

  it('is never wider than the terminal', async () => {
    const rows = (await tailed(true, { NO_COLOR: '1' })).split('\n');

    expect(rows.length).toBeGreaterThan(10);
    expect(Math.max(...rows.map(widthOf))).toBeLessThanOrEqual(80);
  });
});

describe('text', () => {
  it('is written out where it steers, hides or turns', () => {
    expect(plain('a\u001b[1mb\u0085c\u202ed\u200be\u{e0041}f')).toBe(
      'a\\u{1b}[1mb\\u{85}c\\u{202e}d\\u{200b}e\\u{e0041}f',
    );
    expect(plain('Zürich, 漢字 😀')).toBe('Zürich, 漢字 😀');
  });

  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢字', 4, '漢字'],
    ['漢字', 3, '漢…'],
    ['漢字', 2, '…'],
    ['abc', 0, ''],
  ])('%j in %d columns', (text, columns, expected) => {
    expect(fitted(text, columns)).toBe(expected);
  });

  it.each([
    ['a bc def', 8, ['a bc def']],
    ['a bc def', 7, ['a bc', 'def']],
    ['a longer-word b', 4, ['a', 'longer-word', 'b']],
    ['', 4, ['']],
  ])('%j in lines of %d', (text, columns, expected) => {
    expect(wrapped(text, columns)).toStrictEqual(expected);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.0 kB'],
    [4_372_970, '4.4 MB'],
    [5e12, '5.0 TB'],
    [5e15, '5000.0 TB'],
  ])('of %d bytes', (bytes, expected) => {
    expect(sizeText(bytes)).toBe(expected);
  });
});

describe('the bar of replay', () => {
  const pace = { hasCaughtUp: false };
  const samples = [
    { at: 0, cursor: 100, updates: 50 },
    { at: 2_000, cursor: 600, updates: 250 },
  ];

  it('has share, place, rate and time left', () => {
    expect(replayText(samples, { from: 100, to: 1_100 }, pace, plainly)).toBe(
      '██████████░░░░░░░░░░  50%  600 / 1 100  ·  100/s  ·  0:02 left',
    );
    expect(replayText(samples, { from: 0, to: 1_000_600 }, pace, plainly)).toMatch(/ 1:06:40 left$/);
  });

  it('has what keeps it waiting', () => {
    const span = { from: 100, to: 1_100 };
    expect(replayText(samples, span, { ...pace, trouble: 'ECONNRESET' }, plainly)).toMatch(/trying again: ECONNRESET$/);
    expect(replayText(samples, span, { hasCaughtUp: true }, plainly)).toMatch(/waiting for the ledger to come so far$/);
    expect(replayText(samples.slice(1), span, pace, plainly)).toMatch(/0\/s {2}· {2}asking$/);
    expect(replayText([], { from: 7, to: 7 }, pace, plainly)).toMatch(/^█{20} 100%/);
  });
});
