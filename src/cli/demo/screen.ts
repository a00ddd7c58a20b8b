import { styleText } from 'node:util';
import type { Transaction } from '../../codecs/Transaction.js';
import type { Update } from '../../codecs/Update.js';
import type { Output } from '../World.js';

/** What the demo shows. */
export interface DemoScreen {
  readonly begin: (url: string) => void;
  readonly update: (update: Update) => void;
  readonly committed: (transaction: Transaction) => void;
  readonly matched: (match: Match) => void;
  readonly end: (matches: number) => void;
  readonly failed: (reason: string) => void;
}

/** A committed transaction, and the same as the feed has it. */
export interface Match {
  readonly committed: Transaction;
  readonly seen: Transaction;
}

type Colour = 'reset' | 'magenta' | 'blue' | 'dim';

type Paint = (format: Colour | 'dim', text: string) => string;

const colours: Readonly<Record<Update['_tag'], Colour>> = {
  Transaction: 'reset',
  Reassignment: 'magenta',
  TopologyTransaction: 'blue',
  OffsetCheckpoint: 'dim',
  UnknownUpdate: 'dim',
};

/** An update in one row: offset, variant, synchronizer, kinds of event. */
export function rowOf(update: Update, paint: Paint): string {
  const { _tag, offset } = update;
  const events = 'events' in update ? update.events.map((event) => event._tag.replace(/^Js|Event$/g, '')) : [];
  return [
    `  ${String(offset).padStart(6)}`,
    paint(colours[_tag], _tag.padEnd(19)),
    synchronizerOf(update).padEnd(12),
    paint('dim', counted(events)),
  ]
    .join('  ')
    .trimEnd();
}

/** The short name of an update's synchronizer: what stands before `::`; nothing for a checkpoint, which has many. */
function synchronizerOf(update: Update): string {
  const id = 'synchronizerId' in update ? update.synchronizerId : undefined;
  return id?.split('::')[0] ?? '';
}

/** `Created ×2, Archived`. */
function counted(kinds: readonly string[]): string {
  const counts = kinds.reduce((sofar, kind) => sofar.set(kind, (sofar.get(kind) ?? 0) + 1), new Map<string, number>());
  return [...counts].map(([kind, count]) => (count > 1 ? `${kind} ×${count}` : kind)).join(', ');
}

type Format = Parameters<typeof styleText>[0];

export function demoScreen(stream: Output): DemoScreen {
  const began = Date.now();
  const committedAt = new Map<string, number>();
  let updates = 0;
  const paint = (format: Format, text: string): string => styleText(format, text, { stream });
  const say = (text = ''): void => {
    stream.write(`${text}\n`);
  };
  return {
    begin: (url) => {
      say(`\n${paint('bold', 'canton-rx')}  the feed of ${url}, and two submissions of an external party\n`);
      say(paint('dim', '  offset  update               synchronizer  events'));
    },
    update: (update) => {
      updates += 1;
      say(rowOf(update, paint));
    },
    committed: ({ updateId, offset, events }) => {
      committedAt.set(updateId, Date.now());
      const what = events.map(({ _tag }) => _tag.replace('Event', '').toLowerCase()).join(', ');
      say(paint('cyan', `▸ ${at(offset)}  signed by newcomer, committed as ${short(updateId)}: ${what}`));
    },
    matched: ({ seen }) => {
      const lateMs = Date.now() - (committedAt.get(seen.updateId) ?? 0);
      const when = lateMs === 0 ? 'with the answer' : `${lateMs} ms after the answer`;
      say(paint('green', `✓ ${at(seen.offset)}  matched: the feed has ${short(seen.updateId)}, ${when}`));
    },
    end: (matches) => {
      const seconds = ((Date.now() - began) / 1_000).toFixed(1);
      say(
        `\n${paint('green', '✓')} ${matches} submissions, all found among ${updates} updates of the feed, in ${seconds} s\n`,
      );
    },
    failed: (reason) => {
      say(`\n${paint('red', '✗')} ${reason}\n`);
    },
  };
}

const at = (offset: number): string => String(offset).padStart(6);

const short = (id: string): string => `${id.slice(0, 12)}…`;
