import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';

/** A bundle for the browser, as it is shipped. */
export interface Bundle {
  readonly text: string;
  /** In bytes. */
  readonly gzip: number;
  /** The packages that have a part in it; the helpers of rxjs, which are a package of their own, are rxjs. */
  readonly packages: readonly string[];
  /** What it imports itself, where `how` leaves something out of it. */
  readonly imports: readonly string[];
  /** The files that esbuild read, whether anything of them is left or not. */
  readonly inputs: readonly string[];
  /** Those of them that are CommonJS, which bundlers cannot shake. */
  readonly commonJs: readonly string[];
}

/** As Angular's builder resolves: rxjs in its ES2015 form. */
export const angular: BuildOptions = {
  mainFields: ['es2020', 'es2015', 'module', 'main'],
  conditions: ['es2020', 'es2015', 'module'],
};

/** Bundles a program of a project with esbuild, by its own defaults unless `how` says otherwise. */
export async function bundled(folder: string, contents: string, how: BuildOptions = {}): Promise<Bundle> {
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
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return {
    text: output.text,
    gzip: gzipSync(output.contents, { level: 9 }).length,
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
