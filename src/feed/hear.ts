import type { Offset } from '../codecs/Offset.js';
import type { Feed } from './Feed.js';
import { inOrder } from './inOrder.js';
import type { Page } from './Page.js';
import { readElements } from './readElements.js';
import type { UpdatesPath } from './Service.js';

/** What a socket has brought so far. */
export interface Heard {
  readonly path: UpdatesPath;
  /** After which offset the service was asked for updates. */
  readonly beginExclusive: Offset;
  /** The offset of the last element. */
  readonly last: Offset;
  /** The offset of the last that is no checkpoint. */
  readonly lastUpdate: Offset;
  /** How many elements. */
  readonly count: number;
}

/** The page of one element that a message is, and what has come with it. */
export function hear({ onInvalid }: Feed, heard: Heard, json: unknown, tookMs: number): { page: Page; heard: Heard } {
  const elements = readElements(heard.path, [json], onInvalid);
  const { updates, last, lastUpdate, failure = elements.failure } = inOrder(elements.updates, heard, heard);
  const page: Page = { updates, last, count: 1, isFull: false, tookMs, ...(failure !== undefined && { failure }) };
  return { page, heard: { ...heard, last, lastUpdate, count: heard.count + 1 } };
}
