// The configuration of package.json, with the next major of ky in place of the installed one.
import { readFileSync } from 'node:fs';

const { jest } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

export default { ...jest, rootDir: '..', moduleNameMapper: { ...jest.moduleNameMapper, '^ky$': 'ky2' } };
