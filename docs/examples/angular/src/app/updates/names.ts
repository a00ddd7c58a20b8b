/** The part of a party or synchronizer id before `::`. */
export const shortId = (id: string): string => id.slice(0, Math.max(0, id.indexOf('::'))) || id;

/** The name of a party, with the start of its fingerprint to distinguish parties of one name. */
export const longId = (party: string): string =>
  `${shortId(party)} · ${head(party.slice(party.indexOf('::') + 6), 10)}`;

/** `Module:Entity` of a template id, without the package. */
export const shortTemplate = (id: string): string => id.slice(id.indexOf(':') + 1);

/** `package-name:Module:Entity`: the name of a template, which is the same for all versions of its package. */
export const templateName = (templateId: string, packageName: string): string =>
  packageName === '' ? shortTemplate(templateId) : `${packageName}:${shortTemplate(templateId)}`;

/** The start of a long id. */
export const head = (id: string, length = 12): string => (id.length > length + 1 ? `${id.slice(0, length)}…` : id);

export { timeOfDay } from '../shell/times';
