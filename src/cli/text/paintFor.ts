import { styleText } from 'node:util';
import type { Output, World } from '../World.js';
import type { Paint } from './Paint.js';

/**
 * How a stream is painted: with colours on a terminal, unless `NO_COLOR` is set; with `FORCE_COLOR` anywhere, and not at all
 * where that is `0` or `false`.
 */
export const paintFor = (stream: Output, env: World['env']): Paint =>
  hasColours(stream, env) ? (format, text) => styleText(format, text, { validateStream: false }) : (_, text) => text;

function hasColours({ isTTY }: Output, env: World['env']): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: terminal } = env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (refused !== undefined && refused !== '') return false;
  return isTTY === true && terminal !== 'dumb';
}
