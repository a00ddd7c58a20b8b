import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runCli } from './runCli.js';

const guide = ['command-line', 'command-check', 'command-ledger', 'command-services']
  .map((name) => readFileSync(join(import.meta.dirname, '..', '..', 'docs', `${name}.md`), 'utf8'))
  .join('\n');

const run = async (...line: readonly string[]): Promise<string> => {
  const { code, out, err } = runCli(line);
  await code;
  return out.text() + err.text();
};

/** The options in the rows of tables of a section of the guide. */
function inGuide(section: string): readonly string[] {
  const text = guide.split(/^## /m).find((one) => one.startsWith(`${section}\n`)) ?? '';
  const cells = Array.from(text.matchAll(/^\| (.*?) \|/gm), ([, cell = '']) => cell);
  return cells.flatMap((cell) => cell.match(/--[a-z][a-z-]*/g) ?? []);
}

/** The options of the help. */
const inHelp = async (command: string): Promise<readonly string[]> =>
  Array.from((await run(command, '--help')).matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm), ([, option = '']) => option);

/** The options that a command line accepts: its message about another one lists them. */
async function accepted(...line: readonly string[]): Promise<readonly string[]> {
  const list = /: use (--.*)$/m.exec(await run(...line, '--qqqqqqqqqqqq'))?.[1] ?? '';
  return list.split(', ');
}

const sorted = (...lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())].sort();

const reading = ['check', 'contracts', 'tail', 'replay', 'submit', 'project'];

describe('the options of the command line', () => {
  it.each([...reading, 'sandbox'])('of %s are those of its help and of the guide', async (command) => {
    const options = sorted(await accepted(command));
    const connection = reading.includes(command) ? inGuide('Connection') : [];
    expect(sorted(await inHelp(command))).toEqual(options);
    // replay has some of tail, and all that print have some of the section on output
    expect([...inGuide(command), ...connection].filter((option) => !options.includes(option))).toEqual([]);
    expect(options.filter((option) => !guide.includes(option))).toEqual([]);
  });

  it('of project verify are those of project', async () => {
    expect(await accepted('project', 'verify')).toEqual(await accepted('project'));
  });

  it.each([
    ['processors', ['list', 'pause', 'resume', 'rewind', 'reset', 'skip']],
    ['parked', ['list', 'drop']],
    ['outbox', ['list', 'retry', 'drop']],
  ])('of the actions of %s are those of its help', async (command, actions) => {
    const all = await Promise.all(actions.map((action) => accepted(command, action)));
    expect(sorted(...all)).toEqual(sorted(await inHelp(command)));
  });

  it.each([
    [
      'bash',
      /^ +processors\) actions='list pause resume rewind reset skip' words='--database /m,
      /^ +project\) actions='verify' /m,
    ],
    [
      'zsh',
      /^ +processors\) actions=\(list pause resume rewind reset skip\) words=\(/m,
      /^ +completion\) actions=\(bash zsh fish\) /m,
    ],
    [
      'fish',
      /from processors; and not .*-a 'list pause resume rewind reset skip'$/m,
      /from parked; and not .*-a 'list drop'$/m,
    ],
  ])('are completed in %s, with the words after a command', async (shell, ...patterns) => {
    const script = await run('completion', shell);
    for (const pattern of patterns) expect(script).toMatch(pattern);
    expect(script).not.toMatch(/(?:tail|demo)\) actions='[^']|from tail; and not/);
  });
});
