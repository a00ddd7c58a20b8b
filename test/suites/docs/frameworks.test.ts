import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compile as compileSvelte } from 'svelte/compiler';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { itInChromium, runInChromium } from '../../helpers/browser.js';
import { compile, emptyProject, forBundler } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');
const guide = readFileSync(join(root, 'docs', 'frameworks.md'), 'utf8');

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  sandbox = await startSandbox({ cors: true });
  sandbox.generate(60);
  folder = emptyProject(root, 'frameworks');
  for (const [, name = '', code = ''] of guide.matchAll(/^```(?:ts|typescript)\n\/\/ (\S+)\n(.*?)^```$/gms))
    writeFileSync(join(folder, name), code.replace('http://127.0.0.1:7575', sandbox.url));
});
afterAll(() => sandbox.close());

describe('a live table without an adapter', () => {
  it('compiles in a strict application', () => {
    const paths = ['tasks.ts', 'TaskList.ts'].map((name) => join(folder, name));
    expect(compile(paths, { ...forBundler, types: [], verbatimModuleSyntax: true }).flat()).toEqual([]);
  });

  itInChromium.each([
    [
      'Vue',
      `import { createApp } from 'vue';
      import { TaskList } from './TaskList.js';
      export const show = (element) => { createApp(TaskList).mount(element); };`,
    ],
    [
      'Svelte',
      `import { mount } from 'svelte';
      import TaskList from './TaskList.svelte.js';
      export const show = (target) => { mount(TaskList, { target }); };`,
    ],
  ])('shows the contracts in %s', async (framework, show) => {
    const [, component = ''] = /^```svelte\n(.*?)^```$/ms.exec(guide) ?? [];
    writeFileSync(join(folder, 'TaskList.svelte.js'), compileSvelte(component, { generate: 'client' }).js.code);
    writeFileSync(join(folder, `${framework}.js`), show);
    const page = join(folder, `${framework}-page.js`);
    writeFileSync(page, `import { show } from './${framework}.js';\n${watch}`);
    const seen = await runInChromium<readonly string[]>(page);
    expect(seen[0]).toBe('Loading');
    expect(seen.at(-1)).toMatch(/^[1-9]\d* tasks$/);
  });
});

/** Keeps what is shown until there are contracts. */
const watch = `
const seen = [];
const note = () => {
  const text = document.body.innerText.trim();
  if (text !== '' && seen.at(-1) !== text) seen.push(text);
  if (/^[1-9].* tasks$/.test(text)) globalThis.seen = seen;
};
show(document.body);
note();
new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });`;
