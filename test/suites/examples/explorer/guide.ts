import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { installation } from './explorer.js';

/** Those of the explorer have all that `ng new` has. */
const tsconfig = { extends: '../tsconfig.json', include: ['*.ts'] };

/** The components of the guide to Angular, which are compiled in the explorer's installation. */
it('stands next to a guide whose components compile with strict templates', async () => {
  const folder = join(import.meta.dirname, '../../../../docs');
  const guides = ['angular.md', 'angular-contracts.md', 'angular-submitting.md'].map((name) =>
    readFile(join(folder, name), 'utf8'),
  );
  const guide = (await Promise.all(guides)).join('\n');
  const blocks = [...guide.matchAll(/^```ts no-run\n(\/\/ src\/app\/(?:app|add-task)\.ts\n.*?)^```$/gms)];
  expect(blocks.length).toBe(3);

  const installed = join(installation().folder, 'guide');
  await mkdir(installed);
  try {
    await writeFile(join(installed, 'tsconfig.json'), JSON.stringify(tsconfig));
    await Promise.all(blocks.map(([, code = ''], index) => writeFile(join(installed, `app${index}.ts`), code)));
    const compiler = join(installed, '../node_modules/@angular/compiler-cli/bundles/src/bin/ngc.js');
    const compiled = promisify(execFile)(process.execPath, [compiler, '-p', installed, '--noEmit']);
    expect(await compiled.catch((error: unknown) => error)).toEqual({ stdout: '', stderr: '' });
  } finally {
    await rm(installed, { recursive: true, force: true });
  }
}, 120_000);
