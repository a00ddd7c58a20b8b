// Writes the figures of the last campaign and of the last crash tests into docs/guarantees.md. Run it after them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = `${root}/node_modules/.cache/campaigns`;
const page = `${root}/docs/guarantees.md`;
const data = `${root}/docs/site/campaigns.json`;

/** The lines that the tests have recorded, added up by test file, for files whose tests all passed. */
function playedRuns() {
  const results = ['campaign.json', 'crash.json']
    .filter((name) => existsSync(`${cache}/${name}`))
    .flatMap((name) => JSON.parse(readFileSync(`${cache}/${name}`, 'utf8')).testResults);
  const records = readFileSync(`${cache}/runs.jsonl`, 'utf8').trim().split('\n').map(JSON.parse);
  return results
    .filter(({ status, assertionResults }) => status === 'passed' && assertionResults.some(isPassed))
    .map(({ name, startTime, endTime, assertionResults }) => {
      const file = relative(root, name);
      const isOfRun = (record) =>
        record.file === file && Date.parse(record.at) >= startTime && Date.parse(record.at) <= endTime;
      return { file, ids: idsOf(assertionResults), ...sumOf(records.filter(isOfRun)), at: dateOf(endTime) };
    })
    .filter(({ schedules, kills }) => schedules > 0 || kills > 0);
}

const isPassed = ({ status }) => status === 'passed';
const idsOf = (results) => [
  ...new Set(results.filter(isPassed).flatMap(({ fullName }) => fullName.match(/\bG\d+\b/g) ?? [])),
];
const dateOf = (time) => new Date(time).toISOString().slice(0, 10);
const total = (records, field) => records.reduce((sum, record) => sum + (record[field] ?? 0), 0);

function sumOf(records) {
  const seeds = [...new Set(records.flatMap(({ seed }) => seed ?? []))];
  const [schedules, kills, updates, faults] = ['schedules', 'kills', 'updates', 'faults'].map((field) =>
    total(records, field),
  );
  return { schedules, kills, updates, faults, seeds };
}

/** The table of the page. */
export function tableOf(runs) {
  const number = (count) => (count > 0 ? count.toLocaleString('en').replaceAll(',', ' ') : '');
  const rows = runs.map(
    ({ file, ids, schedules, faults, updates, kills, seeds, at }) =>
      `| \`${file.replace('test/suites/', '')}\` | ${ids.join(', ')} | ${number(schedules)} | ${number(faults)} | ${number(updates)} | ${number(kills)} | ${seeds.slice(0, 3).join(', ')}${seeds.length > 3 ? ', …' : ''} | ${at} |`,
  );
  const head = ['Test', 'Rows', 'Schedules', 'Faults', 'Updates', 'Kills', 'Seed', 'Date'];
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows].join('\n');
}

const [before, after] = ['<!-- campaigns: npm run guarantees -->', '<!-- end of campaigns -->'];

/** The page with another table. */
export function withTable(text, table) {
  const [start, end] = [text.indexOf(before), text.indexOf(after)];
  if (start === -1 || end === -1) throw new Error('docs/guarantees.md has no place for the table');
  return `${text.slice(0, start + before.length)}\n\n${table}\n\n${text.slice(end)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const runs = playedRuns().sort((a, b) => (a.file < b.file ? -1 : 1));
  const known = existsSync(data) ? JSON.parse(readFileSync(data, 'utf8')) : [];
  // a file that was not played this time keeps the figures of its last time
  const kept = known.filter(({ file }) => runs.every((run) => run.file !== file));
  const all = [...kept, ...runs].sort((a, b) => (a.file < b.file ? -1 : 1));
  writeFileSync(data, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), tableOf(all)));
  console.log(`${runs.length} test files of the last run, ${all.length} in the table`);
}
