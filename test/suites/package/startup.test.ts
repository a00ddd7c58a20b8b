import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundled, type Bundle } from './bundled.js';
import { project, type Project } from './project.js';

let user: Project;
/** The whole library in one module, which imports its packages. */
let library: Bundle;
beforeAll(async () => {
  user = await project();
  library = await bundled(user.folder, "import * as all from 'canton-rx'; globalThis.all = all;", {
    packages: 'external',
    alias: { 'canton-rx': './node_modules/canton-rx/dist/index.js' },
    absWorkingDir: user.folder,
  });
});
afterAll(() => user.remove(), 60_000);

/** The processor time in which a new process imports packages, in milliseconds, without its waits on a busy machine. */
const measureImport = async (...packages: readonly string[]): Promise<number> => {
  const imports = packages.map((name) => `import('${name}')`).join(', ');
  const script = `const before = process.cpuUsage(); await Promise.all([${imports}]); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1e3);`;
  return Number((await user.run('node', '--input-type=module', '--eval', script)).stdout);
};

describe('importing the library in Node.js', () => {
  it('takes little more processor time than importing its four packages', async () => {
    const four: number[] = [];
    const ours: number[] = [];
    // in turn, and the fastest of each, so that other processes have little effect
    for (let turn = 0; turn < 10; turn++) {
      four.push(await measureImport('rxjs', 'ky', 'io-ts', 'fp-ts'));
      ours.push(await measureImport('canton-rx'));
    }
    const [library, packages] = [Math.min(...ours), Math.min(...four)];
    const ratio = library / packages;
    console.log(
      `canton-rx: ${library.toFixed(0)} ms, its packages: ${packages.toFixed(0)} ms, ${ratio.toFixed(2)} times`,
    );
    // 1.2 to 1.4 when measured alone
    expect(ratio).toBeLessThan(2);
  });

  it('loads only the packages that it runs on: fp-ts is imported for its types', () => {
    expect(library.imports).toEqual(['io-ts', 'ky', 'rxjs']);
  });

  it('does no work: evaluating its modules takes a small part of the time before', async () => {
    // imports come first, so that only the library's modules are timed
    await user.write(
      'whole.mjs',
      `const work = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e3; };
       const before = work(); ${library.text}; console.log(before, work() - before);`,
    );
    const shares: number[] = [];
    for (let turn = 0; turn < 7; turn++) {
      const [before = 0, ours = 0] = (await user.run('node', 'whole.mjs')).stdout.split(' ').map(Number);
      shares.push(ours / before);
    }
    console.log(`evaluated in ${(Math.min(...shares) * 100).toFixed(1)} % of the work until then`);
    expect(Math.min(...shares)).toBeLessThan(0.15);
  });
});
