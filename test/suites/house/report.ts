import process from 'node:process';
import {
  circles,
  exportedNames,
  exportedValues,
  filesWithOneImporter,
  readEntries,
  readSources,
  roomOf,
  sum,
} from './measure.js';

/** Prints what the house weighs: a report, not a bound. Run in the root of the project: `npm run house`. */
const files = readSources('src');
const publicNames = exportedNames(files, ['index.ts']);
const entries = readEntries('.');
const single = filesWithOneImporter(files);
const circular = circles(files);
const linesOfCode = (measured: readonly { readonly linesOfCode: number }[]): number =>
  sum(measured.map((file) => file.linesOfCode));

const rooms = [...new Set(files.map(({ path }) => roomOf(path)))].map((room) => {
  const inRoom = files.filter(({ path }) => roomOf(path) === room);
  return { room, lines: linesOfCode(inRoom), count: inRoom.length };
});
const longest = [...files].sort((a, b) => b.lines - a.lines).slice(0, 10);
const tests = readSources('test');

const row = (name: string, ...figures: readonly (number | string)[]): string =>
  `  ${name.padEnd(46)}${figures.map((figure) => String(figure).padStart(8)).join('')}`;

const report = [
  row('room', 'code', 'files'),
  ...rooms.sort((a, b) => b.lines - a.lines).map(({ room, lines, count }) => row(room, lines, count)),
  row('src', linesOfCode(files), files.length),
  row('test', linesOfCode(tests), tests.length),
  '',
  row('names in the root', publicNames.length),
  row('names over all entries', exportedNames(files, entries).length),
  row('  of them values', exportedValues(files, entries).length),
  row('circles', circular.length),
  row('files with one importer', single.length),
  ...single.map((path) => `    ${path}`),
  '',
  '  longest files, with comments',
  ...longest.map(({ path, lines }) => row(`  ${path}`, lines)),
];
process.stdout.write(`${report.join('\n')}\n`);
