// The configuration of package.json, with ky 2 in place of the installed one. `npm run ky2` installs it apart: it wants Node.js 22,
// so that as a development dependency it would warn at each `npm ci` on Node.js 20.
import { readFileSync } from 'node:fs';

const { jest } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const ky2 = '<rootDir>/node_modules/.cache/ky2/node_modules/ky/distribution/index.js';

export default { ...jest, rootDir: '..', moduleNameMapper: { ...jest.moduleNameMapper, '^ky$': ky2 } };
