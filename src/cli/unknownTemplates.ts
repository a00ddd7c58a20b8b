import { isApiError } from '../errors/ApiError.js';

const unknownNames = /^(?:PACKAGE_NAMES_NOT_FOUND|NO_TEMPLATES_FOR|TEMPLATES_OR_INTERFACES_NOT_FOUND)/;

/** The message and the next step for an error about `--template`; `undefined` for any other error. */
export function templateMessage(error: unknown, templates: readonly string[]): string | undefined {
  if (!isApiError(error) || templates.length === 0) return undefined;
  const { code = '', reason } = error;
  if (unknownNames.test(code)) {
    const named = templates.filter((template) => isNamed(template, reason));
    const unknown = named.length > 0 ? named : templates;
    const names = `${unknown.length === 1 ? 'template' : 'templates'} ${unknown.join(', ')}`;
    return `the participant does not know the ${names}: check the spelling of --template, and that the package is uploaded`;
  }
  const packageId = /identifier with package ID (\w+)/.exec(reason)?.[1];
  return code === 'INVALID_FIELD' && packageId !== undefined
    ? `the participant does not accept the package id ${packageId} in --template: write #package-name:Module:Entity`
    : undefined;
}

/** Whether the reason that a participant gives names a template, as `[package]` or as `[(package,Module:Entity)]`. */
function isNamed(template: string, reason: string): boolean {
  const [, name = '', entity = ''] = /^#([^:]*):(.*)$/.exec(template) ?? [];
  const list = /\[([^\]]*)\]/.exec(reason)?.[1] ?? '';
  return list.includes(`(${name},${entity})`) || list.split(/,\s*/).includes(name);
}
