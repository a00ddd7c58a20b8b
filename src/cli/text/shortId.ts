import { plain } from './plain.js';

/** The name that people know a party, a participant or a synchronizer by: what stands before `::`. */
export const shortId = (id: string): string => plain(id.split('::')[0] ?? '');
