import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defer, map, type Observable } from 'rxjs';
import type { SandboxTemplate } from '../sandbox/index.js';
import { hasCode, messageOf } from './World.js';

/**
 * Loads the templates of a module: its default export, or its export `templates`. Emits them once.
 *
 * @param file - the path of a module in JavaScript, or in TypeScript if this Node.js runs it
 */
export const loadTemplates = (file: string): Observable<readonly SandboxTemplate[]> =>
  defer(() => importModule(file)).pipe(map((module) => templatesIn(module, file)));

async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (!hasCode(error, 'ERR_UNKNOWN_FILE_EXTENSION'))
      throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
    const remedy = 'use 22.18 or later, or run the command with tsx: NODE_OPTIONS="--import tsx"';
    throw new Error(`${file}: this Node.js does not run TypeScript: ${remedy}`, { cause: error });
  }
}

function templatesIn(module: Readonly<Record<string, unknown>>, file: string): readonly SandboxTemplate[] {
  const exported: unknown = module['default'] ?? module['templates'];
  if (isListOfTemplates(exported)) return exported;
  throw new Error(`${file}: the default export, or the export templates, must be a list of what template() returns`);
}

const isListOfTemplates = (value: unknown): value is readonly SandboxTemplate[] =>
  Array.isArray(value) && value.every(isTemplate);

/** Whether a value is a template; made by another copy of this package, too. */
const isTemplate = (value: unknown): value is SandboxTemplate =>
  typeof value === 'object' && value !== null && '_tag' in value && value._tag === 'SandboxTemplate';
