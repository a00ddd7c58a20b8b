/** The hashing schemes that requests may name, as far as the releases served here know them. */
export const hashingSchemes: readonly string[] = [
  'HASHING_SCHEME_VERSION_UNSPECIFIED',
  'HASHING_SCHEME_VERSION_V2',
  'HASHING_SCHEME_VERSION_V3',
];
