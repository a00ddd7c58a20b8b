import { requestError } from '../errors.js';

/** A package in an archive. */
interface ArchivedPackage {
  readonly packageId: string;
  readonly packageName: string;
}

/**
 * Reads which packages a Daml archive (DAR) contains: a ZIP file with a manifest, whose entries have the names and the
 * ids of the packages. The sandbox has no Daml engine, so it does not read the packages themselves.
 */
export function readDar(bytes: Buffer): readonly ArchivedPackage[] {
  const names = entryNames(bytes);
  const packages = names.flatMap((name): readonly ArchivedPackage[] => {
    const file = name.slice(name.lastIndexOf('/') + 1);
    const packageId = /-([0-9a-f]{64})\.dalf$/.exec(file)?.[1] ?? '';
    const packageName = file.slice(0, -`-${packageId}.dalf`.length).replace(/-\d+(?:\.\d+)*$/, '');
    return packageId === '' || packageName === '' ? [] : [{ packageId, packageName }];
  });
  if (!names.includes('META-INF/MANIFEST.MF') || packages.length === 0)
    throw requestError('INVALID_DAR', 'Dar file is corrupt');
  return packages;
}

const directoryEnd = 0x06054b50;
const directoryEntry = 0x02014b50;

/** The names of the entries of a ZIP file, from its directory; none if it is not a ZIP file. */
function entryNames(bytes: Buffer): readonly string[] {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(directoryEnd);
  const end = bytes.lastIndexOf(signature);
  const names: string[] = [];
  if (end < 0 || end + 22 > bytes.length) return names;
  let at = bytes.readUInt32LE(end + 16);
  while (at + 46 <= end && bytes.readUInt32LE(at) === directoryEntry) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
    const nameEnd = at + 46 + (nameLength ?? 0);
    names.push(bytes.toString('utf8', at + 46, nameEnd));
    at = nameEnd + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return names;
}
