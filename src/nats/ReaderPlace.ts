import { End } from './End.js';
import type { Places } from './Places.js';

/** Up to where those who share a durable have read, and the revision of the record that says so. */
export interface ReaderPlace extends End {
  readonly revision: number;
}

const nameOf = (durable: string): string => `reader.${durable}`;

/** What was noted last; nothing of a durable that is new. */
export async function readPlace(places: Places, durable: string): Promise<ReaderPlace | undefined> {
  const noted = await places.get(nameOf(durable));
  const end = End.decode(noted?.record);
  return noted && end._tag === 'Right' ? { ...end.right, revision: noted.revision } : undefined;
}

/** Notes a place, unless one as far or further is noted meanwhile: the place of one who fell silent must not go back. */
export async function notePlace(places: Places, durable: string, end: End, revision: number): Promise<ReaderPlace> {
  const { sequence, offset } = end;
  for (let expected = revision; ;) {
    const written = await places.put(nameOf(durable), { sequence, offset }, expected);
    if (written !== undefined) return { sequence, offset, revision: written };
    const found = await readPlace(places, durable);
    if (found !== undefined && found.sequence >= sequence) return found;
    expected = found?.revision ?? 0;
  }
}
