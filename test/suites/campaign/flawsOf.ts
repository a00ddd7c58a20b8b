import { isDeepStrictEqual } from 'node:util';
import type { Update } from '../../../src/codecs/Update.js';
import { flawsOfPace } from './flawsOfPace.js';
import { flawsOfTold } from './flawsOfTold.js';
import type { Outcome } from './play.js';

const nameOf = (update: Update | undefined): string =>
  update === undefined ? 'nothing' : `${update._tag} at ${update.offset}`;

/** Everything that is wrong with an outcome, whatever the schedule was; empty where all is well. */
export const flawsOf = (outcome: Outcome): readonly string[] => [
  ...outcome.wrong,
  ...flawsOfContent(outcome),
  ...flawsOfOrder(outcome),
  ...flawsOfEnd(outcome),
  ...flawsOfTold(outcome),
  ...flawsOfPace(outcome),
];

/** Exactly what was delivered for the first time: each once, whole, in order. */
function flawsOfContent({ seen, audit }: Outcome): readonly string[] {
  const updates = seen.values.filter(({ _tag }) => _tag !== 'OffsetCheckpoint');
  const count = Math.max(updates.length, audit.expected.length);
  for (let i = 0; i < count; i += 1)
    if (!isDeepStrictEqual(updates[i], audit.expected[i]))
      return [`update ${i} is ${nameOf(updates[i])}, not ${nameOf(audit.expected[i])}`];
  return [];
}

/** Never backwards but over a gap, so that no checkpoint is ahead of what it stands for. */
function flawsOfOrder({ log, schedule }: Outcome): readonly string[] {
  let last: Update | undefined;
  for (const entry of log) {
    if ('jump' in entry) last = undefined;
    if (!('value' in entry)) continue;
    const { value } = entry;
    const step = last === undefined ? 1 : (value.offset - last.offset) * (schedule.isDownward ? -1 : 1);
    if (value._tag === 'OffsetCheckpoint' ? step < 0 : step < 0 || (step === 0 && last?._tag === value._tag))
      return [`${nameOf(value)} behind ${nameOf(last)}`];
    last = value;
  }
  return [];
}

/** Ended where something forced it to, with what forced it, at once; nowhere else. */
function flawsOfEnd({ seen, audit, gaps }: Outcome): readonly string[] {
  const { error, completed, endedAt } = seen;
  const forced = audit.end;
  if (forced === undefined) return [];
  const said = `must end with ${JSON.stringify(forced.error)} at ${forced.atMs}`;
  if (completed || error === undefined) return [`${said}, but does not`];
  if (!matches(error, forced.error)) return [`${said}, but ends with ${wordsOf(error)}`];
  if (endedAt !== forced.atMs && gaps.length === 0) return [`${said}, but ends at ${String(endedAt)}`];
  return [];
}

/** Whether an error has these facts. */
export const matches = (error: unknown, facts: Readonly<Record<string, unknown>>): boolean =>
  typeof error === 'object' &&
  error !== null &&
  Object.entries(facts).every(([key, value]) => Reflect.get(error, key) === value);

/** What an error says, in one line. */
export const wordsOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message.replaceAll('\n', ', ')}` : 'nothing';
