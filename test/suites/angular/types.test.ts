import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { project, type Project, root } from '../package/project.js';

/** The oldest version, those with which resources changed, and the newest. */
const versions = { 17: '17.3.12', 20: '20.3.35', 21: '21.2.26', 22: '22.2.6' };

/** What every version compiles. */
const application = `
  import { contractType } from 'canton-rx';
  import { type ContractsResource, injectContracts } from 'canton-rx/angular';
  import { ContractsTestingController, provideContractsTesting } from 'canton-rx/angular/testing';
  import * as t from 'io-ts';
  const Task = contractType('#tasks:Main:Task', t.type({ title: t.string }));
  export const tasks = injectContracts({ types: { task: Task }, parties: 'any' });
  export const any: ContractsResource = tasks;
  export const titles: readonly (string | undefined)[] = tasks.value().map(({ payload }) => payload?.title);
  export const providers = [provideContractsTesting(), ContractsTestingController];
  const snapshot = tasks.snapshot();
  export const shown: string | undefined = snapshot.status === 'error' ? snapshot.error.message : snapshot.value[0]?.payload?.title;
`;

/** What the versions with resources compile, too. */
const resource = `
  import type { Resource } from '@angular/core';
  import { tasks } from './application.js';
  type Task = ReturnType<typeof tasks.value>[number];
  export const resource: Resource<readonly Task[]> = tasks;
  // @ts-expect-error these are not numbers
  export const wrong: Resource<readonly number[]> = tasks;
`;

let consumer: Project;
beforeAll(async () => {
  consumer = await project();
  const aliases = Object.entries(versions).flatMap(([major, version]) =>
    ['core', 'common'].map((name) => `${name}${major}@npm:@angular/${name}@${version}`),
  );
  await consumer.run('npm', 'install', '--ignore-scripts', '--prefer-offline', '--legacy-peer-deps', ...aliases);
  await consumer.write('application.ts', application);
  await consumer.write('resource.ts', resource);
}, 400_000);
afterAll(() => consumer.remove(), 60_000);

describe('the types of injectContracts', () => {
  it.each(Object.keys(versions))('fit Angular %s, and its resources', async (major) => {
    const config = {
      compilerOptions: {
        ...{
          target: 'es2022',
          module: 'esnext',
          moduleResolution: 'bundler',
          lib: ['es2023', 'dom', 'esnext.disposable'],
        },
        ...{ strict: true, noEmit: true, types: [], skipLibCheck: true },
        paths: Object.fromEntries(
          ['core', 'common'].flatMap((name) => [
            [`@angular/${name}`, [`./node_modules/${name}${major}`]],
            [`@angular/${name}/*`, [`./node_modules/${name}${major}/*`]],
          ]),
        ),
      },
      // there are no resources before Angular 19, and those of 19 are other ones
      files: Number(major) < 20 ? ['application.ts'] : ['application.ts', 'resource.ts'],
    };
    await consumer.write('tsconfig.json', JSON.stringify(config));
    const tsc = `${root}/node_modules/typescript/bin/tsc`;
    const { stdout } = await consumer.run('node', tsc).catch((error: unknown) => error as { stdout: string });
    expect(stdout).toBe('');
  });
});
