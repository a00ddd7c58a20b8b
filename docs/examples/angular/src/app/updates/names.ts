/** The part of a party or synchronizer id before `::`. */
export const shortId = (id: string): string => id.slice(0, Math.max(0, id.indexOf('::'))) || id;

/** The name of a party, with the start of its fingerprint to distinguish parties of one name. */
export const longId = (party: string): string =>
  `${shortId(party)} · ${head(party.slice(party.indexOf('::') + 6), 10)}`;

/** `Module:Entity` of a template id, without the package. */
export const shortTemplate = (id: string): string => id.slice(id.indexOf(':') + 1);

/** The start of a long id. */
export const head = (id: string, length = 12): string => (id.length > length + 1 ? `${id.slice(0, length)}…` : id);

/** `14:03:07.123` of a record time in UTC, which may have no fraction of a second. */
export const timeOfDay = (timestamp: string): string =>
  timestamp === '' ? '' : `${timestamp.slice(11, 19)}.${timestamp.slice(20, 23).replace('Z', '').padEnd(3, '0')}`;
