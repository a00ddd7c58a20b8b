import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { commands } from '../../src/cli/help.js';
import { optionsOf } from '../../src/cli/options.js';
import { cliWorld } from './cliWorld.js';
import { parseLines, runCli } from './runCli.js';

const world = cliWorld();

const runWith = async (config: unknown, line: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const path = join(world.folder, 'config.json');
  writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config));
  const { code, out, err } = runCli(line, { env: { CANTON_RX_CONFIG: path, ...env } });
  return { code: await code, out: out.text(), err: err.text() };
};

describe('--context', () => {
  it('has the URL, the token file next to it, and the parties', async () => {
    await world.restart({ checkToken: (token) => token === 'letmein' });
    writeFileSync(join(world.folder, 'token'), 'letmein\n');
    const [alice = ''] = world.sandbox.parties;
    const contexts = { dev: { ledger: world.sandbox.url, tokenFile: 'token', parties: [alice] } };
    const { code, out } = await runWith({ contexts }, ['contracts', '--context', 'dev', '--json']);
    expect(code).toBe(0);
    const stakeholders = parseLines(out).map(({ signatories, observers }) => [signatories, observers].flat());
    expect(stakeholders.length).toBeGreaterThan(0);
    expect(stakeholders.every((parties) => parties.includes(alice))).toBe(true);
  });

  it('does not get the token of the environment, which is meant for another ledger', async () => {
    const tokens: unknown[] = [];
    await world.restart({ checkToken: (token) => tokens.push(token) > 0 });
    const contexts = { dev: { ledger: world.sandbox.url } };
    const env = { CANTON_RX_LEDGER_TOKEN: 'other', CANTON_RX_CONTEXT: 'dev' };
    expect(await runWith({ contexts }, ['tail', '--to', '3'], env)).toMatchObject({ code: 0 });
    expect(tokens).not.toContain('other');
  });

  it.each([
    [
      { contexts: { dev: { ledger: 'http://a' } } },
      ['tail', '--context', 'dve'],
      "no context 'dve': did you mean dev?",
    ],
    [{ contexts: { dev: { ledger: 'foo' } } }, ['tail', '--context', 'dev'], 'the ledger of the context must be an'],
    [{ contexts: { dev: {} } }, ['tail', '--context', 'dev'], 'must be JSON: {'],
    ['{', ['tail', '--context', 'dev'], 'must be JSON: {'],
  ])('is refused in one line: %j %j', async (config, line, reason) => {
    const { code, err } = await runWith(config, line);
    expect(code).toBe(2);
    expect(err).toMatch(/^canton-rx: [^\n]+\n$/);
    expect(err).toContain(reason);
  });
});

describe('the file of contexts', () => {
  const pathWith = async (env: Readonly<Record<string, string>>): Promise<string | undefined> => {
    const { code, err } = runCli(['tail', '--context', 'dev'], { env });
    expect(await code).toBe(2);
    return /requires the file (\S+): /.exec(err.text())?.[1];
  };

  it.each([
    [{ HOME: '/nowhere' }, '/nowhere/.config/canton-rx/config.json'],
    [{ HOME: '/nowhere', XDG_CONFIG_HOME: '/none' }, '/none/canton-rx/config.json'],
    [{ HOME: '/nowhere', XDG_CONFIG_HOME: '' }, '/nowhere/.config/canton-rx/config.json'],
    [{ HOME: '/nowhere', XDG_CONFIG_HOME: 'conf' }, '/nowhere/.config/canton-rx/config.json'],
    [{ HOME: '/nowhere', CANTON_RX_CONFIG: '' }, '/nowhere/.config/canton-rx/config.json'],
    [{ HOME: '/nowhere', CANTON_RX_CONFIG: 'none.json' }, 'none.json'],
  ])('is never by accident that of the folder in which the command runs: %j', async (env, path) => {
    expect(await pathWith(env)).toBe(path);
  });
});

describe('--verbose', () => {
  it.each(['tail', 'check', 'contracts'])('writes each request of %s to stderr, without the token', async (command) => {
    await world.restart({ checkToken: (token) => token === 's3cret' });
    const end = command === 'tail' ? ['--to', '3'] : [];
    const line = [command, '--ledger', world.sandbox.url, '--verbose', ...end];
    const { code, err, out } = runCli(line, { env: { CANTON_RX_LEDGER_TOKEN: 's3cret' } });
    expect(await code).toBe(0);
    expect(err.text()).toMatch(/^GET \/v2\/state\/ledger-end {2}200 {2}\d+ ms$/m);
    const logged = err.text().match(/^(?:GET|POST) \/\S+(?= {2}\d+ {2}\d+ ms$)/gm) ?? [];
    const sent = world.sandbox.requests.map(({ method, path }) => `${method} ${path}`);
    expect(logged.map((request) => request.replace(/\?.*$/, '')).sort()).toEqual(sent.sort());
    expect(out.text() + err.text()).not.toContain('s3cret');
  });
});

describe('completion', () => {
  const scriptOf = async (shell: string): Promise<string> => {
    const { code, out } = runCli(['completion', shell]);
    expect(await code).toBe(0);
    return out.text();
  };

  /** What bash suggests for a line whose last word is being written. */
  const suggest = async (...words: readonly string[]): Promise<readonly string[]> => {
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
    const program = `${await scriptOf('bash')}\n${line}; _canton_rx; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', program]).toString().trim().split('\n');
  };

  it('suggests commands, options, and files after an option that takes one, in bash', async () => {
    expect(await suggest('canton-rx', 'c')).toEqual(['check', 'contracts', 'completion']);
    expect(await suggest('canton-rx', 'tail', '--s')).toEqual(['--since', '--synchronizer']);
    writeFileSync(join(world.folder, 'token.txt'), '');
    expect(await suggest('canton-rx', 'tail', '--token-file', join(world.folder, 'to'))).toEqual([
      join(world.folder, 'token.txt'),
    ]);
  });

  it.each(['bash', 'zsh', 'fish'])('has every command and every option in %s', async (shell) => {
    const script = await scriptOf(shell);
    for (const [command, { options }] of Object.entries(commands)) {
      expect(script).toContain(command);
      for (const { name } of optionsOf(options)) expect(script).toContain(name);
    }
  });

  it('refuses another shell', async () => {
    const { code, err } = runCli(['completion', 'csh']);
    expect(await code).toBe(2);
    expect(err.text()).toBe('canton-rx: completion requires a shell: bash, zsh, fish\n');
  });
});
