/** What stands before `::` of a party or synchronizer. */
export const shortId = (id: string): string => id.slice(0, Math.max(0, id.indexOf('::'))) || id;

/** A party, told from others of its name by how its fingerprint begins. */
export const longId = (party: string): string =>
  `${shortId(party)} · ${head(party.slice(party.indexOf('::') + 6), 10)}`;

/** `Module:Entity`, without the package. */
export const shortTemplate = (id: string): string => id.slice(id.indexOf(':') + 1);

/** The head of a long id. */
export const head = (id: string, length = 12): string => (id.length > length + 1 ? `${id.slice(0, length)}…` : id);

/** `14:03:07.123` of a record time, as the ledger tells it, in UTC; it may have no digits behind the second. */
export const timeOfDay = (timestamp: string): string =>
  timestamp === '' ? '' : `${timestamp.slice(11, 19)}.${timestamp.slice(20, 23).replace('Z', '').padEnd(3, '0')}`;
