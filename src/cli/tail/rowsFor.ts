import type { Update } from '../../codecs/Update.js';
import { prettyRows } from '../pretty/prettyRows.js';
import { columnsOf } from '../text/columnsOf.js';
import { escapedLine } from '../text/escapedLine.js';
import { lineOf } from '../text/lineOf.js';
import { paintFor } from '../text/paintFor.js';
import type { World } from '../World.js';
import type { TailOptions } from './TailOptions.js';

/** How updates are written: for people, for programs, or for programs where people look on. */
export function rowsFor({ isPretty }: TailOptions, { stdout, env }: World): (update: Update) => string {
  if (isPretty) return prettyRows(() => columnsOf(stdout, 120), paintFor(stdout, env));
  return stdout.isTTY === true ? (update) => escapedLine(lineOf(update)) : lineOf;
}
