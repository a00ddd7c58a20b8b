/** What node writes with `--cpu-prof`, as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Milliseconds by what ran, the longest first. */
export function selfTimes(
  { nodes, samples, timeDeltas }: CpuProfile,
  nameOf: (functionName: string, url: string) => string,
): readonly (readonly [string, number])[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame.functionName, callFrame.url)]));
  const times = new Map<string, number>();
  samples.forEach((id, i) => {
    const name = names.get(id) ?? '';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0) / 1_000);
  });
  return [...times].sort(([, a], [, b]) => b - a);
}

const internals: readonly (readonly [RegExp, string])[] = [
  [/\/bench\/src\/([\w-]+)\//, 'canton-rx'],
  [/\/bench\/test\/bench\//, 'the benchmark'],
  [/\/node_modules\/(@[^/]+\/[^/]+|[^/]+)\//, ''],
  [/^node:internal\/deps\/undici/, 'node: fetch (undici)'],
  [/^node:internal\/webstreams|^node:internal\/encoding/, 'node: streams and text'],
  [/^node:/, 'node: others'],
];

/** The part that a function belongs to. */
export function groupOf(functionName: string, url: string): string {
  // the engine counts its own functions as their caller's
  if (functionName === 'jsonOf') return 'JSON.parse';
  for (const [pattern, name] of internals) {
    const found = pattern.exec(url);
    if (found === null) continue;
    const [, part = ''] = found;
    return [name, part].filter(Boolean).join(' ');
  }
  return `engine: ${functionName}`;
}
