// node docs/examples/install.mjs NAME [FOLDER]
// Copies an example into a folder of its own, installs it there next to the library as it is published, and builds it.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const examples = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const [name, target] = process.argv.slice(2);
if (!examples.includes(name)) {
  console.error(`which example? ${examples.join(' or ')}`);
  process.exit(2);
}
const folder = resolve(target ?? mkdtempSync(join(tmpdir(), `canton-rx-${name}-`)));
if (existsSync(folder) && readdirSync(folder).length > 0) {
  console.error(`${folder} is not empty`);
  process.exit(2);
}

const run = (command, args, cwd, stdout = 'ignore') => {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', stdout, 'inherit'] });
  if (status !== 0) {
    console.error(`${command} ${args.join(' ')} failed in ${cwd}`);
    process.exit(1);
  }
};
const generated = new Set(['node_modules', 'dist', '.angular', '.next']);
cpSync(join(import.meta.dirname, name), folder, {
  recursive: true,
  filter: (source) => !generated.has(basename(source)),
});
const root = join(import.meta.dirname, '..', '..');
const tarball = join(folder, 'canton-rx.tgz');
const packed = process.env.CANTON_RX_TARBALL;
if (packed !== undefined) copyFileSync(packed, tarball);
else {
  // npm pack builds the library first
  run('npm', ['pack', '--silent', '--pack-destination', folder], root);
  renameSync(
    join(
      folder,
      readdirSync(folder).find((file) => file.endsWith('.tgz')),
    ),
    tarball,
  );
}
run('npm', ['install', '--no-audit', '--no-fund', './canton-rx.tgz'], folder);
run('npm', ['run', 'build'], folder, 'inherit');
console.log(`\nInstalled and built. Now: cd ${folder} && npm start`);
