import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { startSandbox } from '../../../src/sandbox/index.js';
import { itInChromium, launchChromium } from '../../helpers/browser.js';
import { httpServer } from '../../helpers/localServers.js';
import { compile, emptyProject, forBundler } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');

/** The files of a guide, by name. */
type Files = Readonly<Record<string, string>>;

const filesOf = (guide: string): Files =>
  Object.fromEntries(
    [...guide.matchAll(/^```tsx\n\/\/ ((?:src|app)\/\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [
      name,
      code,
    ]),
  );

const first = filesOf(read('react.md'));
const signIn = filesOf(read('react-submitting.md'));
const tests = filesOf(read('react-testing.md'));
const session = /^```typescript\n\/\/ src\/session.ts\n(.*?)^```$/ms.exec(read('sessions.md'))?.[1] ?? '';

/** What the blocks use of packages that the tests of this library do not have. */
const declarations = `
declare module '@testing-library/react' {
  export { act } from 'react';
  export function render(element: import('react').ReactNode): void;
  export const screen: {
    getByText(text: string): HTMLElement;
    getByLabelText(text: string): HTMLElement;
    findByText(text: string): Promise<HTMLElement>;
  };
  export const fireEvent: {
    change(element: HTMLElement, event: { target: { value: string } }): void;
    click(element: HTMLElement): void;
  };
}
declare module 'vitest' {
  export function test(name: string, run: () => void | Promise<void>): void;
  export function expect(value: unknown): { toBeDefined(): void };
}
`;

/** Writes files to a folder, and returns their paths. */
const write = (folder: string, files: Files): readonly string[] =>
  Object.entries(files).map(([name, code]) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), code);
    return join(folder, name);
  });

describe('the guides for React', () => {
  it.each([
    { what: 'a live table', files: first, names: 'src/main.tsx src/Task.ts src/App.tsx app/Contracts.tsx' },
    {
      what: 'sign-in and submissions',
      files: { ...signIn, 'src/session.ts': session },
      names: 'src/Page.tsx src/main.tsx src/ledger.ts src/NewTask.tsx src/session.ts',
    },
    {
      what: 'tests',
      files: { ...signIn, ...tests, 'src/session.ts': session },
      names:
        'src/Page.tsx src/main.tsx src/ledger.ts src/NewTask.tsx src/App.test.tsx src/NewTask.test.tsx src/session.ts',
    },
  ])('compile as strict applications of Vite and Next have them: $what', ({ files, names }) => {
    const folder = emptyProject(root, 'react-guide');
    expect(Object.keys(files).join(' ')).toBe(names);
    const paths = write(folder, { 'declarations.d.ts': declarations, ...first, ...files });
    expect(compile(paths, { ...forBundler, types: [], verbatimModuleSyntax: true }).flat()).toEqual([]);
  });
});

describe('the page of the guides for React, with a test ledger that requires a token', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
  });

  itInChromium('says why a password is refused, and signs in, submits and signs out with another one', async () => {
    const sandbox = await startSandbox({ cors: true, checkToken: (token) => token === 'secret' });
    closers.push(() => sandbox.close());
    sandbox.generate(300);
    const { 'src/App.tsx': table = '', ...others } = { ...first, ...signIn };
    const folder = emptyProject(root, 'react-sign-in');
    write(folder, {
      ...others,
      'src/session.ts': session.replace('http://127.0.0.1:7575', sandbox.url),
      'src/Table.tsx': table,
      'src/App.tsx': `
import { NewTask } from './NewTask';
import Table from './Table';
export default () => <><NewTask party="${sandbox.hostedParty('alice')}" /><Table /></>;`,
    });
    const { outputFiles } = await build({
      entryPoints: [join(folder, 'src', 'main.tsx')],
      ...{ bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022', logLevel: 'silent' },
      jsx: 'automatic',
    });
    const html =
      '<!doctype html><html lang="en"><title>React</title><div id="root"></div><script type="module" src="/page.js"></script>';
    const server = await httpServer(({ url }, response) => {
      const isScript = url === '/page.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? outputFiles[0]?.text : html);
    });
    closers.push(() => server.close());
    const browser = await launchChromium();
    if (browser === undefined) throw new Error('there is no browser');
    closers.unshift(() => browser.close());
    const page = await browser.newPage();
    await page.goto(server.url);

    await enter(page, 'wrong');
    await page.getByText('Your login is not valid').waitFor();
    await enter(page, 'secret');
    await page.getByRole('heading', { name: /^\d+ tasks$/ }).waitFor();
    expect(await page.getByText('Your login is not valid').count()).toBe(0);

    await page.getByLabel('New task').fill('Water the plants');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Created').waitFor();
    await page.getByRole('cell', { name: 'Water the plants' }).waitFor();
    await page.getByLabel('New task').fill('Another one');
    expect(await page.getByText('Created').count()).toBe(0);

    await page.reload();
    await page.getByRole('heading', { name: /^\d+ tasks$/ }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('cell').count()).toBe(0);
  });
});

/** Signs in with a password. */
async function enter(page: Page, password: string): Promise<void> {
  page.once('dialog', (dialog) => void dialog.accept(password));
  await page.getByRole('button', { name: 'Sign in' }).click();
}
