import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundled, type Bundle } from './bundled.js';
import { project, type Project } from './project.js';

let user: Project;
/** All that is ours in one module, which imports the packages. */
let whole: Bundle;
beforeAll(async () => {
  user = await project();
  whole = await bundled(user.folder, "import * as all from 'canton-rx'; globalThis.all = all;", {
    packages: 'external',
    alias: { 'canton-rx': './node_modules/canton-rx/dist/index.js' },
    absWorkingDir: user.folder,
  });
});
afterAll(() => user.remove(), 60_000);

/** The milliseconds of work that it takes a new process to import packages; on a busy machine it also waits, which is not counted. */
const importing = async (...packages: readonly string[]): Promise<number> => {
  const imports = packages.map((name) => `import('${name}')`).join(', ');
  const script = `const before = process.cpuUsage(); await Promise.all([${imports}]); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1e3);`;
  return Number((await user.run('node', '--input-type=module', '--eval', script)).stdout);
};

describe('importing the library in Node.js', () => {
  it('takes less than 1.4 times the work that its four packages take', async () => {
    const four: number[] = [];
    const ours: number[] = [];
    // by turns, and the fastest of each, so that what else the machine does hardly counts; on a busy one it takes more of them
    const ratio = (): number => Math.min(...ours) / Math.min(...four);
    for (let turn = 0; turn < 15 || (turn < 60 && ratio() >= 1.4); turn++) {
      four.push(await importing('rxjs', 'ky', 'io-ts', 'fp-ts'));
      ours.push(await importing('canton-rx'));
    }
    console.log(`canton-rx: ${Math.min(...ours).toFixed(0)} ms, its packages: ${Math.min(...four).toFixed(0)} ms`);
    expect(ratio()).toBeLessThan(1.4);
  });

  it('loads the packages that it runs on, and not fp-ts, of which it has the types alone', () => {
    expect(whole.imports).toEqual(['io-ts', 'ky', 'rxjs']);
  });

  it('does no work: its modules are evaluated in a small part of what the process has worked before', async () => {
    // imports come first, so that what is timed is ours
    await user.write(
      'whole.mjs',
      `const work = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e3; };
       const before = work(); ${whole.text}; console.log(before, work() - before);`,
    );
    const shares: number[] = [];
    for (let turn = 0; turn < 7; turn++) {
      const [before = 0, ours = 0] = (await user.run('node', 'whole.mjs')).stdout.split(' ').map(Number);
      shares.push(ours / before);
    }
    console.log(`evaluated in ${(Math.min(...shares) * 100).toFixed(1)} % of the work until then`);
    expect(Math.min(...shares)).toBeLessThan(0.05);
  });
});
