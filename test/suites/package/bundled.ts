import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';

/** A minified bundle for the browser. */
export interface Bundle {
  readonly text: string;
  /** In bytes. */
  readonly gzip: number;
  /** The minified bytes of each file in it. */
  readonly bytes: Readonly<Record<string, number>>;
  /** The packages that it contains; tslib, which only rxjs uses, counts as rxjs. */
  readonly packages: readonly string[];
  /** The imports that `how` excludes from the bundle. */
  readonly imports: readonly string[];
  /** The files that esbuild read, whether or not the bundle contains any of them. */
  readonly inputs: readonly string[];
  /** The CommonJS files, which bundlers cannot tree-shake. */
  readonly commonJs: readonly string[];
}

/** Resolves as Angular's builder does, with the ES2015 build of rxjs. */
export const angular: BuildOptions = {
  mainFields: ['es2020', 'es2015', 'module', 'main'],
  conditions: ['es2020', 'es2015', 'module'],
};

const bundles = new Map<string, Promise<Bundle>>();

/** Bundles a program of a project with esbuild's defaults, which `how` overrides. The same bundle is made once. */
export function bundled(folder: string, contents: string, how: BuildOptions = {}): Promise<Bundle> {
  const key = JSON.stringify([folder, contents, how]);
  const bundle = bundles.get(key) ?? makeBundle(folder, contents, how);
  bundles.set(key, bundle);
  return bundle;
}

async function makeBundle(folder: string, contents: string, how: BuildOptions): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    platform: 'browser',
    ...how,
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild wrote nothing');
  const outputs = Object.values(metafile.outputs);
  const left = outputs
    .flatMap(({ inputs }) => Object.entries(inputs))
    .flatMap(([file, { bytesInOutput }]): [string, number][] => (bytesInOutput > 0 ? [[file, bytesInOutput]] : []));
  return {
    text: output.text,
    gzip: gzipSync(output.contents, { level: 9 }).length,
    bytes: Object.fromEntries(left),
    packages: [...new Set(left.flatMap(([file]) => packageOf(file)))].sort(),
    imports: [...new Set(outputs.flatMap(({ imports }) => imports.map(({ path }) => path)))].sort(),
    inputs: Object.keys(metafile.inputs),
    commonJs: Object.entries(metafile.inputs).flatMap(([file, { format }]) => (format === 'cjs' ? [file] : [])),
  };
}

const packageOf = (file: string): readonly string[] => {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
  return name === undefined ? [] : [name === 'tslib' ? 'rxjs' : name];
};
