import { styleText } from 'node:util';
import type { Transaction } from '../../codecs/Transaction.js';
import type { Update } from '../../codecs/Update.js';
import type { Output } from '../output.js';

/** The output of the demo. */
export interface DemoScreen {
  readonly begin: (url: string) => void;
  readonly update: (update: Update) => void;
  readonly committed: (transaction: Transaction) => void;
  readonly matched: (match: Match) => void;
  readonly end: (matches: number) => void;
  readonly failed: (reason: string) => void;
}

/** A committed transaction, and the same transaction in the feed. */
export interface Match {
  readonly committed: Transaction;
  readonly received: Transaction;
}

type Format = Parameters<typeof styleText>[0];

export function demoScreen(stream: Output): DemoScreen {
  const startedAt = Date.now();
  const committedAt = new Map<string, number>();
  let updates = 0;
  const paint = (format: Format, text: string): string => styleText(format, text, { stream });
  const print = (text = ''): void => {
    stream.write(`${text}\n`);
  };
  return {
    begin: (url) => {
      print(`\n${paint('bold', 'canton-rx')}  the feed of ${url} and two submissions of an external party\n`);
      print(paint('dim', '  offset  update               synchronizer  events'));
    },
    update: (update) => {
      updates += 1;
      print(updateRow(update, paint));
    },
    committed: ({ updateId, offset, events }) => {
      committedAt.set(updateId, Date.now());
      const kinds = events.map(({ _tag }) => _tag.replace('Event', '').toLowerCase()).join(', ');
      print(paint('cyan', `▸ ${at(offset)}  signed by newcomer, committed as ${short(updateId)}: ${kinds}`));
    },
    matched: ({ received }) => {
      const lateMs = Date.now() - (committedAt.get(received.updateId) ?? 0);
      const when = lateMs === 0 ? 'with the response' : `${lateMs} ms after the response`;
      print(paint('green', `✓ ${at(received.offset)}  matched: the feed has ${short(received.updateId)}, ${when}`));
    },
    end: (matches) => {
      const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
      print(
        `\n${paint('green', '✓')} ${matches} submissions, all found among ${updates} updates of the feed in ${seconds} s\n`,
      );
    },
    failed: (reason) => {
      print(`\n${paint('red', '✗')} ${reason}\n`);
    },
  };
}

const colours: Readonly<Record<Update['_tag'], Format>> = {
  Transaction: 'reset',
  Reassignment: 'magenta',
  TopologyTransaction: 'blue',
  OffsetCheckpoint: 'dim',
  UnknownUpdate: 'dim',
};

/** The row of an update: offset, variant, synchronizer, kinds of events. */
function updateRow(update: Update, paint: (format: Format, text: string) => string): string {
  const { _tag, offset } = update;
  const events = 'events' in update ? update.events.map((event) => event._tag.replace(/Event$/, '')) : [];
  return [
    `  ${String(offset).padStart(6)}`,
    paint(colours[_tag], _tag.padEnd(19)),
    synchronizerOf(update).padEnd(12),
    paint('dim', countKinds(events)),
  ]
    .join('  ')
    .trimEnd();
}

/** The short name of the synchronizer of an update, the part before `::`; empty for a checkpoint, which has several. */
function synchronizerOf(update: Update): string {
  const id = 'synchronizerId' in update ? update.synchronizerId : undefined;
  return id?.split('::')[0] ?? '';
}

/** `Created ×2, Archived`. */
function countKinds(kinds: readonly string[]): string {
  const counts = kinds.reduce((all, kind) => all.set(kind, (all.get(kind) ?? 0) + 1), new Map<string, number>());
  return [...counts].map(([kind, count]) => (count > 1 ? `${kind} ×${count}` : kind)).join(', ');
}

const at = (offset: number): string => String(offset).padStart(6);

const short = (id: string): string => `${id.slice(0, 12)}…`;
